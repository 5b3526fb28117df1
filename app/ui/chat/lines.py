"""Logical lines and the rows that they become at a width: wrapping by words, by cells and around wide characters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

from rich.cells import cell_len, split_graphemes
from rich.segment import Segment
from rich.style import Style as RichStyle


@dataclass(frozen=True, slots=True)
class Link:
    """An ink that makes text clickable."""

    url: str


@dataclass(frozen=True, slots=True)
class Beside:
    """An ink of a lead: it is text beside the line's own, and can be selected apart from it."""

    x: int
    """Character of that text with which the run begins."""


Ink = str | Link | Beside
"""Name of a component class without its prefix, one of `PLAIN_INKS`, a link, or text beside."""
Inks = tuple[Ink, ...]
"""Inks laid over each other, the last on top."""
Run = tuple[str, Inks]
PLAIN_INKS = frozenset({"bold", "italic", "strike", "underline", "dim"})
Painter = Callable[[Inks], RichStyle]

NARROWEST = 8
"""Columns below which nothing is laid out; a narrower screen shows cropped rows."""
_ASCII_WORD = re.compile(r"\S+\s*|\s+")
_WIDE = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f"
    "\uff00-\uff60\uffe0-\uffe6\U0001f000-\U0001faff\U00020000-\U0003fffd"
)


@cache
def _words() -> re.Pattern[str]:
    """Return what may not be broken: words, and wide characters with what must not begin a row after them."""
    return re.compile(
        f"[{_WIDE}][\ufe0f\u200d]*[、。，．！？；：」』）】》〉”’…%,.!?;:)\\]}}]*\\s*"
        f"|[^\\s{_WIDE}]+\\s*|\\s+|."
    )


@dataclass(slots=True)
class Line:
    """One line before wrapping. Its text can be selected; leads and fill cannot."""

    runs: list[Run] = field(default_factory=list)
    lead: tuple[Run, ...] = ()
    """In front of its first row."""
    rest: tuple[Run, ...] | None = None
    """In front of its other rows; None for the lead again."""
    fill: Inks = ()
    """Under the text and up to the right edge."""
    by_cells: bool = False
    """Break anywhere instead of between words, as code wants it."""
    cropped: bool = False
    """Keep only the first row."""
    leads: tuple[tuple[Run, ...], ...] = ()
    """In front of its second row and of those after it, before the rest begins."""
    copied: bool = True
    """Whether it counts when text is copied; a line that only fills a gap does not."""
    beside: str | None = None
    """Text that its leads show beside it; None for none."""
    goes_on: bool = False
    """Whether it shows more of the text beside the line before."""

    @property
    def text(self) -> str:
        """The text without leads."""
        return "".join([text for text, _ in self.runs])


class Row:
    """One row of the screen: painted segments as wide as the text column, and where its text stands."""

    __slots__ = ("beside", "body", "lead", "line", "segments", "x")

    def __init__(
        self,
        segments: list[Segment],
        line: int,
        x: int,
        lead: int,
        body: int,
        *,
        beside: tuple[tuple[int, int], ...] = (),
    ) -> None:
        self.segments = segments
        self.line = line
        """Number of the logical line in its section."""
        self.x = x
        """Character of that line with which the row begins."""
        self.lead = lead
        """Segments in front of the text."""
        self.body = body
        """Segments of text after the lead."""
        self.beside = beside
        """Which segments of the lead are text beside, each with the character of it that it begins with."""

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Row) and self.segments == other.segments)

    __hash__ = None  # type: ignore[assignment]


def line(text: str, *inks: Ink) -> Line:
    """Return a line of one run."""
    return Line([(text, inks)] if text else [])


def lines_of(text: str, *inks: Ink, by_cells: bool = False, fill: Inks = ()) -> list[Line]:
    """Return one line for each line of a text; tabs become blanks."""
    return [
        Line([(part.expandtabs(4), inks)] if part else [], by_cells=by_cells, fill=fill)
        for part in text.split("\n")
    ]


def crop(text: str, width: int) -> str:
    """Return the text in at most ``width`` cells, with an ellipsis where something was cut."""
    if len(text) <= width and text.isascii():
        return text
    if cell_len(text) <= width:
        return text
    if width < 1:
        return ""
    spans, _ = split_graphemes(text[: 2 * width + 8])
    used = end = 0
    for _, stop, cells in spans:
        if used + cells > width - 1:
            break
        used += cells
        end = stop
    return f"{text[:end]}…"


def wrap(text: str, width: int, *, by_cells: bool = False) -> list[tuple[int, int]]:
    """Return (start, end) of each row in ``text``; blanks at a break belong to no row.

    Args:
        text: One line without newlines.
        width: Cells of a row, at least 2.
        by_cells: Break at the last cell instead of between words.
    """
    ascii_only = text.isascii()
    if (ascii_only and len(text) <= width) or cell_len(text) <= width:
        return [(0, len(text))]
    if by_cells:
        return list(_folded(text, 0, len(text), width, ascii_only))
    rows: list[tuple[int, int]] = []
    start = end = used = 0
    indent = len(text) - len(text.lstrip())
    for match in (_ASCII_WORD if ascii_only else _words()).finditer(text, indent):
        word = match[0]
        bare = word.rstrip()
        cells = len(bare) if ascii_only else cell_len(bare)
        if match.start() == indent:
            used = indent
        if used + cells > width and match.start() > max(start, indent):
            rows.append((start, end))
            start, used = match.start(), 0
        if used + cells > width:
            *whole, (last, stop) = _folded(
                text, start, match.start() + len(bare), width, ascii_only
            )
            rows += whole
            start = last
            cells, used = cell_len(text[last:stop]), 0
        end = match.start() + len(bare)
        used += cells + len(word) - len(bare)
    rows.append((start, end if end > start else start))
    return rows


def _folded(
    text: str, start: int, end: int, width: int, ascii_only: bool
) -> Iterable[tuple[int, int]]:
    """Yield rows of at most ``width`` cells; at least one."""
    if ascii_only:
        yield from ((at, min(end, at + width)) for at in range(start, max(end, start + 1), width))
        return
    spans, _ = split_graphemes(text[start:end])
    used, begun = 0, start
    for first, _, cells in spans:
        if used + cells > width and used:
            yield begun, start + first
            begun, used = start + first, 0
        used += cells
    yield begun, end


def part_of(runs: Iterable[Run], start: int, end: int) -> list[Run]:
    """Return the characters from ``start`` up to ``end`` of some runs."""
    parts, at = [], 0
    for text, inks in runs:
        part = text[max(0, start - at) : max(0, end - at)]
        if part:
            parts.append((part, inks))
        at += len(text)
    return parts


def rows_of(lines: Sequence[Line], width: int, paint: Painter) -> list[Row]:
    """Return the rows of ``lines``, each exactly ``width`` cells wide."""
    rows: list[Row] = []
    for number, each in enumerate(lines):
        text = each.text
        lead = each.lead
        room = max(2, width - sum(cell_len(part) for part, _ in lead)) if lead else width
        spans = wrap(text, room, by_cells=each.by_cells)
        if each.cropped:
            spans = spans[:1]
        for at, (start, end) in enumerate(spans):
            if 0 < at <= len(each.leads):
                lead = each.leads[at - 1]
            elif at and each.rest is not None:
                lead = each.rest
            row = _row(each, lead, (start, end), width, paint)
            row.line = number
            rows.append(row)
    return rows


def _row(
    each: Line, lead: tuple[Run, ...], span: tuple[int, int], width: int, paint: Painter
) -> Row:
    start, end = span
    under = each.fill
    segments = [Segment(text, paint(inks)) for text, inks in lead]
    used = sum(cell_len(text) for text, _ in lead)
    at = 0
    for text, inks in each.runs:
        stop = at + len(text)
        if stop > start and at < end:
            part = text if at >= start and stop <= end else text[max(0, start - at) : end - at]
            segments.append(Segment(part, paint((*under, *inks) if under else inks)))
            used += cell_len(part)
        at = stop
        if at >= end:
            break
    body = len(segments) - len(lead)
    if not body:
        segments.append(Segment(" ", paint(under)))
        used, body = used + 1, 1
    if used < width:
        segments.append(Segment(" " * (width - used), paint(under)))
    elif used > width:
        segments = list(_cropped(segments, width))
        body = len(segments) - len(lead)
    return Row(segments, 0, start, len(lead), body, beside=_beside(lead) if each.beside else ())


def _beside(lead: Sequence[Run]) -> tuple[tuple[int, int], ...]:
    return tuple(
        (at, ink.x) for at, (_, inks) in enumerate(lead) for ink in inks if isinstance(ink, Beside)
    )


def _cropped(segments: Iterable[Segment], width: int) -> Iterable[Segment]:
    room = width
    for segment in segments:
        cells = segment.cell_length
        if cells <= room:
            yield segment
        elif room:
            before, _ = segment.split_cells(room)
            yield before
        room -= min(room, cells)
        if not room:
            return
