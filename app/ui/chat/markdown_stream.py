"""Streamed Markdown cut into finished pieces, so that each is parsed and drawn once and all of it in linear time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

CODE_SLICE = 1_024
"""Characters of an open fence that make a piece: colouring the live one again must not hold up keys."""
BITE = 4_096
"""Characters of a text that is there as a whole which are cut at once."""
SMALL_TAIL = 2_048
"""A tail up to this many characters is parsed again at every line; a larger one after it grew by a quarter."""
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`\n]*(?:\n|\Z))|~{3,})[ \t]*([^\n]*)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|\Z)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of whole blocks, or a slice of one code fence. The sources of all pieces join to what was fed."""

    source: str
    gap: bool = True
    """Whether a blank row stands above it."""
    code: str | None = None
    """The lines of a fence's slice without its marks, or None for Markdown."""
    language: str = ""
    first: bool = True
    """For code: whether the fence opens here."""
    last: bool = True
    """For code: whether the fence ends here."""
    number: int | None = None
    """What the first item of a list that goes on here is numbered, or None to count as written."""
    head: str = ""
    """The first rows of a table that goes on here: they name its columns and set their widths."""


def block_parser() -> MarkdownIt:
    """Return a parser for the Markdown that models write."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


class MarkdownSplitter:
    """Takes text as it streams and gives back pieces as they finish.

    Attributes:
        environment: Link definitions seen so far, for the parser that draws the pieces.
    """

    def __init__(self, parser: MarkdownIt | None = None, code_slice: int = CODE_SLICE) -> None:
        self._parser = parser or block_parser()
        self._code_slice = code_slice
        self.environment: dict[str, object] = {}
        self._parts: list[str] = []
        self._gap = False
        self._number: int | None = None
        self._parsed = 0
        """Length of the whole lines at the last parse."""
        self._fence: _OpenFence | None = None
        self._head = ""
        """First slice of the table that goes on in the tail."""

    @property
    def tail(self) -> str:
        """What belongs to no finished piece yet."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    @property
    def rest(self) -> Piece | None:
        """The unfinished tail as a piece to draw now, or None when there is nothing."""
        tail = self.tail
        if not tail:
            return None
        if self._fence is None:
            return self._markdown(tail)
        return self._fence.piece(tail, self._gap, last=False)

    def feed(self, text: str) -> list[Piece]:
        """Add text and return the pieces that it finished, oldest first."""
        self._parts.append(text)
        pieces: list[Piece] = []
        if "\n" not in text:
            return pieces
        while True:
            inside = self._fence
            pieces += self._cut_fence(inside) if inside else self._cut_blocks()
            if self._fence is inside:
                return pieces

    def close(self) -> list[Piece]:
        """Return the rest as pieces; the splitter is empty afterwards."""
        tail, pieces = self.tail, []
        if tail and self._fence is not None:
            closing = self._fence.closing.search(tail, self._fence.searched)
            pieces.append(self._fence.piece(tail, self._gap, last=closing is not None))
        elif tail:
            pieces.append(self._markdown(tail))
        self._parts, self._fence, self._number, self._parsed = [], None, None, 0
        self._head = ""
        return pieces

    def _cut_blocks(self) -> list[Piece]:
        """Cut in front of the last top-level block or list item; enter a fence that is still open."""
        tail = self.tail
        end = tail.rfind("\n") + 1
        if end > SMALL_TAIL and end - self._parsed < self._parsed // 4:
            return []
        columns = "".join(self._head.splitlines(keepends=True)[:2])
        lines = (columns + tail[:end]).split("\n")
        cut = _last_block(self._blocks(columns + tail[:end]), lines, self._number)
        pieces: list[Piece] = []
        at = sum(len(line) + 1 for line in lines[: cut.line]) - len(columns)
        if at > 0 and not (cut.inside_table and end < SMALL_TAIL):
            pieces.append(self._markdown(tail[:at]))
            self._parts = [tail[at:]]
            self._number = cut.number
            self._gap = _gap_after(tail[:at], inside_list=cut.inside_list) and not cut.inside_table
            if not cut.inside_table:
                self._head = ""
            elif not self._head:
                self._head = tail[:at].lstrip("\n")
        else:
            at = 0
        self._parsed = end - at
        if cut.fence:
            self._fence = _OpenFence.of(cut.fence)
        return pieces

    def _markdown(self, source: str) -> Piece:
        return Piece(source, self._gap, number=self._number, head=self._head)

    def _cut_fence(self, fence: _OpenFence) -> list[Piece]:
        """Cut the fence if it is closed, else what of it makes a slice."""
        tail = self.tail
        end = tail.rfind("\n") + 1
        match = fence.closing.search(tail, fence.searched, end)
        if match is None and end < self._code_slice:
            fence.searched = end
            return []
        at = end if match is None else match.end() + 1
        piece = fence.piece(tail[:at], self._gap, last=match is not None)
        self._parts = [tail[at:]]
        self._gap = match is not None
        fence.opened, fence.searched = False, 0
        if match is not None:
            self._fence, self._parsed, self._number = None, 0, None
        return [piece]

    def _blocks(self, source: str) -> list[Token]:
        """Return the block tokens, without parsing what stands inside the lines."""
        from markdown_it.rules_core import StateCore
        from markdown_it.rules_core.block import block
        from markdown_it.rules_core.normalize import normalize

        state = StateCore(source, self._parser, self.environment)
        normalize(state)
        block(state)
        return state.tokens


@dataclass(slots=True)
class _OpenFence:
    """A code fence whose end has not come."""

    closing: re.Pattern[str]
    language: str
    indent: int
    searched: int
    """Up to where the tail was searched for the end."""
    opened: bool = True
    """Whether the first line is still in the tail."""

    @classmethod
    def of(cls, line: str) -> _OpenFence:
        """Return the fence that a line opens."""
        match = _FENCE.match(line)
        assert match is not None
        info = match[2].split()
        return cls(
            _closing(match[1]), info[0] if info else "", match.start(1), searched=len(line) + 1
        )

    def piece(self, source: str, gap: bool, *, last: bool) -> Piece:
        """Return a slice of the fence as a piece."""
        inside = source
        if self.opened:
            inside = source[source.find("\n") + 1 :] if "\n" in source else ""
        start = inside.rstrip("\n").rfind("\n") + 1
        if last or not inside[start:].strip(" `~"):
            inside = inside[:start]
        if self.indent:
            inside = re.sub(rf"(?m)^ {{1,{self.indent}}}", "", inside)
        return Piece(source, gap, inside, self.language, self.opened, last)


@dataclass(frozen=True, slots=True)
class _Cut:
    """Where a tail may be cut."""

    line: int = 0
    """First line that stays; 0 cuts nothing."""
    fence: str = ""
    """First line of the fence that stays open there."""
    inside_list: bool = False
    inside_table: bool = False
    number: int | None = None
    """What the first item behind the cut is numbered."""


def split_markdown(source: str) -> list[Piece]:
    """Return the pieces of a whole text; a short one stays in one piece."""
    if len(source) <= 2 * BITE:
        return [Piece(source, False)] if source else []
    splitter = MarkdownSplitter(code_slice=BITE)
    pieces = []
    for at in range(0, len(source), BITE):
        pieces += splitter.feed(source[at : at + BITE])
    return pieces + splitter.close()


def _last_block(tokens: list[Token], lines: list[str], number: int | None) -> _Cut:
    """Return where to cut in front of the last top-level block, or of the last item of a list."""
    last = max(
        (at for at, token in enumerate(tokens) if token.level == 0 and token.map), default=-1
    )
    if last < 0:
        return _Cut()
    block = tokens[last]
    start, end = block.map or (0, 0)
    kept = number if not start else None
    if block.type == "fence":
        match = _FENCE.match(lines[start])
        is_open = match is not None and not any(
            _closing(match[1]).match(line) for line in lines[start + 1 : end][-2:]
        )
        return _Cut(start, lines[start] if is_open else "")
    if block.type in ("bullet_list_open", "ordered_list_open"):
        items = [
            t.map[0] for t in tokens[last:] if t.type == "list_item_open" and t.level == 1 and t.map
        ]
        if block.type == "ordered_list_open":
            first = kept if kept is not None else int(block.attrGet("start") or 1)
            kept = first + len(items) - 1
        if len(items) > 1:
            return _Cut(items[-1], inside_list=True, number=kept)
    if block.type == "table_open":
        rows = [t.map[0] for t in tokens[last:] if t.type == "tr_open" and t.map]
        if start == 0 and len(rows) > 2:
            return _Cut(rows[-1], inside_table=True)
    return _Cut(start, number=kept)


def _closing(mark: str) -> re.Pattern[str]:
    return re.compile(rf"^ {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$", re.MULTILINE)


def _gap_after(source: str, *, inside_list: bool) -> bool:
    """Whether a blank row follows a finished piece: always, but behind headings and within tight lists."""
    if inside_list:
        return source.endswith("\n\n")
    stripped = source.rstrip("\n")
    return not _HEADING.match(stripped[stripped.rfind("\n") + 1 :])
