"""Search in the chat: where a text stands, and going from place to place, newest first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.ui.chat.entries import DividerSection, Fold, Section
from app.ui.chat.lines import Row
from app.ui.chat.selection import SelectableTranscriptView, Span, highlighted_row


@dataclass(frozen=True, slots=True)
class Finding:
    """Where a search stands."""

    places: int = 0
    """How many places hold the text. Parts that were not shown yet are counted by their Markdown."""
    place: int = 0
    """Which of them is in view, the newest being 1; 0 before the first."""


class SearchableTranscriptView(SelectableTranscriptView):
    """A transcript view that finds text, whatever its case; folded parts open while a place in them is shown."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._wanted = ""
        self._hits: list[Section] = []
        """Sections that hold it, oldest first."""
        self._counts: dict[int, int] = {}
        """By serial, how many places each of them has."""
        self._match: tuple[Section, int] | None = None
        """Where the search stands: section and place in it, counted from its top."""
        self._unfolded: tuple[Section, Fold] | None = None
        """The section that was opened to show a place in it, and how it was before."""
        self._spans: dict[int, tuple[list[Row], dict[int, list[Span]]]] = {}
        """Places by serial and line, with the rows for which they were made out."""
        self._came_from: tuple[bool, tuple[Section, int] | None] | None = None

    @property
    def finding(self) -> Finding:
        """Where the search stands now."""
        if self._match is None:
            return Finding(sum(self._counts.values()))
        section, at = self._match
        newer = sum(n for serial, n in self._counts.items() if serial > section.serial)
        here = len(self._places(section))
        return Finding(sum(self._counts.values()), newer + here - at)

    def search(self, text: str) -> Finding:
        """Mark every place that holds ``text``, and go back to where the search began; "" marks nothing."""
        if self._came_from is None and text:
            self._came_from = (self.following, self._anchor)
        self._wanted = text.lower()
        self._spans.clear()
        self._counts.clear()
        self._match = None
        self._fold_back()
        self._hits = self._holding(self.transcript.sections)
        if self._came_from is not None:
            self.following, self._anchor = self._came_from
            self.draw_now()
        self.refresh()
        return self.finding

    def search_older(self, sections: Iterable[Section]) -> bool:
        """Search in sections that came in front of all others; return whether they hold what is searched for."""
        found = self._holding(sections)
        self._hits[:0] = found
        return bool(found)

    def end_search(self, *, stay: bool) -> None:
        """Unmark everything, and go back to where the search began unless the view is to ``stay``."""
        if stay and self._match is not None:
            self._unfolded = self._came_from = None
        self.search("")
        self._came_from = None

    def show_match(self, *, backwards: bool = True, around: bool = True) -> bool:
        """Bring the next place that holds what is searched for into view.

        Args:
            backwards: Towards older ones.
            around: Whether the newest follows the oldest, and the other way round.

        Returns:
            Whether there was one.
        """
        self._hits = self._holding(self.transcript.sections)
        if not self._hits:
            return False
        step = -1 if backwards else 1
        section, at = self._match or (None, 0)
        if section is not None and section in self._hits:
            if 0 <= at + step < len(self._places(section)):
                self._show_place(section, at + step)
                return True
            next_at = self._hits.index(section) + step
            if not around and not 0 <= next_at < len(self._hits):
                return False
            target = self._hits[next_at % len(self._hits)]
        else:
            target = self._nearest(backwards)
        self._open(target)
        self._show_place(target, len(self._places(target)) - 1 if backwards else 0)
        return True

    def inked(self, section: Section, row: Row) -> Row:
        if not self._wanted or row.line < 0:
            return row
        spans = self._spans_of(section).get(row.line)
        if not spans:
            return row
        row = highlighted_row(row, spans, self._inks.paint(("match",)))
        if self._match is not None and self._match[0] is section:
            line, now = self._places(section)[self._match[1]]
            if line == row.line:
                row = highlighted_row(row, [now], self._inks.paint(("match-now",)))
        return row

    def _holding(self, sections: Iterable[Section]) -> list[Section]:
        """Return the sections that hold what is searched for, and count its places in them."""
        wanted = self._wanted
        if not wanted:
            return []
        found = []
        for section in sections:
            if places := section.source.lower().count(wanted):
                found.append(section)
                if section.serial not in self._spans:
                    self._counts[section.serial] = places
        return found

    def _nearest(self, backwards: bool) -> Section:
        """Return the first hit from what is in view on, or the one at the far end."""
        if not self._screen_rows:
            return self._hits[-1]
        if backwards:
            lowest = self._screen_rows[-1][0].index
            return next((s for s in reversed(self._hits) if s.index <= lowest), self._hits[-1])
        highest = self._screen_rows[0][0].index
        return next((s for s in self._hits if s.index >= highest), self._hits[0])

    def _open(self, section: Section) -> None:
        """Unfold a section that hides places, and fold the one that was unfolded before."""
        self._fold_back()
        if not section.foldable or section.fold is Fold.FULL or isinstance(section, DividerSection):
            return
        shown = sum(map(len, self._spans_of(section).values()))
        if shown < self._counts.get(section.serial, 0):
            self._unfolded = (section, section.fold)
            section.fold = Fold.FULL
            self.transcript.changed(section)

    def _fold_back(self) -> None:
        if self._unfolded is not None:
            section, fold = self._unfolded
            self._unfolded = None
            if self.transcript.by_serial(section.serial) is section:
                section.fold = fold
                self.transcript.changed(section)

    def _show_place(self, section: Section, at: int) -> None:
        line, (start, _) = self._places(section)[at]
        rows = self.transcript.rows(section.index)
        beginning = [n for n, row in enumerate(rows) if row.line == line and row.x <= start]
        self._match = (section, at)
        self.show_section(section, row=beginning[-1] if beginning else 0)
        self.refresh()

    def _places(self, section: Section) -> list[tuple[int, Span]]:
        """Return the places of a section from its top on; its first row stands for what no line shows."""
        spans = self._spans_of(section)
        return [(line, span) for line, found in spans.items() for span in found] or [(0, (0, 0))]

    def _spans_of(self, section: Section) -> dict[int, list[Span]]:
        rows = self.transcript.rows(section.index)
        known = self._spans.get(section.serial)
        if known is None or known[0] is not rows:
            lines = section.lines(self.transcript.width)
            spans = {at: found for at, each in enumerate(lines) if (found := self._in(each.text))}
            known = self._spans[section.serial] = (rows, spans)
            if section.serial in self._counts and section.fold is Fold.FULL:
                self._counts[section.serial] = max(1, sum(map(len, spans.values())))
        return known[1]

    def _in(self, text: str) -> list[Span]:
        text, wanted = text.lower(), self._wanted
        spans: list[Span] = []
        at = text.find(wanted)
        while at >= 0:
            spans.append((at, at + len(wanted)))
            at = text.find(wanted, at + len(wanted))
        return spans
