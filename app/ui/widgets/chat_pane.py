"""The chat: what is said and done, newest at the bottom, in one virtual scroll view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import TYPE_CHECKING

from textual.message import Message
from textual.timer import Timer

from app.core.record_ids import read_id
from app.core.visible_text import one_line, visible_text
from app.ui.chat.answer import LiveAnswer
from app.ui.chat.entries import (
    DividerSection,
    Fold,
    NoteSection,
    Section,
    TextSection,
    UserSection,
)
from app.ui.chat.markdown_rendering import shared_parser
from app.ui.chat.navigation import NavigableTranscriptView
from app.ui.chat.room import leaving
from app.ui.chat.tool_card import CardSection, CardState
from app.ui.widgets.words_to_prompt import WordsToPrompt

if TYPE_CHECKING:
    from app.core.history import Entry, Remark
    from app.core.reports import CompactionReport
    from app.ui.chat.history import HistoryReader


class ChatPane(NavigableTranscriptView, WordsToPrompt):
    """The conversation as a person reads it. Values come in by methods, wishes go out as messages."""

    class OlderWanted(Message):
        """The first section came into view and the record holds older messages."""

        def __init__(self, before: int) -> None:
            super().__init__()
            self.before = before
            """Number of the oldest message that is shown."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._groups = count(1)
        self._answer: LiveAnswer | None = None
        self._cards: dict[str, CardSection] = {}
        """By call id, those that may still change."""
        self._results: dict[str, CardSection] = {}
        """By result id."""
        self._folds: dict[str, Fold] = {}
        """By call id, how the user folded cards that left the chat."""
        self._clock: Timer | None = None
        self._history: HistoryReader | None = None
        self._older: int | None = None
        self._asked = False

    def takes_letters(self) -> bool:
        """Whether the keys move the caret that marks text."""
        return self.is_marking

    # What the user and the agent say

    def add_user(self, text: str, message: str = "", *, queued: bool = False) -> None:
        """Add what the user said, and go to the end.

        Args:
            text: The words.
            message: Id of the message in the record.
            queued: Whether it was typed while the agent worked.
        """
        if not self._stands_unanswered(message):
            self._add(UserSection(visible_text(text, progress=False), message, queued=queued))
        self.follow()

    def _stands_unanswered(self, message: str) -> bool:
        """Whether a message is sent again that is in the chat and was not answered."""
        newest = (s for s in reversed(self.transcript.sections) if not isinstance(s, NoteSection))
        said = next(newest, None)
        return isinstance(said, UserSection) and bool(message) and said.message == message

    def begin_answer(self) -> None:
        """Note that a request leaves: what comes now can be voided together."""
        if self._answer is not None:
            self.finish_answer()
        self._answer = LiveAnswer(self.transcript, self._groups)
        self._next_draw = 0.0  # its first words wait for nothing

    def append_text(self, text: str) -> None:
        """Add a piece of the answer's text."""
        self._live.add_text(text)
        self.draw_soon()

    def append_thinking(self, text: str, *, shown: bool = False) -> None:
        """Add a piece of the answer's thinking; folded unless it is to be ``shown``."""
        self._live.add_thinking(text, shown=shown)
        self.draw_soon()

    def finish_answer(self, message: str = "") -> None:
        """Note that no more of this answer comes; ``message`` is its id when it is in the record."""
        if self._answer is None:
            return
        id_ = read_id(message)
        self._answer.finish(id_[1] if id_ else 0)
        self._answer = None
        self._make_room()
        self.draw_soon()

    def void_answer(self) -> None:
        """Take back what was streamed since the request began, before another attempt."""
        if self._answer is None:
            return
        gone = self._answer.void()
        for section in gone:
            if isinstance(section, CardSection):
                self._cards.pop(section.call, None)
        self._answer = LiveAnswer(self.transcript, self._groups)
        self.draw_soon()

    @property
    def _live(self) -> LiveAnswer:
        if self._answer is None:
            self.begin_answer()
        assert self._answer is not None
        return self._answer

    # Tools

    def tool_arriving(self, call_id: str, tool: str, chars: int) -> None:
        """Show that the model writes a call of which ``chars`` characters have come."""
        card = self._cards.get(call_id)
        if card is None:
            answer = self._live
            answer.settle()
            card = self._new_card(call_id, tool, "")
            answer.sections.append(card)
        card.arriving(chars)
        self._card_changed(card)

    def tool_started(self, call_id: str, tool: str, target: str) -> None:
        """Show that a call runs."""
        card = self._cards.get(call_id) or self._new_card(call_id, tool, target)
        card.start(tool, target)
        if self._clock is None and self.is_mounted:
            self._clock = self.set_interval(1.0, self._tick)
        self._card_changed(card)

    def tool_output(self, call_id: str, text: str) -> None:
        """Show more of what a running call writes."""
        if card := self._cards.get(call_id):
            card.output(text)
            self._card_changed(card)

    def tool_finished(
        self,
        call_id: str,
        *,
        ok: bool,
        text: str,
        outcome: str,
        seconds: float,
        diff: str = "",
        result_id: str = "",
        tool: str = "",
        target: str = "",
        wanted: bool = False,
    ) -> None:
        """Show how a call ended; also for calls that never started.

        Args:
            call_id: The call.
            ok: Whether it did what was asked.
            text: The result as the model sees it.
            outcome: The same in one line.
            seconds: How long the tool itself took.
            diff: Unified diff of an edit.
            result_id: ``r<N>``.
            tool: Name, for a call that never started.
            target: What it was about, likewise.
            wanted: Whether the user made it and wants to see what it wrote.
        """
        card = self._cards.pop(call_id, None)
        if card is None:
            card = self._new_card(call_id, tool or "tool", target)
            self._cards.pop(call_id, None)
        if target and not card.target:
            card.target = one_line(target)
        card.finish(
            ok=ok,
            text=text,
            outcome=outcome,
            seconds=seconds,
            diff=diff,
            result=result_id,
            wanted=wanted,
        )
        if result_id:
            self._results[result_id] = card
        self._card_changed(card)

    def mark_cleared(self, results: Iterable[str], *, cleared: bool = True) -> None:
        """Show that the model no longer sees these results in full, or sees them again."""
        for result in results:
            card = self._results.get(result)
            if card is not None and card.cleared is not cleared:
                card.cleared = cleared
                self._card_changed(card)

    def _new_card(self, call: str, tool: str, target: str) -> CardSection:
        card = self._cards[call] = CardSection(call, tool, target)
        card.split = self.split_diffs
        self.transcript.append(card)
        return card

    def _card_changed(self, card: CardSection) -> None:
        self.transcript.changed(card)
        self.draw_soon()

    def _tick(self) -> None:
        """Show how long running calls have been running; stops with the last of them."""
        running = [c for c in self._cards.values() if c.state is CardState.RUNNING]
        if not running and self._clock is not None:
            self._clock.stop()
            self._clock = None
        for card in running:
            self._card_changed(card)

    # Everything else that is shown

    def add_approval(self, text: str, *, allowed: bool, detail: str = "") -> None:
        """Add an answered question, such as ``allowed once: bash: make``."""
        self._add_note(text, "allowed" if allowed else "refused", detail)

    def add_divider(self, report: CompactionReport) -> None:
        """Add the mark of a compaction."""
        self._add(DividerSection(report))

    def mark_taken_back(self, commit: int) -> None:
        """Show at the mark of a compaction that it was undone."""
        self._reader().take_back(commit)
        for section in self.transcript.sections:
            if isinstance(section, DividerSection) and section.is_of(commit):
                section.taken_back = True
                self.transcript.changed(section)
        self.draw_soon()

    def add_notice(self, text: str, *, warning: bool = False) -> None:
        """Add something the user should know."""
        self._add_note(text, "warning" if warning else "notice")

    def add_command(self, text: str) -> None:
        """Add a command as it was typed, dim: what follows answers it."""
        self._add_note(text, "command")

    def add_error(self, message: str, hint: str = "") -> None:
        """Add what failed and what to do about it."""
        self._add_note(message, "error", hint)

    def _add_note(self, text: str, tone: str, detail: str = "") -> None:
        self._add(NoteSection(visible_text(text), tone, visible_text(detail)))

    @property
    def older(self) -> int | None:
        """Number of the oldest message that is shown, while the record holds older ones; else None."""
        return self._older

    def prepend_history(
        self,
        entries: Sequence[Entry],
        *,
        more: bool,
        reports: Iterable[CompactionReport] = (),
        asides: Sequence[Remark] = (),
    ) -> None:
        """Put a page of the record in front of everything; the view does not move.

        Args:
            entries: Messages, oldest first, all older than what is shown.
            more: Whether the record has still older ones; then `OlderWanted` follows when the user comes near.
            reports: With the newest page: what the layers did in all of the session.
            asides: What the record keeps beside these messages, see `Session.asides`.
        """
        self._asked = False
        self._older = entries[0].number if entries and more else None
        sections = self._reader(reports).sections(entries, asides)
        for section in sections:
            if isinstance(section, CardSection):
                section.split = self.split_diffs
                if fold := self._folds.pop(section.call, None):
                    section.fold, section.touched = fold, True
                if section.result:
                    self._results[section.result] = section
        if sections and self._anchor is not None and self._anchor[0].index == 0:
            self._anchor = (self._anchor[0], self._anchor[1] + 1)  # it gets a blank row above
        self.transcript.prepend(sections)
        self.search_older(sections)
        self.draw_soon()

    def _reader(self, reports: Iterable[CompactionReport] = ()) -> HistoryReader:
        if self._history is None:
            from app.ui.chat.history import HistoryReader  # most sessions are short and need none

            self._history = HistoryReader(self._groups, reports)
        return self._history

    def _make_room(self) -> None:
        """Let the oldest sections go when the chat keeps many, unless the user reads, searches or marks."""
        busy = self._came_from is not None or self.is_marking or self.text_selection is not None
        if busy or not self.following:
            return
        sections = self.transcript.sections
        count = leaving(sections)
        if not count:
            return
        gone, first = sections[:count], sections[count]
        self._reader().forget(gone)
        self._older, self._asked = first.begins, False
        for card in gone:
            if isinstance(card, CardSection):
                self._cards.pop(card.call, None)
                self._results.pop(card.result, None)
                if card.touched:
                    self._folds[card.call] = card.fold
        if self._cursor in gone:
            self._mark(None)
        self._anchor = self._seen = None
        self.transcript.remove(gone)
        self.transcript.changed(first)  # no blank row above it now

    def clear(self) -> None:
        """Forget everything, for a new session."""
        self.transcript.clear()
        self._answer = None
        self._mark(None)
        self._cards.clear()
        self._results.clear()
        self._folds.clear()
        self._history = None
        self._older, self._asked = None, False
        self.search("")
        self._came_from = None
        self.follow()

    def _add(self, section: Section) -> None:
        if self._answer is not None:
            self._answer.settle()
        self.transcript.append(section)
        self.draw_soon()

    # What the chat gives back

    def last_answer_markdown(self) -> str:
        """Return the source of the newest answer text; "" when there is none."""
        self.before_draw()
        answers = self._answers()
        return answers[0] if answers else ""

    def last_code_block(self) -> str:
        """Return the inside of the newest code fence of any answer; "" when there is none."""
        self.before_draw()
        for text in self._answers():
            fences = [t for t in shared_parser().parse(text) if t.type == "fence"]
            if fences:
                return fences[-1].content
        return ""

    def _answers(self) -> list[str]:
        """Return the sources of all answers, newest first."""
        found: dict[int, list[str]] = {}
        for section in reversed(self.transcript.sections):
            if isinstance(section, TextSection):
                found.setdefault(section.group, []).append(section.source)
        return ["".join(reversed(parts)).strip("\n") for parts in found.values()]

    # Drawing

    def before_draw(self) -> None:
        if self._answer is not None and (moved := self._answer.update()):
            old, new, rows = moved
            if self._anchor is not None and self._anchor[0] in old:
                at = old.index(self._anchor[0])
                self._anchor = (new, sum(rows[:at]) + self._anchor[1])

    def reached_top(self) -> None:
        if self._older is not None and not self._asked:
            self._asked = True
            self.post_message(self.OlderWanted(self._older))
