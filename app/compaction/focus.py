"""Which exchanges match a focus: their paths, symbols and words, the rarer the more they count."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.compaction.tail import Unit, lines_by_call, shown, size, units
from app.core.conversation import Conversation
from app.core.messages import Message, Text, ToolResult, ToolUse

_TERM = re.compile(r"[\w./\\-]*\w", re.UNICODE)
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_PART = re.compile(r"[^\W_]+", re.UNICODE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_COMMON = (
    "a about all also an and any are as at be but by can code do does done everything feature file files first "
    "focus for from have how i in into is it its just keep last let me more new next no not now of on one only "
    "or our out over please previous second should so some start step still task than that the their them then "
    "there these they thing things this to up us use was we what when where which while will with work you your "
    "我们 现在 开始 刚才 完成 一个 第一 第二 功能 继续 保留"
)
COMMON_WORDS = frozenset(_COMMON.split())
PATH_WEIGHT, SYMBOL_WEIGHT, WORD_WEIGHT = 4.0, 3.0, 1.0


@dataclass(frozen=True, slots=True)
class Term:
    """Something of the focus that can be looked for."""

    text: str
    """Lower case."""
    weight: float
    is_word: bool
    """Whether only whole words match; paths, symbols and Chinese match anywhere."""


def terms(focus: str) -> tuple[Term, ...]:
    """Return what can be looked for in a focus; common words are left out."""
    found: dict[str, Term] = {}
    for match in _TERM.finditer(focus):
        text = match.group().strip(".-/\\")
        for run in _CJK.findall(text):
            for at in range(len(run) - 1):
                _add(found, run[at : at + 2], WORD_WEIGHT, is_word=False)
        text = _CJK.sub("", text)
        if "/" in text or "\\" in text or re.search(r"\.\w{1,8}$", text):
            _add(found, text.replace("\\", "/"), PATH_WEIGHT, is_word=False)
        elif "_" in text or re.search(r"[a-z][A-Z]|\w\.\w", text):
            _add(found, text, SYMBOL_WEIGHT, is_word=False)
        elif len(text) > 2:
            _add(found, text, WORD_WEIGHT, is_word=True)
    return tuple(found.values())


def matching(
    conversation: Conversation, focus: str, room: float, *, before: int
) -> tuple[Unit, ...]:
    """Return the exchanges in front of position ``before`` that match best and fit, oldest first.

    Args:
        conversation: The conversation that is compacted.
        focus: What to keep, in the words of a user or a model.
        room: Raw tokens they may take.
        before: Only exchanges that end before this position of the entries.
    """
    wanted = terms(focus)
    if not wanted or room <= 0:
        return ()
    lines = lines_by_call(conversation)
    candidates = [
        unit
        for unit in units(conversation.entries[:before])
        if conversation.entries[unit.first].message.role == "assistant"
    ]
    hits = [_hits(_text(conversation, unit, lines), wanted) for unit in candidates]
    scores = _scores(hits, wanted)
    best = sorted(
        (at for at, score in enumerate(scores) if score > 0),
        key=lambda at: (-scores[at], -candidates[at].first),
    )
    chosen: list[Unit] = []
    for at in best:
        takes = size(conversation, candidates[at], lines)
        if takes <= room:
            room -= takes
            chosen.append(candidates[at])
    return tuple(sorted(chosen, key=lambda unit: unit.first))


def _add(found: dict[str, Term], text: str, weight: float, *, is_word: bool) -> None:
    text = text.lower()
    if text and text not in COMMON_WORDS:
        found.setdefault(text, Term(text, weight, is_word))


def _hits(text: str, wanted: Sequence[Term]) -> frozenset[str]:
    lower = text.lower()
    words = set(_PART.findall(_CAMEL.sub(" ", text).lower()))
    return frozenset(
        term.text
        for term in wanted
        if (_is_in(term.text, words) if term.is_word else term.text in lower)
    )


def _is_in(word: str, words: Collection[str]) -> bool:
    """Whole words match, also in the plural or singular."""
    return word in words or word + "s" in words or (word.endswith("s") and word[:-1] in words)


def _scores(hits: Sequence[frozenset[str]], wanted: Sequence[Term]) -> list[float]:
    weights = {}
    for term in wanted:
        count = sum(1 for found in hits if term.text in found)
        weights[term.text] = term.weight * math.log(1 + len(hits) / count) if count else 0.0
    return [sum(weights[text] for text in sorted(found)) for found in hits]


def _text(conversation: Conversation, unit: Unit, lines: dict[str, str]) -> str:
    parts: list[str] = []
    for entry in conversation.entries[unit.first : unit.end]:
        parts.extend(_texts(shown(entry, lines)))
        for effects in entry.effects.values():
            parts.extend((effects.target, *effects.modified, *(span.path for span in effects.read)))
    return "\n".join(parts)


def _texts(message: Message) -> list[str]:
    texts = []
    for block in message.content:
        match block:
            case Text(text):
                texts.append(text)
            case ToolUse(_, _, arguments):
                texts.append(json.dumps(dict(arguments), ensure_ascii=False, default=str))
            case ToolResult():
                texts.append(block.text)
            case _:
                pass
    return texts
