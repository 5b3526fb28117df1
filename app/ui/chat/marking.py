"""Text of the chat marked with the keyboard: a caret that goes by characters, words and rows, and pulls a selection."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from rich.cells import split_graphemes
from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.selection import Selection

from app.ui.chat.entries import Section
from app.ui.chat.finding import SearchableTranscriptView
from app.ui.chat.lines import Row
from app.ui.chat.selection import highlighted_row, place_of

_STEPS = {
    "left": "left",
    "h": "left",
    "right": "right",
    "l": "right",
    "up": "up",
    "k": "up",
    "down": "down",
    "j": "down",
    "w": "word_right",
    "ctrl+right": "word_right",
    "b": "word_left",
    "ctrl+left": "word_left",
    "home": "row_start",
    "0": "row_start",
    "end": "row_end",
    "$": "row_end",
    "dollar_sign": "row_end",
    "pageup": "page_up",
    "pagedown": "page_down",
}
_WORD = re.compile(r"[\w.\-/~]+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Caret:
    """A character of the chat."""

    section: Section
    line: int
    """Logical line in the section."""
    x: int
    """Character in the line."""

    def place(self, behind: int = 0) -> Offset:
        """Return its place for a selection, or the one ``behind`` characters later."""
        return Offset(self.x + behind, place_of(self.section, self.line))


class MarkableTranscriptView(SearchableTranscriptView):
    """A transcript view whose text can be marked with keys alone, as tmux and vi do it."""

    class Marking(Message, namespace="chat_pane"):
        """Marking with the keyboard began or ended."""

    class Copied(Message, namespace="chat_pane"):
        """A text is to go to the clipboard."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._caret: Caret | None = None
        self._pinned: Caret | None = None
        """Where the selection begins; None while nothing is marked."""
        self._column = 0
        """Column that a caret going up and down tries to keep."""

    @property
    def is_marking(self) -> bool:
        """Whether there is a caret."""
        return self._caret is not None

    def action_mark(self) -> None:
        """Put a caret at the beginning of the lowest entry in view, or of the one under the cursor."""
        here = self._first_place()
        if here is not None and self._caret is None:
            self.screen.clear_selection()
            self._go(here)
            self.post_message(self.Marking())

    def action_mark_step(self, step: str) -> None:
        """Begin marking with a step that already marks."""
        self.action_mark()
        if self._caret is not None:
            self._pinned = self._pinned or self._caret
            self._step(step)

    def stop_marking(self) -> bool:
        """Take the caret and what it marked away; return whether there was one."""
        if self._caret is None:
            return False
        self._caret = self._pinned = None
        self.screen.clear_selection()
        self.refresh()
        self.post_message(self.Marking())
        return True

    def on_key(self, event: events.Key) -> None:
        """While there is a caret, the keys move it; all others are left to the bindings."""
        if self._caret is None or not self._follow_changes():
            return
        name = event.key.removeprefix("shift+")
        if name in _STEPS:
            if name != event.key and self._pinned is None:
                self._pinned = self._caret
            self._step(_STEPS[name])
        elif event.key in ("space", "v"):
            self._pinned = None if self._pinned is not None else self._caret
            self._show_selection()
        elif event.key in ("y", "enter"):
            self._copy()
        elif event.key in ("escape", "q"):
            self.stop_marking()
        else:
            return
        event.stop()
        event.prevent_default()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.stop_marking()
        super().on_mouse_down(event)

    def inked_over(self, section: Section, row: Row) -> Row:
        caret = self._caret
        if caret is None or section is not caret.section or row.line != caret.line:
            return row
        if not _holds(row, caret.x):
            return row
        span = (caret.x, caret.x + _width_at(_text(row), caret.x - row.x))
        return highlighted_row(row, [span], self._inks.paint(("caret",)))

    def _follow_changes(self) -> bool:
        """Keep caret and mark on text that is still there; return False when theirs is gone, which ends it."""
        caret = self._standing(self._caret)
        pinned = self._standing(self._pinned)
        if caret is None or (pinned is None and self._pinned is not None):
            self.stop_marking()
            return False
        if (caret, pinned) != (self._caret, self._pinned):
            self._caret, self._pinned = caret, pinned
            self._show_selection()
        return True

    def _standing(self, caret: Caret | None) -> Caret | None:
        """Return a caret at the nearest place that its section has now; None when that has left the chat."""
        if caret is None or self.transcript.by_serial(caret.section.serial) is not caret.section:
            return None
        lines = caret.section.lines(self.transcript.width)
        if not lines:
            return None
        line = min(caret.line, len(lines) - 1)
        return replace(caret, line=line, x=min(caret.x, _last(lines[line].text)))

    def _copy(self) -> None:
        """Copy what is marked, or the caret's line while nothing is, and end."""
        caret = self._caret
        assert caret is not None
        if self._pinned is None:
            text = caret.section.lines(self.transcript.width)[caret.line].text
        else:
            text = self.screen.get_selected_text() or ""
        self.stop_marking()
        self.post_message(self.Copied(text))

    def _first_place(self) -> Caret | None:
        """Return where a caret begins: at the top of what the cursor is on, as far as it is in view."""
        shown = [(section, row) for section, _, row in self._screen_rows if row.line >= 0]
        of_cursor = [each for each in shown if each[0].serial in self._marked]
        found = of_cursor or shown[-1:]
        return Caret(found[0][0], found[0][1].line, found[0][1].x) if found else None

    def _step(self, step: str) -> None:
        caret = self._caret
        assert caret is not None
        rows = self.transcript.rows(caret.section.index)
        here = self._row_of(caret)
        text, x = _text(rows[here]), caret.x - rows[here].x
        match step:
            case "left" if x > 0:
                self._go(Caret(caret.section, caret.line, caret.x - _width_before(text, x)))
            case "right" if x + _width_at(text, x) < len(text):
                self._go(Caret(caret.section, caret.line, caret.x + _width_at(text, x)))
            case "left":
                self._go_rows(-1, 1 << 30)
            case "right":
                self._go_rows(1, 0)
            case "word_right":
                later = [m.start() for m in _WORD.finditer(text) if m.start() > x]
                if later:
                    self._go(Caret(caret.section, caret.line, rows[here].x + later[0]))
                else:
                    self._go_rows(1, 0)
            case "word_left":
                before = [m.start() for m in _WORD.finditer(text) if m.start() < x]
                if before:
                    self._go(Caret(caret.section, caret.line, rows[here].x + before[-1]))
                else:
                    self._go_rows(-1, 1 << 30)
            case "row_start":
                self._go(Caret(caret.section, caret.line, rows[here].x))
            case "row_end":
                self._go(Caret(caret.section, caret.line, rows[here].x + _last(text)))
            case "up" | "down":
                self._go_rows(-1 if step == "up" else 1)
            case "page_up" | "page_down":
                page = max(1, self.size.height - 2)
                self._go_rows(-page if step == "page_up" else page)
            case _:
                pass

    def _go_rows(self, by: int, column: int | None = None) -> None:
        """Move the caret by rows of text, as far as there are any; gaps between entries are stepped over."""
        caret = self._caret
        assert caret is not None
        step, left = (1 if by > 0 else -1), abs(by)
        index, at = caret.section.index, self._row_of(caret)
        keeps = column is None
        column = self._column if column is None else column
        target: tuple[int, int] | None = None
        while left:
            at += step
            if not 0 <= at < len(self.transcript.rows(index)):
                index += step
                if not 0 <= index < len(self.transcript):
                    break
                at = 0 if step > 0 else len(self.transcript.rows(index)) - 1
            if self.transcript.rows(index)[at].line >= 0:
                target = (index, at)
                left -= 1
        if target is None:
            return
        section, row = (
            self.transcript.sections[target[0]],
            self.transcript.rows(target[0])[target[1]],
        )
        text = _text(row)
        self._go(
            Caret(section, row.line, row.x + _start_at(text, min(column, _last(text)))),
            keeps_column=keeps,
        )

    def _go(self, caret: Caret, *, keeps_column: bool = False) -> None:
        self._caret = caret
        row = self._row_of(caret)
        if not keeps_column:
            self._column = caret.x - self.transcript.rows(caret.section.index)[row].x
        self.show_section(caret.section, row=row)
        self._show_selection()

    def _row_of(self, caret: Caret) -> int:
        """Return the row of its section on which a caret stands."""
        rows = self.transcript.rows(caret.section.index)
        found = [n for n, row in enumerate(rows) if row.line == caret.line and row.x <= caret.x]
        return found[-1] if found else len(rows) - 1

    def _show_selection(self) -> None:
        """Mark from where marking began up to the caret, both included."""
        caret, pinned = self._caret, self._pinned
        assert caret is not None
        if pinned is None:
            self.screen.clear_selection()
        else:
            first, last = sorted((pinned, caret), key=lambda c: (c.place().y, c.x))
            text = last.section.lines(self.transcript.width)[last.line].text
            end = last.place(_width_at(text, last.x))
            self.screen.selections = {self: Selection(first.place(), end)}
        self.refresh()


def _text(row: Row) -> str:
    return "".join(segment.text for segment in row.segments[row.lead : row.lead + row.body])


def _holds(row: Row, x: int) -> bool:
    return row.x <= x < row.x + max(1, len(_text(row)))


def _spans(text: str) -> list[tuple[int, int, int]]:
    return split_graphemes(text)[0]


def _width_at(text: str, x: int) -> int:
    """Return the characters of the sign that a person sees at ``x``."""
    return next((end - x for start, end, _ in _spans(text) if start <= x < end), 1)


def _width_before(text: str, x: int) -> int:
    return next((x - start for start, end, _ in _spans(text) if start < x <= end), 1)


def _start_at(text: str, x: int) -> int:
    return next((start for start, end, _ in _spans(text) if start <= x < end), 0)


def _last(text: str) -> int:
    spans = _spans(text)
    return spans[-1][0] if spans else 0
