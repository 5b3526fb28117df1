"""All sections of the chat with their heights: estimated until measured, rows cached and the oldest let go."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from app.ui.chat.entries import Section
from app.ui.chat.heights import Heights
from app.ui.chat.lines import Line, Painter, Row, rows_of

MOST_ROWS = 6_000
"""Painted rows that are kept."""
FIRST_SERIAL = 1 << 30
"""Serial of the first section; older ones that come later count down from it."""


class Transcript:
    """The sections in order. It knows rows and widths, and nothing of scrolling.

    Attributes:
        sections: Oldest first.
        width: Cells of a text row.
    """

    def __init__(self, paint: Painter, width: int = 80) -> None:
        self._paint = paint
        self.width = width
        self.sections: list[Section] = []
        self._by_serial: dict[int, Section] = {}
        self._heights = Heights(width)
        self._cached: OrderedDict[int, int] = OrderedDict()
        """Serials of sections with rows, least recently used first, and how many rows each has."""
        self._cached_rows = 0

    def __len__(self) -> int:
        return len(self.sections)

    @property
    def total(self) -> int:
        """Rows of everything."""
        return self._heights.total

    @property
    def cached_rows(self) -> int:
        """Rows that are kept painted."""
        return self._cached_rows

    def by_serial(self, serial: int) -> Section | None:
        """Return the section with that serial, or None when it is gone."""
        return self._by_serial.get(serial)

    def append(self, section: Section) -> None:
        """Add a section at the end."""
        section.index = len(self.sections)
        section.serial = self.sections[-1].serial + 1 if self.sections else FIRST_SERIAL
        while section.serial in self._by_serial:
            section.serial += 1
        self.sections.append(section)
        self._by_serial[section.serial] = section
        self._heights.append(section.extent())

    def prepend(self, older: Sequence[Section]) -> None:
        """Put sections, oldest first, in front of all others."""
        if not older:
            return
        first = self.sections[0].serial if self.sections else FIRST_SERIAL
        for at, section in enumerate(older):
            section.serial = first - len(older) + at
            self._by_serial[section.serial] = section
        old_first = self.sections[0] if self.sections else None
        self.sections[:0] = older
        self._heights.prepend([section.extent() for section in older])
        self._renumber()
        if old_first is not None:
            self.changed(old_first)

    def remove(self, gone: Iterable[Section]) -> None:
        """Take sections away."""
        gone = list(gone)
        for section in gone:
            self._drop(section)
            self._by_serial.pop(section.serial, None)
        if not gone:
            return
        if self.sections[len(self.sections) - len(gone) :] == gone:
            for _ in gone:
                self.sections.pop()
                self._heights.pop()
            return
        lost = {section.index for section in gone}
        kept = [at for at in range(len(self.sections)) if at not in lost]
        self.sections = [self.sections[at] for at in kept]
        self._heights.keep(kept)
        self._renumber()

    def clear(self) -> None:
        """Take everything away."""
        self.sections.clear()
        self._by_serial.clear()
        self._cached.clear()
        self._cached_rows = 0
        self._heights.clear()

    def changed(self, section: Section, *, gap: bool = True) -> None:
        """Note that a section must be laid out again.

        Args:
            section: What changed.
            gap: Whether the one below it may need another gap.
        """
        self._drop(section)
        self._heights.estimate(section.index, section.extent())
        if gap and section.index + 1 < len(self.sections):
            below = self.sections[section.index + 1]
            if below.rows is not None and self._has_gap(below) != (below.rows[0].line < 0):
                self._drop(below)

    def repaint(self) -> None:
        """Forget all rows but keep their heights; colours changed."""
        for serial in self._cached:
            self._by_serial[serial].rows = None
        self._cached.clear()
        self._cached_rows = 0

    def resize(self, width: int) -> None:
        """Take another width: all heights are estimates again."""
        self.width = width
        self.repaint()
        self._heights.resize(width)

    def rows(self, index: int) -> list[Row]:
        """Return the rows of a section, made now when they are not cached; its height is exact from here on."""
        section = self.sections[index]
        rows = section.rows
        if rows is not None:
            self._cached.move_to_end(section.serial)
            return rows
        rows = rows_of(section.lines(self.width), self.width, self._paint)
        if rows and self._has_gap(section):
            rows.insert(0, rows_of([Line()], self.width, self._paint)[0])
            rows[0].line = -1
        section.rows = rows
        self._heights[index] = len(rows)
        self._cached[section.serial] = len(rows)
        self._cached_rows += len(rows)
        while self._cached_rows > MOST_ROWS and len(self._cached) > 1:
            serial, count = self._cached.popitem(last=False)
            self._cached_rows -= count
            self._by_serial[serial].rows = None
        return rows

    def height(self, index: int) -> int:
        """Return the rows of a section as far as known now."""
        return self._heights[index]

    def before(self, index: int) -> int:
        """Return the row on which a section begins."""
        return self._heights.before(index)

    def at(self, row: int) -> tuple[int, int]:
        """Return (section index, row in it) of a row; there must be a section."""
        return self._heights.find(row)

    def _has_gap(self, section: Section) -> bool:
        before = self.sections[section.index - 1] if section.index else None
        return section.gap_after(before)

    def _drop(self, section: Section) -> None:
        section.rows = None
        self._cached_rows -= self._cached.pop(section.serial, 0)

    def _renumber(self) -> None:
        for at, section in enumerate(self.sections):
            section.index = at
