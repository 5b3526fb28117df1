"""Text of the chat selected with the mouse: places that survive scrolling and re-wrapping, and what they copy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events
from textual.geometry import Offset, Region
from textual.selection import Selection
from textual.strip import Strip

from app.ui.chat.entries import Section, TextSection
from app.ui.chat.lines import Line, Row
from app.ui.chat.transcript import Transcript
from app.ui.chat.view import TranscriptView

LINES = 1 << 20
"""More places than any section has; a place's y is serial * LINES + line."""
BESIDE = LINES // 2
"""More logical lines than any section has; the text beside a line has its place so much further."""
Span = tuple[int, int]
"""Characters of a text, from and to."""
_WORD = re.compile(r"[\w.\-/~]+|\S")


def place_of(section: Section, line: int) -> int:
    """Return the y of a logical line, in the order of the chat."""
    return section.serial * LINES + max(0, line)


def one_sided(selection: Selection) -> Selection:
    """Return a selection that begins and ends beside the lines of one section, or else nowhere beside lines."""
    start, end = selection
    places = [place for place in selection if place is not None]
    if len({place.y // BESIDE for place in places}) == 1 and len(places) == 2:
        return selection
    first, last = (
        place if place is None or place.y % LINES < BESIDE else Offset(0, place.y - BESIDE)
        for place in (start, end)
    )
    if first is not None and last is not None and (last.y, last.x) < (first.y, first.x):
        first, last = last, first + Offset(1, 0)  # it ended where it now begins, that sign included
    return Selection(first, last)


def is_beside(selection: Selection) -> bool:
    """Whether a selection lies beside the lines of one section."""
    start, end = selection
    return start is not None and end is not None and start.y % LINES >= BESIDE


def selected_text(transcript: Transcript, selection: Selection) -> str:
    """Return what a selection copies: whole sections as Markdown, the first and last cut to what is marked."""
    sections = transcript.sections
    if not sections:
        return ""
    start, end = one_sided(selection)
    first = 0 if start is None else _index(transcript, start.y)
    last = len(sections) - 1 if end is None else _index(transcript, end.y)
    text = ""
    for index in range(first, last + 1):
        section = sections[index]
        begins = start if index == first else None
        ends = end if index == last else None
        part = _part(transcript, section, begins, ends)
        if text:
            text += _between(sections[index - 1], section)
        text += part
    return text


def word_at(transcript: Transcript, place: Offset, *, whole_line: bool) -> Selection | None:
    """Return the selection of the word, or of the line, at a place."""
    section = transcript.by_serial(place.y // LINES)
    if section is None:
        return None
    lines = section.lines(transcript.width)
    number = place.y % BESIDE
    if number >= len(lines):
        return None
    text = lines[number].text if place.y % LINES < BESIDE else lines[number].beside or ""
    if whole_line:
        return Selection(Offset(0, place.y), Offset(len(text), place.y))
    for match in _WORD.finditer(text):
        if match.start() <= place.x < match.end():
            return Selection(Offset(match.start(), place.y), Offset(match.end(), place.y))
    return None


def with_places(row: Row, segments: Sequence[Segment], y: int) -> list[Segment]:
    """Return the segments, those of text with the place that the screen reads back."""
    x = row.x
    beside = dict(row.beside)
    placed: list[Segment] = []
    for at, segment in enumerate(segments):
        if at in beside:
            here = RichStyle.from_meta({"offset": (beside[at], y + BESIDE)})
            placed.append(Segment(segment.text, segment.style + here if segment.style else here))
        elif row.lead <= at < row.lead + row.body:
            here = RichStyle.from_meta({"offset": (x, y)})
            placed.append(Segment(segment.text, segment.style + here if segment.style else here))
            x += len(segment.text)
        else:
            placed.append(segment)
    return placed


def highlighted_row(row: Row, spans: Sequence[Span], style: RichStyle) -> Row:
    """Return the row with spans of its logical line restyled; an end of -1 is the line's end."""
    segments = list(row.segments[: row.lead])
    x = row.x
    for segment in row.segments[row.lead : row.lead + row.body]:
        segments += _restyled(segment, x, spans, style)
        x += len(segment.text)
    body = len(segments) - row.lead
    segments += row.segments[row.lead + row.body :]
    return Row(segments, row.line, row.x, row.lead, body, beside=row.beside)


def highlighted_beside(row: Row, spans: Sequence[Span], style: RichStyle) -> Row:
    """Return the row with spans of the text beside its logical line restyled."""
    begins = dict(row.beside)
    segments: list[Segment] = []
    beside: list[Span] = []
    for at, segment in enumerate(row.segments[: row.lead]):
        if at not in begins:
            segments.append(segment)
            continue
        x = begins[at]
        for part in _restyled(segment, x, spans, style):
            beside.append((len(segments), x))
            segments.append(part)
            x += len(part.text)
    lead = len(segments)
    segments += row.segments[row.lead :]
    return Row(segments, row.line, row.x, lead, row.body, beside=tuple(beside))


def _restyled(
    segment: Segment, x: int, spans: Sequence[Span], style: RichStyle
) -> Iterator[Segment]:
    """Yield a segment that begins with character ``x`` in parts, those in the spans with the style laid over."""
    text, own, _ = segment
    edges = {0, len(text)}
    for start, end in spans:
        edges |= {min(len(text), max(0, start - x))}
        edges |= {len(text) if end < 0 else min(len(text), max(0, end - x))}
    for begin, stop in pairwise(sorted(edges)):
        at = x + begin
        marked = any(start <= at and (end < 0 or at < end) for start, end in spans)
        painted = (own + style if own else style) if marked else own
        yield Segment(text[begin:stop], painted)


class SelectableTranscriptView(TranscriptView):
    """A transcript view whose text can be selected and copied."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._painting = False
        self._drag_began: Offset | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint without places: only the pointer needs them, and it asks for single rows."""
        self._painting = True
        try:
            return super().render_lines(crop)
        finally:
            self._painting = False

    def placed(self, section: Section, row: Row) -> list[Segment]:
        y = place_of(section, row.line)
        row = self.inked(section, row)
        if self.text_selection is not None and row.line >= 0:
            selection, style = one_sided(self.text_selection), self._inks.paint(("selected",))
            if span := selection.get_span(y):
                row = highlighted_row(row, [span], style)
            if row.beside and (span := selection.get_span(y + BESIDE)) and is_beside(selection):
                row = highlighted_beside(row, [span], style)
        row = self.inked_over(section, row)
        if self._painting:
            return row.segments
        return with_places(row, row.segments, y)

    def inked(self, section: Section, row: Row) -> Row:
        """Return the row with what else is marked in it."""
        del section
        return row

    def inked_over(self, section: Section, row: Row) -> Row:
        """Return the row with what is marked even where text is selected."""
        del section
        return row

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selected_text(self.transcript, selection), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        del selection
        self.refresh()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._drag_began = self._place_under(event.screen_x, event.screen_y)

    def on_mouse_up(self) -> None:
        self._drag_began = None

    def scrolled(self) -> None:
        """Let a selection that is being dragged grow with the scrolling."""
        if self._drag_began is not None and self.screen._selecting:
            self.call_next(self._extend_selection)

    def _extend_selection(self) -> None:
        place = self._place_under(*self.app.mouse_position)
        if self._drag_began is None or place is None:
            return
        self.screen.selections = {self: Selection.from_offsets(self._drag_began, place)}

    def _place_under(self, x: int, y: int) -> Offset | None:
        widget, place = self.screen.get_widget_and_offset_at(x, y)
        return place if widget is self and place is not None and place.y >= LINES else None

    def select_at(self, x: int, y: int, *, whole_line: bool) -> None:
        """Select the word, or the line, at a place of the screen."""
        place = self._place_under(x, y)
        chosen = word_at(self.transcript, place, whole_line=whole_line) if place else None
        if chosen is not None:
            self.screen.selections = {self: chosen}


def _index(transcript: Transcript, y: int) -> int:
    """Return the index of the section a place lies in, or of the nearest one that is left."""
    section = transcript.by_serial(y // LINES)
    if section is not None:
        return section.index
    later = [each.index for each in transcript.sections if each.serial > y // LINES]
    return later[0] if later else len(transcript) - 1


def _part(
    transcript: Transcript, section: Section, start: Offset | None, end: Offset | None
) -> str:
    if start is None and end is None:
        return section.source.strip("\n")
    lines = section.lines(transcript.width)
    if not lines:
        return ""
    if start is not None and end is not None and is_beside(Selection(start, end)):
        return _part_beside(lines, start, end)
    first = 0 if start is None else min(start.y % LINES, len(lines) - 1)
    last = len(lines) - 1 if end is None else min(end.y % LINES, len(lines) - 1)
    chosen = [line.text for line in lines[first : last + 1]]
    if end is not None and chosen:
        chosen[-1] = chosen[-1][: end.x]
    if start is not None and chosen:
        chosen[0] = chosen[0][start.x :]
    return "\n".join(text for text, line in zip(chosen, lines[first:], strict=False) if line.copied)


def _part_beside(lines: Sequence[Line], start: Offset, end: Offset) -> str:
    shown = lines[start.y % BESIDE : end.y % BESIDE + 1]
    whole = [line.beside for at, line in enumerate(shown) if not (line.goes_on and at)]
    chosen = [text for text in whole if text is not None]
    if chosen:
        chosen[-1] = chosen[-1][: end.x]
        chosen[0] = chosen[0][start.x :]
    return "\n".join(chosen)


def _between(above: Section, below: Section) -> str:
    """Return what separates two sections in copied text."""
    if isinstance(above, TextSection) and isinstance(below, TextSection):
        if above.group == below.group and not below.piece.gap:
            return "\n"
        return "\n\n"
    return "\n" if above.compact and below.compact else "\n\n"
