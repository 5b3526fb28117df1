"""The answer that is streaming: text becomes sections as its blocks finish, and only the last one is live."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from app.core.visible_text import VisibleStream
from app.ui.chat.code_highlighting import MOST
from app.ui.chat.entries import Section, TextSection, ThinkingSection, UnreadSection
from app.ui.chat.markdown_rendering import shared_parser
from app.ui.chat.markdown_stream import MarkdownSplitter, Piece
from app.ui.chat.transcript import Transcript

BITE = 2_048
"""Characters taken in at once, so that no section becomes long."""
LONG_TAIL = 4_096
"""Characters of an unfinished block from which on it is laid out again only after growth by a quarter."""
Merged = tuple[list[Section], Section, list[int]]
"""Sections that became one, that one, and the rows each had."""


class LiveAnswer:
    """One answer from its request to its last word.

    Text is only collected as it arrives and taken in by `update`, once for each draw.

    Attributes:
        sections: What it added to the transcript, oldest first.
    """

    def __init__(self, transcript: Transcript, groups: count[int]) -> None:
        self._transcript = transcript
        self._groups = groups
        self.sections: list[Section] = []
        self._incoming: list[str] = []
        self._text: VisibleStream | None = None
        self._splitter: MarkdownSplitter | None = None
        self._group = 0
        self._tail: TextSection | None = None
        self._slices: list[TextSection] = []
        """Sections of the fence that is open."""
        self._growth: list[UnreadSection] = []
        """What came behind a long tail since that was laid out."""
        self._grown = 0
        """Characters of the tail and of its growth."""
        self._thinking: ThinkingSection | None = None
        self._thought: VisibleStream | None = None

    def add_text(self, text: str) -> None:
        """Take a piece of text."""
        self._end_thinking()
        self._incoming.append(text)

    def add_thinking(self, text: str, *, shown: bool) -> None:
        """Take a piece of thinking; a new stretch of it is unfolded where it is to be ``shown``."""
        if self._incoming or self._splitter is not None:
            self._end_text()
        if self._thinking is None or self._thought is None:
            self._thinking, self._thought = ThinkingSection(), VisibleStream()
            self._thinking.live = True
            if shown:
                self._thinking.toggle()
            self._append(self._thinking)
        self._thinking.parts.append(self._thought.feed(text))
        self._transcript.changed(self._thinking)

    def update(self) -> Merged | None:
        """Bring the sections up to date with the text that came; tell which ones became one."""
        if not self._incoming:
            return None
        if self._splitter is None or self._text is None:
            self._splitter, self._text = MarkdownSplitter(shared_parser()), VisibleStream()
            self._group = next(self._groups)
        text = self._text.feed("".join(self._incoming))
        self._incoming.clear()
        merged: Merged | None = None
        for at in range(0, len(text), BITE):
            merged = self._take(self._splitter.feed(text[at : at + BITE])) or merged
        rest = self._splitter.rest
        if rest is not None:
            merged = self._show_rest(rest) or merged
        return merged

    def settle(self) -> None:
        """Close what is open: something else comes below it."""
        self._end_thinking()
        self._end_text()

    def finish(self, message: int = 0) -> None:
        """Close the answer; ``message`` is its number in the record, 0 when it is not in there."""
        self.settle()
        if self.sections:
            self.sections[0].begins = message

    def void(self) -> list[Section]:
        """Take back everything and return it."""
        gone = self.sections
        self._transcript.remove(sorted(gone, key=lambda section: section.serial))
        self.sections = []
        return gone

    def _end_thinking(self) -> None:
        if self._thinking is None or self._thought is None:
            return
        self._thinking.parts.append(self._thought.close())
        self._thinking.live = False
        self._transcript.changed(self._thinking)
        self._thinking = self._thought = None

    def _end_text(self) -> None:
        self.update()
        if self._splitter is None or self._text is None:
            return
        self._take(self._splitter.feed(self._text.close()))
        self._take(self._splitter.close())
        self._splitter = self._text = None

    def _take(self, pieces: Sequence[Piece]) -> Merged | None:
        merged: Merged | None = None
        for piece in pieces:
            merged = self._show_tail(piece) or merged
            section, self._tail = self._tail, None
            if piece.code is None or section is None:
                self._slices = []
                continue
            self._slices.append(section)
            if piece.last:
                merged = self._merge() or merged
        return merged

    def _show_rest(self, piece: Piece) -> Merged | None:
        """Show the block that is not finished.

        A long one is laid out seldom, and its newest words stand below it as they came: so the work stays in
        proportion to the text, whatever one block holds.
        """
        source = piece.source
        if piece.code is not None or len(source) <= LONG_TAIL:
            return self._show_tail(piece)
        shown = len(self._tail.piece.source) if self._tail is not None else 0
        merged: Merged | None = None
        if self._tail is None or len(source) - shown > shown // 4:
            whole_lines = source.rfind("\n") + 1 or len(source)
            merged = self._show_tail(replace(piece, source=source[:whole_lines]))
        self._grow(source[self._grown :])
        return merged

    def _grow(self, text: str) -> None:
        assert self._tail is not None
        self._grown += len(text)
        last = self._growth[-1] if self._growth else None
        if not text:
            return
        if last is not None and (len(last.source) < BITE or not last.source.endswith("\n")):
            last.piece = replace(last.piece, source=last.source + text)
            self._transcript.changed(last)
            return
        more = UnreadSection(Piece(text, False), self._tail.environment, self._group)
        self._growth.append(more)
        self._append(more)

    def _show_tail(self, piece: Piece) -> Merged | None:
        """Lay the block out; tell what became part of it."""
        merged = self._take_growth()
        self._grown = len(piece.source)
        if self._tail is not None:
            if self._tail.piece != piece:
                self._tail.piece = piece
                self._transcript.changed(self._tail)
            return merged
        assert self._splitter is not None
        self._tail = TextSection(piece, self._splitter.environment, self._group)
        self._append(self._tail)
        return merged

    def _take_growth(self) -> Merged | None:
        growth, self._growth = self._growth, []
        if not growth or self._tail is None:
            return None
        parts: list[Section] = [self._tail, *growth]
        rows = [self._transcript.height(each.index) for each in parts]
        self._remove(growth)
        return parts, self._tail, rows

    def _merge(self) -> Merged | None:
        """Make one section of a closed fence, so that its code is coloured as a whole."""
        slices, self._slices = self._slices, []
        pieces = [each.piece for each in slices]
        code = "".join(piece.code or "" for piece in pieces)
        if len(slices) < 2 or len(code) > MOST:
            return None
        rows = [self._transcript.height(each.index) for each in slices]
        first = slices[0]
        source = "".join(piece.source for piece in pieces)
        first.piece = Piece(source, pieces[0].gap, code, pieces[0].language)
        self._remove(slices[1:])
        self._transcript.changed(first)
        return list(slices), first, rows

    def _remove(self, sections: Sequence[Section]) -> None:
        gone = {id(each) for each in sections}
        self._transcript.remove(sections)
        self.sections = [each for each in self.sections if id(each) not in gone]

    def _append(self, section: Section) -> None:
        self.sections.append(section)
        self._transcript.append(section)
