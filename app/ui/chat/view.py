"""The scrolling of the chat: an anchor instead of a row number, draws that are coalesced, and rows drawn on demand."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic, perf_counter
from typing import Any, ClassVar

from rich.segment import Segment
from textual import events
from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from app.ui.chat.entries import Section
from app.ui.chat.inks import COMPONENTS, InkPot
from app.ui.chat.lines import NARROWEST, Inks, Row
from app.ui.chat.transcript import Transcript

GUTTER = 2
"""Columns in front of the text: a bar by role, or the cursor."""
SCROLLING_DRAW = 0.1
"""Seconds between draws that move every row."""
GROWING_DRAW = 0.05
"""Seconds between draws that change a few rows."""
DRAW_SHARE = 4.0
"""A draw that took t seconds is followed by at least this many times t without one."""

Place = tuple[Section, int, Row]
"""What stands on a row of the screen: section, row in it, the row itself."""


class TranscriptView(ScrollView, can_focus=True):
    """Shows a transcript. Its position is an anchor (section, row in it) or "follow the end", never a row number."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)

    following: reactive[bool] = reactive(True, repaint=False)
    """Whether new rows pull the view to the end."""
    new_rows: reactive[int] = reactive(0, repaint=False)
    """Rows below everything that was in view since following stopped."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._inks = InkPot(self)
        self.transcript = Transcript(self._inks.paint)
        self._anchor: tuple[Section, int] | None = None
        self._seen: tuple[Section, int] | None = None
        """The lowest row that was in view, as (section, row in it)."""
        self._screen_rows: list[Place] = []
        self._marked: set[int] = set()
        """Serials of the sections that the cursor is on."""
        self._timer: Timer | None = None
        self._next_draw = 0.0
        self._settling = False
        self._look: tuple[object, ...] = ()
        """What the colours were resolved for."""

    # What others call

    def follow(self) -> None:
        """Go to the end and stay there."""
        self.following = True
        self.draw_now()

    def draw_soon(self) -> None:
        """Show what changed, at once when the last draw is long enough ago."""
        if self._timer is not None or not self.is_mounted:
            return
        wait = self._next_draw - monotonic()
        if wait <= 0:
            self.draw_now()
        else:
            self._timer = self.set_timer(wait, self.draw_now)

    def draw_now(self) -> None:
        """Show what changed."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        began = perf_counter()
        self.before_draw()
        if not self._text_width:
            return
        old, old_top = self._screen_rows, self.scroll_offset.y
        self._settle()
        scrolled = self.scroll_offset.y != old_top
        self._refresh_changed(old)
        took = perf_counter() - began
        pause = SCROLLING_DRAW if scrolled else GROWING_DRAW
        self._next_draw = monotonic() + max(pause, DRAW_SHARE * took)

    def before_draw(self) -> None:
        """Bring the transcript up to date; called before each draw."""

    def reached_top(self) -> None:
        """Called when the first section comes near the view."""

    # Positions

    @property
    def _text_width(self) -> int:
        width = self.scrollable_content_region.width
        return max(NARROWEST, width - GUTTER - 1) if width and self.size.height else 0

    def _settle(self) -> None:
        """Lay out what is near the view, then put heights, position and scroll bar right."""
        if self._settling or not self._text_width:
            return
        self._settling = True
        try:
            transcript, height = self.transcript, self.size.height
            if not len(transcript):
                self._anchor = self._seen = None
                self._place(0, 0)
                self._screen_rows = []
                return
            if self.following or self._anchor is None:
                self._measure_up(len(transcript) - 1, 2 * height)
                top = max(0, transcript.total - height)
            else:
                top = self._settle_anchor(height)
                self._measure_up(
                    len(transcript) - 1, 2 * height
                )  # so that new rows are counted exactly
            index, row = transcript.at(top)
            self._anchor = (transcript.sections[index], row)
            self._screen_rows = self._rows_from(index, row, height)
            self._note_seen()
            self._place(top, transcript.total)
        finally:
            self._settling = False
        if transcript.before(index) + row < height:
            self.reached_top()

    def _settle_anchor(self, height: int) -> int:
        """Return the row of the anchor after everything near it was measured."""
        transcript = self.transcript
        assert self._anchor is not None
        section, row = self._anchor
        if transcript.by_serial(section.serial) is not section:
            section = transcript.sections[min(section.index, len(transcript) - 1)]
            row = 0
        index = section.index
        while row >= (rows := len(transcript.rows(index))) and index + 1 < len(transcript):
            row -= rows
            index += 1
        row = min(row, max(0, rows - 1))
        below = rows - row
        at = index + 1
        while below < 2 * height and at < len(transcript):
            below += len(transcript.rows(at))
            at += 1
        self._measure_up(index - 1, height + max(0, height - below))
        return max(0, min(transcript.before(index) + row, transcript.total - height))

    def _measure_up(self, index: int, rows: int) -> None:
        while index >= 0 and rows > 0:
            rows -= len(self.transcript.rows(index))
            index -= 1

    def _rows_from(self, index: int, row: int, count: int) -> list[Place]:
        found: list[Place] = []
        sections = self.transcript.sections
        while len(found) < count and index < len(sections):
            rows = self.transcript.rows(index)
            section = sections[index]
            for at in range(row, min(len(rows), row + count - len(found))):
                found.append((section, at, rows[at]))
            index, row = index + 1, 0
        return found

    def _place(self, top: int, total: int) -> None:
        """Set size, position and scroll bar without the watchers, which would come back here."""
        self.set_reactive(Widget.virtual_size, Size(self.size.width, total))
        self.set_reactive(Widget.scroll_y, float(top))
        self.set_reactive(Widget.scroll_target_y, float(top))
        if self.show_vertical_scrollbar:
            bar = self.vertical_scrollbar
            bar.window_virtual_size = total
            bar.window_size = self.size.height
            bar.position = top

    def _note_seen(self) -> None:
        """Remember the lowest row in view and count what is below it."""
        if not self._screen_rows:
            return
        section, row, _ = self._screen_rows[-1]
        seen = self._seen
        if (
            seen is None
            or self.following
            or self.transcript.by_serial(seen[0].serial) is not seen[0]
            or (section.index, row) > (seen[0].index, seen[1])
        ):
            seen = self._seen = (section, row)
        below = self.transcript.total - self.transcript.before(seen[0].index) - seen[1] - 1
        self.new_rows = 0 if self.following else max(0, below)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Turn a position that the user asked for into an anchor."""
        if self._settling or not len(self.transcript):
            return
        top = round(new_value)
        self.following = top >= self.max_scroll_y
        index, row = self.transcript.at(top)
        self._anchor = (self.transcript.sections[index], row)
        self._settle()
        self.refresh()
        self.scrolled()
        del old_value

    def scrolled(self) -> None:
        """Called after the user moved the view."""

    def _scroll_to(self, x: float | None = None, y: float | None = None, **others: Any) -> bool:
        others["animate"] = False
        return super()._scroll_to(None, y, **others)

    def show_section(self, section: Section, *, row: int = 0) -> None:
        """Move as little as needed to have a row of a section in view."""
        transcript, height = self.transcript, self.size.height
        self._settle()
        at = transcript.before(section.index) + row
        top = self.scroll_offset.y
        if top <= at < top + height:
            return
        if at < top:
            self._anchor = (section, row)
        else:
            index, first = transcript.at(max(0, at - height + 1))
            self._anchor = (transcript.sections[index], first)
        self.following = False
        self._settle()
        self.following = self.scroll_offset.y >= self.max_scroll_y
        self._settle()
        self.refresh()

    # Painting

    def _refresh_changed(self, old: Sequence[Place]) -> None:
        """Repaint from the first row that differs from what is on the screen to the last one."""
        new, height = self._screen_rows, self.size.height
        longest = max(len(old), len(new))
        differs = [
            at
            for at in range(longest)
            if at >= len(old)
            or at >= len(new)
            or (old[at][2] is not new[at][2] and old[at][2] != new[at][2])
            or old[at][0].bar != new[at][0].bar
        ]
        if not differs:
            return
        first, last = differs[0], differs[-1]
        self.refresh(Region(0, first, self.size.width, min(height, last + 1) - first))

    def render_line(self, y: int) -> Strip:
        """Return a row of the screen; segments of text carry the place that a selection needs."""
        width = self.size.width
        if not 0 <= y < len(self._screen_rows):
            return Strip([Segment(" " * width, self._inks.paint(()))], width)
        section, _, row = self._screen_rows[y]
        segments = self.placed(section, row)
        used = GUTTER + self.transcript.width
        bar = self._gutter(section, row)
        strip = [bar, *segments]
        if used < width:
            strip.append(
                Segment(" " * (width - used), self._inks.paint(self._margin(row, section)))
            )
        return Strip(strip, max(width, used)).crop(0, width)

    def placed(self, section: Section, row: Row) -> list[Segment]:
        """Return the segments of a row as they are painted now."""
        del section
        return row.segments

    def _gutter(self, section: Section, row: Row) -> Segment:
        under: Inks = self._margin(row, section)
        if row.line >= 0 and section.serial in self._marked and self.has_focus:
            return Segment("┃ ", self._inks.paint((*under, "cursor")))
        if row.line >= 0 and section.bar is not None:
            text, inks = section.bar
            return Segment(f"{text} ", self._inks.paint((*under, *inks)))
        return Segment("  ", self._inks.paint(()))

    def _margin(self, row: Row, section: Section) -> Inks:
        """Return the inks around the text of a row: those of the section's own ground."""
        return (
            ("user",)
            if section.bar is not None and section.bar[1] == ("user-bar",) and row.line >= 0
            else ()
        )

    def on_resize(self, event: events.Resize) -> None:
        """Keep the anchor by its share of its section while everything gets another width."""
        del event
        width = self._text_width
        if not width:
            return
        if width != self.transcript.width:
            share, anchor = 0.0, self._anchor
            if anchor is not None:
                rows = max(1, self.transcript.height(anchor[0].index))
                share = anchor[1] / rows
            self._seen = None
            self.transcript.resize(width)
            if anchor is not None and self.transcript.by_serial(anchor[0].serial) is anchor[0]:
                rows = len(self.transcript.rows(anchor[0].index))
                self._anchor = (anchor[0], min(max(0, rows - 1), round(share * rows)))
        self.before_draw()
        self._settle()
        self.refresh()

    def notify_style_update(self) -> None:
        """Forget all colours, when it was they that changed and not only the focus."""
        super().notify_style_update()
        look = (self.app.theme, self.app.native_ansi_color, self.visual_style)
        if look == self._look:
            return
        self._look = look
        self.call_next(self._recolour)  # the colours of the inks are set after the widget's own

    def _recolour(self) -> None:
        self._inks.clear()
        self.transcript.repaint()
        self._settle()
        self.refresh()

    def row_at(self, y: int) -> Place | None:
        """Return what stands on a row of the screen, or None below the last one."""
        return self._screen_rows[y] if 0 <= y < len(self._screen_rows) else None
