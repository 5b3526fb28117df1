"""The ledger: what code knows of the whole session, carried from compaction to compaction without loss.

It is made from the facts of the compaction in force and the messages since; the model has no part in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.compaction.stubs import target_of
from app.core.conversation import Conversation
from app.core.effects import Span, spans_to_json
from app.core.events import TodoItem
from app.core.history import Entry
from app.core.messages import JsonObject, ToolResult
from app.core.surrogates import repair
from app.core.tokens import estimate_text
from app.core.view_parts import ResultRef
from app.core.visible_text import one_line

COMMANDS_KEPT = 200
ERRORS_KEPT = 30
WORDS_KEPT_TOKENS = 40_000.0
"""Raw tokens of the user's words that the ledger carries; the latest ones count but are never dropped."""
WORDS_OLDEST_SHARE = 0.1
COMMAND_CHARS = 200
LOOKING = frozenset(("grep", "egrep", "rg", "diff", "cmp", "test", "[", "which", "pgrep"))
"""Commands whose exit code 1 is an answer and no failure."""
_LINK = re.compile(r"[|;&]+")
PROBLEM_CHARS = 200
PLACES_KEPT = 8
"""Places that are known of each file."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command and how it ended the last time."""

    text: str
    exit_code: int | None
    times: int = 1


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that failed and has not succeeded since."""

    tool: str
    target: str
    problem: str


@dataclass(frozen=True, slots=True)
class Words:
    """What the user wrote in one message."""

    number: int
    """The N of the message's id ``m<N>``."""
    text: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """What code knows of everything up to message ``through``."""

    modified: tuple[str, ...] = ()
    """Each file ever created, changed or deleted; changed last comes last."""
    read: tuple[Span, ...] = ()
    """Each file ever read with the lines read last; read last comes last."""
    places: tuple[Span, ...] = ()
    """Where files were edited or read in part, as the lines stand now; used last comes last."""
    commands: tuple[Command, ...] = ()
    errors: tuple[Failure, ...] = ()
    words: tuple[Words, ...] = ()
    words_dropped: int = 0
    """Messages of the user, neither among the oldest nor the newest, whose words are only in the record."""
    todo: tuple[TodoItem, ...] = ()
    summary: str = ""
    """The model's last accepted summary."""
    through: int = 0

    @property
    def latest(self) -> Words | None:
        """The user's latest words."""
        return self.words[-1] if self.words else None

    def to_json(self) -> JsonObject:
        """Return the ledger as the JSON object that a commit carries; the todo list is not part of it."""
        return {
            "through": self.through,
            "modified": list(self.modified),
            "read": spans_to_json(self.read),
            "places": spans_to_json(self.places),
            "commands": [[c.text, c.exit_code, c.times] for c in self.commands],
            "errors": [[e.tool, e.target, e.problem] for e in self.errors],
            "words": [[w.number, w.text] for w in self.words],
            "words_dropped": self.words_dropped,
            "summary": self.summary,
        }


def from_json(raw: JsonObject) -> Ledger:
    """Return the ledger that `Ledger.to_json` wrote; what is damaged in it is left out."""
    commands = _rows(raw, "commands", str, (int, type(None)), int)
    through, dropped = raw.get("through"), raw.get("words_dropped")
    summary, modified = raw.get("summary"), raw.get("modified")
    return Ledger(
        modified=tuple(str(path) for path in modified) if isinstance(modified, list) else (),
        read=_spans(raw, "read"),
        places=_spans(raw, "places"),
        commands=tuple(Command(*row) for row in commands),
        errors=tuple(Failure(*row) for row in _rows(raw, "errors", str, str, str)),
        words=tuple(Words(*row) for row in _rows(raw, "words", int, str)),
        words_dropped=dropped if isinstance(dropped, int) else 0,
        summary=summary if isinstance(summary, str) else "",
        through=through if isinstance(through, int) else 0,
    )


def ledger(conversation: Conversation, todo: Iterable[TodoItem] = ()) -> Ledger:
    """Return what code knows of all messages up to the conversation's last."""
    known = from_json(conversation.facts)
    modified = dict.fromkeys(known.modified)
    read = {span.path: span for span in known.read}
    places = list(known.places)
    commands = {command.text: command for command in known.commands}
    errors = {(error.tool, error.target): error for error in known.errors}
    new = {entry.id: entry for entry in conversation.entries if entry.number > known.through}
    for ref in conversation.results:
        entry = new.get(ref.entry)
        if entry is None:
            continue
        for path in ref.effects.modified:
            modified.pop(path, None)
            modified[path] = None
        for place in ref.effects.edited:
            places = _edited(places, place)
        if not ref.is_error:
            for span in ref.effects.read:
                read.pop(span.path, None)
                read[span.path] = span
                if not span.is_whole:
                    places = _with(places, span)
        _note_command(commands, ref)
        _note_outcome(errors, ref, entry)
    words = [Words(e.number, repair(e.words)) for e in new.values() if e.spoken]
    kept, dropped = _bounded((*known.words, *(w for w in words if w.text.strip())))
    return Ledger(
        modified=tuple(modified),
        read=tuple(read.values()),
        places=tuple(places),
        commands=tuple(commands.values())[-COMMANDS_KEPT:],
        errors=tuple(errors.values())[-ERRORS_KEPT:],
        words=kept,
        words_dropped=known.words_dropped + dropped,
        todo=tuple(todo),
        summary=known.summary,
        through=max((known.through, *(entry.number for entry in new.values()))),
    )


def _edited(places: list[Span], place: Span) -> list[Span]:
    """Add an edited place; places below it move with the lines that it added or took away."""
    totals = (span.total for span in reversed(places) if span.path == place.path and span.total)
    shift = place.total - next(totals, place.total) if place.total is not None else 0
    moved = [
        replace(span, first=span.first + shift, last=span.last + shift)
        if span.path == place.path and span.first > place.first
        else span
        for span in places
    ]
    return _with(moved, place)


def _with(places: list[Span], place: Span) -> list[Span]:
    """Add a place; of each file only the last ones are kept."""
    ours = [span for span in places if span.path == place.path]
    dropped = ours[0] if len(ours) >= PLACES_KEPT else None
    return [*(span for span in places if span is not dropped), place]


def _note_command(commands: dict[str, Command], ref: ResultRef) -> None:
    if ref.effects.exit_code is None and ref.tool != "bash":
        return
    text = target_of(ref, COMMAND_CHARS)
    if not text:
        return
    before = commands.pop(text, None)
    commands[text] = Command(text, ref.effects.exit_code, before.times + 1 if before else 1)


def _note_outcome(errors: dict[tuple[str, str], Failure], ref: ResultRef, entry: Entry) -> None:
    key = (one_line(ref.tool, 64), target_of(ref, COMMAND_CHARS))
    errors.pop(key, None)
    failed = ref.is_error or ref.effects.exit_code
    if not failed or (ref.effects.exit_code == 1 and _only_looked(key[1])):
        return
    block = entry.message.content[ref.block]
    text = block.text.strip() if isinstance(block, ToolResult) else ""
    line = text[:PROBLEM_CHARS] if ref.is_error else text[text.rfind("\n") + 1 :]
    problem = one_line(line, PROBLEM_CHARS)
    if not ref.is_error:
        problem = f"exit {ref.effects.exit_code}" + (f": {problem}" if problem else "")
    errors[key] = Failure(*key, problem)


def _only_looked(command: str) -> bool:
    """Whether exit code 1 of a command only says that it found nothing, or a difference."""
    last = _LINK.split(command)[-1].split()
    return bool(last) and last[0] in LOOKING


def _bounded(words: tuple[Words, ...]) -> tuple[tuple[Words, ...], int]:
    """Keep the newest words and a share of the oldest; return how many messages were dropped in between."""
    sizes = [estimate_text(word.text) for word in words]
    if sum(sizes) <= WORDS_KEPT_TOKENS:
        return words, 0
    room = WORDS_KEPT_TOKENS * WORDS_OLDEST_SHARE
    first = 0
    while first < len(words) - 1 and sizes[first] <= room:
        room -= sizes[first]
        first += 1
    room = WORDS_KEPT_TOKENS * (1 - WORDS_OLDEST_SHARE) - sizes[-1]
    last = len(words) - 1
    while last > first and sizes[last - 1] <= room:
        room -= sizes[last - 1]
        last -= 1
    return (*words[:first], *words[last:]), last - first


def _spans(raw: Mapping[str, Any], key: str) -> tuple[Span, ...]:
    return tuple(Span(*row) for row in _rows(raw, key, str, int, int, (int, type(None))))


def _rows(raw: Mapping[str, Any], key: str, *kinds: Any) -> list[tuple[Any, ...]]:
    rows = raw.get(key)
    if not isinstance(rows, list):
        return []
    return [
        tuple(row)
        for row in rows
        if isinstance(row, list)
        and len(row) == len(kinds)
        and all(isinstance(value, kind) for value, kind in zip(row, kinds, strict=True))
    ]
