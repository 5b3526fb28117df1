"""The chat by keys and pointer: a cursor that goes from entry to entry, folds and links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message

from app.core.reports import CompactionReport
from app.ui.chat.entries import DividerSection, Fold, Section, UserSection
from app.ui.chat.marking import MarkableTranscriptView
from app.ui.chat.tool_card import CardSection
from app.ui.keymap import Place, bindings


class NavigableTranscriptView(MarkableTranscriptView):
    """A transcript view with a cursor. It is one stop of the focus."""

    FOCUS_ON_CLICK = False
    BINDINGS: ClassVar[list[BindingType]] = list(bindings(Place.CHAT))

    class DividerOpened(Message, namespace="chat_pane"):
        """The user wants to know what a compaction did."""

        def __init__(self, report: CompactionReport) -> None:
            super().__init__()
            self.report = report

    class ToolOpened(Message, namespace="chat_pane"):
        """The user wants the whole result of a tool call."""

        def __init__(self, result: str, call: str) -> None:
            super().__init__()
            self.result = result
            """``r<N>``, or "" while the call runs."""
            self.call = call

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._cursor: Section | None = None
        self.split_diffs: bool | None = None
        """How the user wants diffs; None for beside each other where there is room."""

    # Keys and pointer

    def action_cursor_up(self) -> None:
        self._move(-1)

    def action_cursor_down(self) -> None:
        self._move(1)

    def action_follow(self) -> None:
        self._mark(None)
        self.follow()

    def action_open(self) -> None:
        """Open the entry under the cursor."""
        if self._cursor is None:
            self._move(-1)
        elif isinstance(self._cursor, DividerSection):
            self.post_message(self.DividerOpened(self._cursor.report))
        else:
            self._toggle(self._cursor)

    def action_open_tool(self) -> None:
        """Ask for the whole result of the card under the cursor."""
        if isinstance(self._cursor, CardSection):
            self.post_message(self.ToolOpened(self._cursor.result, self._cursor.call))

    def action_copy_entry(self) -> None:
        """Copy the entry under the cursor as Markdown."""
        if self._cursor is None:
            return
        text = "".join(section.source for section in self._group_of(self._cursor)).strip("\n")
        self.post_message(self.Copied(text))

    def action_toggle_all(self) -> None:
        """Unfold all cards, or fold them when all are unfolded."""
        cards = [s for s in self.transcript.sections if isinstance(s, CardSection)]
        fold = Fold.FULL if any(card.fold is not Fold.FULL for card in cards) else Fold.FOLDED
        for card in cards:
            card.fold = fold
            self.transcript.changed(card)
        self.draw_now()
        self.refresh()

    def action_toggle_diff(self) -> None:
        """Show both sides of diffs beside each other, or in one column."""
        diffs = [s for s in self.transcript.sections if isinstance(s, CardSection) and s.diff]
        width = self.transcript.width
        self.split_diffs = not any(card.is_split(width) for card in diffs)
        for card in diffs:
            card.split = self.split_diffs
            self.transcript.changed(card)
        self.draw_now()
        self.refresh()

    def action_link(self, url: str) -> None:
        """Open a web address outside."""
        self.app.open_url(url)

    def on_click(self, event: events.Click) -> None:
        """Open what was clicked; a second click selects a word, a third a line."""
        if event.chain > 1:
            event.prevent_default()
            self.select_at(event.screen_x, event.screen_y, whole_line=event.chain > 2)
            return
        self.stop_marking()
        place = self.row_at(event.y)
        if place is None or self.text_selection is not None or "@click" in event.style.meta:
            return
        section, at, row = place
        last = section.fold is Fold.SHORT and at == len(self.transcript.rows(section.index)) - 1
        if (
            not section.foldable
            or not (row.line == 0 or last)
            or (isinstance(section, UserSection) and not last)
        ):
            return
        if isinstance(section, DividerSection):
            self.post_message(self.DividerOpened(section.report))
        else:
            self._toggle(section)

    def _toggle(self, section: Section) -> None:
        """Fold or unfold; what is at the top of the view stays there, and the head of the section in view."""
        if not section.foldable:
            return
        section.toggle()
        self.transcript.changed(section)
        self.draw_now()
        self.show_section(section)
        self.refresh()

    def _move(self, step: int) -> None:
        """Move the cursor by one entry, or scroll while the entry goes on out of view."""
        sections = self.transcript.sections
        if not sections:
            return
        shown = [place[0] for place in self._screen_rows]
        cursor = self._cursor
        if cursor is None or (shown and not self._in_view(cursor, shown)):
            visible = shown or sections
            self._mark(visible[-1] if step < 0 else visible[0])
            return
        group = self._group_of(cursor)
        end = group[-1] if step > 0 else group[0]
        if self._runs_out(end, step):
            self.scroll_relative(y=step * max(1, self.size.height - 3), animate=False)
            return
        at = end.index + step
        if 0 <= at < len(sections):
            self._mark(sections[at])
            assert self._cursor is not None
            rows = self.transcript.rows(self._cursor.index)
            if step < 0:
                last = self._group_of(self._cursor)[-1]
                self.show_section(last, row=len(self.transcript.rows(last.index)) - 1)
            else:
                self.show_section(self._cursor, row=min(len(rows), self.size.height) - 1)
        elif step > 0:
            self.follow()

    def _runs_out(self, end: Section, step: int) -> bool:
        """Whether the cursor's entry goes on beyond the edge of the view."""
        top, height = self.scroll_offset.y, self.size.height
        first = self.transcript.before(end.index)
        if step < 0:
            return first < top
        return first + self.transcript.height(end.index) > top + height

    def _in_view(self, cursor: Section, shown: Sequence[Section]) -> bool:
        serials = {section.serial for section in shown}
        return any(section.serial in serials for section in self._group_of(cursor))

    def _group_of(self, section: Section) -> list[Section]:
        """Return the sections of the same answer, oldest first."""
        if not section.group:
            return [section]
        sections = self.transcript.sections
        first = last = section.index
        while first and sections[first - 1].group == section.group:
            first -= 1
        while last + 1 < len(sections) and sections[last + 1].group == section.group:
            last += 1
        return sections[first : last + 1]

    def _mark(self, section: Section | None) -> None:
        group = self._group_of(section) if section is not None else []
        self._cursor = group[0] if group else None
        self._marked = {each.serial for each in group}
        self.refresh()

    def on_focus(self) -> None:
        if self._cursor is None and self._screen_rows:
            self._mark(self._screen_rows[-1][0])
        self.refresh()

    def on_blur(self) -> None:
        self.stop_marking()
        self.refresh()
