"""Messages of the record turned back into sections of the chat."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from app.core import remarks
from app.core.effects import Effects
from app.core.events import OWN_TOOL
from app.core.history import Entry, Remark
from app.core.messages import Image, Text, Thinking, ToolResult, ToolUse
from app.core.reports import CompactionReport, Outcome
from app.core.visible_text import visible_text
from app.ui.approval import answer_words
from app.ui.chat.entries import (
    DividerSection,
    NoteSection,
    Section,
    TextSection,
    ThinkingSection,
    UserSection,
)
from app.ui.chat.markdown_stream import split_markdown
from app.ui.chat.tool_card import CardSection

CUT = "This answer was cut off here; the model does not see it."


class HistoryReader:
    """Reads pages of the record, newest page first; calls and results that a page cut apart find each other.

    Args:
        groups: Numbers for texts that belong together.
        reports: What the layers did; each compaction gets its divider where it happened.
    """

    def __init__(self, groups: count[int], reports: Iterable[CompactionReport] = ()) -> None:
        self._groups = groups
        self._compactions = sorted((r for r in reports if r.commit), key=lambda r: r.time)
        """Those that no page has shown yet, oldest first."""
        self._taken_back = {r.commit for r in self._compactions if r.outcome is Outcome.UNDONE}
        self._waiting: dict[str, tuple[ToolResult, Effects, str]] = {}
        """Results whose call is in an older page."""
        self._diffs: dict[str, str] = {}
        """What the calls of the page changed."""

    def sections(self, entries: Sequence[Entry], asides: Sequence[Remark] = ()) -> list[Section]:
        """Return the sections of one page, oldest first.

        Args:
            entries: The messages.
            asides: What the record keeps beside them, see `Session.asides`.
        """
        self._diffs = {
            _text(aside, "tool_use_id"): _text(aside, "diff")
            for aside in asides
            if aside.kind == remarks.DIFF
        }
        said = [aside for aside in asides if aside.kind != remarks.DIFF]
        results = self._waiting
        for entry in entries:
            for at, result in enumerate(entry.message.tool_results):
                number = f"r{entry.first_result + at}" if entry.first_result else ""
                effects = entry.effects.get(result.tool_use_id, Effects())
                results[result.tool_use_id] = (result, effects, number)
        found: list[Section] = []
        compactions = self._of_page(entries)
        for entry in entries:
            while compactions and compactions[0].time < entry.time:
                found.append(self._divider(compactions.pop(0)))
            while said and said[0].seq < entry.seq:
                found += self._aside(said.pop(0))
            found += self._user(entry) if entry.message.role == "user" else self._assistant(entry)
        for aside in said:
            found += self._aside(aside)
        return found + [self._divider(report) for report in compactions]

    def _divider(self, report: CompactionReport) -> DividerSection:
        applied = report.outcome is Outcome.APPLIED
        return DividerSection(report, taken_back=applied and report.commit in self._taken_back)

    def take_back(self, commit: int) -> None:
        """Note that a compaction was undone."""
        self._taken_back.add(commit)

    def forget(self, left: Iterable[Section]) -> None:
        """Note that sections left the chat from its top on: the compactions among them are to be shown again."""
        self._waiting.clear()
        dividers = [section.report for section in left if isinstance(section, DividerSection)]
        self._compactions += [report for report in dividers if report.commit]

    def _of_page(self, entries: Sequence[Entry]) -> list[CompactionReport]:
        """Take out the compactions since the first message of a page."""
        known = self._compactions
        begins = entries[0].time if entries else ""
        first = next((at for at, r in enumerate(known) if r.time >= begins), len(known))
        self._compactions, of_page = known[:first], known[first:]
        return of_page

    def _user(self, entry: Entry) -> list[Section]:
        images = sum(1 for block in entry.message.content if isinstance(block, Image))
        text = entry.words + "\n[image]" * images
        text = visible_text(text.strip("\n"), progress=False)
        return [UserSection(text, entry.id)] if text else []

    def _assistant(self, entry: Entry) -> list[Section]:
        found: list[Section] = []
        for block in entry.message.content:
            match block:
                case Text(text) if text.strip():
                    found += self._prose(text)
                case Thinking() if block.text.strip():
                    found.append(ThinkingSection(visible_text(block.text, progress=False)))
                case ToolUse(id_, name, arguments):
                    found.append(self._card(id_, name, arguments))
                case _:
                    pass
        if found:
            found[0].begins = entry.number
        return found

    def _prose(self, text: str) -> list[Section]:
        group, links = next(self._groups), dict[str, object]()
        source = visible_text(text, progress=False)
        return [TextSection(piece, links, group) for piece in split_markdown(source)]

    def _aside(self, aside: Remark) -> list[Section]:
        match aside.kind:
            case remarks.PARTIAL:
                return [*self._prose(_text(aside, "text")), NoteSection(CUT, "warning")]
            case remarks.ERROR:
                message = visible_text(_text(aside, "message"))
                return [NoteSection(message, "error", visible_text(_text(aside, "hint")))]
            case remarks.APPROVAL:
                answer, edited = _text(aside, "answer"), _text(aside, "edited")
                words = answer_words(
                    answer,
                    _text(aside, "title"),
                    rule=_text(aside, "rule"),
                    edited=bool(edited),
                )
                tone = "refused" if answer == "no" else "allowed"
                detail = visible_text(_text(aside, "words") or edited)
                return [NoteSection(visible_text(words), tone, detail)]
            case remarks.OWN_COMMAND:
                return [_own_card(aside)]
            case _:
                return []

    def _card(self, call: str, tool: str, arguments: Mapping[str, object]) -> CardSection:
        waiting, diff = self._waiting.pop(call, None), self._diffs.get(call, "")
        if waiting is None:
            card = CardSection(call, tool, target_of(arguments))
            card.finish(ok=False, text="", outcome="no result", seconds=0, diff=diff, result="")
            return card
        result, effects, number = waiting
        card = CardSection(call, tool, effects.target or target_of(arguments))
        card.finish(
            ok=not result.is_error,
            text=result.text,
            outcome=effects.outcome,
            seconds=0,
            diff=diff,
            result=number,
        )
        return card


def target_of(arguments: Mapping[str, object]) -> str:
    """Return what a call is about, when the record does not say: its likeliest argument, on one line."""
    for name in ("command", "path", "pattern", "query", "focus", "id"):
        value = arguments.get(name)
        if isinstance(value, str) and value:
            return value
    return json.dumps(dict(arguments), ensure_ascii=False, default=str) if arguments else ""


def _own_card(aside: Remark) -> CardSection:
    """Return the card of a command that the user ran."""
    told = "" if aside.data.get("share") is True else " · not told to the model"
    card = CardSection(f"{OWN_TOOL}{aside.seq}", OWN_TOOL, _text(aside, "command"))
    card.finish(
        ok=aside.data.get("ok") is not False,
        text=_text(aside, "text"),
        outcome=_text(aside, "outcome") + told,
        seconds=0,
        diff="",
        result="",
        wanted=True,
    )
    return card


def _text(aside: Remark, name: str) -> str:
    """Return a text of a remark; "" when it holds none of that name."""
    value = aside.data.get(name)
    return value if isinstance(value, str) else ""
