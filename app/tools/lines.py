"""Pages of a file by whole lines, read as a stream so that size does not matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

from app.core.tokens import chars_that_fit, estimate_text

CHUNK_BYTES = 1_000_000
COUNTED_BYTES = 512_000_000
"""The total number of lines is only counted in files up to this size."""
LINE_TOKENS = 2.0
"""Room that a line's number and end take."""
NUMBER_MARK = "│"
"""Between a line's number and its text, without a blank."""
BYTES_PER_TOKEN = 8
"""More than any text has, so that a longer line surely does not fit."""

_LATIN = {0xDC00 + byte: byte for byte in range(0x80, 0x100)} | {0: 0x2400}
"""Bytes that are no UTF-8, as Latin-1 characters; NUL as its symbol."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some lines of a file."""

    lines: tuple[str, ...]
    """Without line ends."""
    first: int
    """Number of the first line, from 1."""
    total: int | None
    """Lines of the file; None when it is too large to count."""
    column: int = 1
    """Character of the first line that its text begins with, from 1."""
    next_column: int = 0
    """Where the only line of this page goes on; 0 when its end was reached."""
    is_lossy: bool = False
    """Whether some bytes are no UTF-8 and are shown as Latin-1."""
    has_crlf: bool = False
    ends_file: bool = True
    """Whether nothing follows."""

    @property
    def last(self) -> int:
        """Number of the last line; ``first - 1`` when the page is empty."""
        return self.first + len(self.lines) - 1

    @property
    def numbered(self) -> str:
        """The lines, each behind its number and `NUMBER_MARK`."""
        numbers = range(self.first, self.last + 1)
        pairs = zip(numbers, self.lines, strict=True)
        return "\n".join(f"{number}{NUMBER_MARK}{line}" for number, line in pairs)


def read_page(
    file: BinaryIO, *, offset: int = 1, limit: int | None = None, tokens: float, column: int = 1
) -> Page:
    """Return the lines from ``offset`` on that fit into a page.

    Args:
        file: A seekable stream of UTF-8, or of bytes that are shown as Latin-1 where they are not.
        offset: First line, from 1.
        limit: Most lines, or None.
        tokens: Room of the page, in estimated tokens; a first line that is longer is shown in part.
        column: Character of the first line to begin with, from 1.
    """
    before = _go_to(file, offset)
    position = file.tell()
    most = int(tokens * BYTES_PER_TOKEN) + 4 * column
    taken: list[str] = []
    room, next_column = tokens, 0
    lossy = crlf = False
    while before == offset - 1 and (limit is None or len(taken) < limit):
        raw = file.readline(most)
        if not raw:
            break
        whole = raw.endswith(b"\n") or len(raw) < most
        text, is_latin = _text(raw if whole else _whole_characters(raw))
        start = column - 1 if not taken else 0
        cost = estimate_text(text[start:]) + LINE_TOKENS
        fits = whole and cost <= room
        if taken and not fits:
            break
        lossy = lossy or is_latin
        crlf = crlf or raw.endswith(b"\r\n")
        if not fits:
            piece = max(1, chars_that_fit(text[start:], room))
            taken.append(text[start : start + piece])
            if not whole or start + piece < len(text):
                next_column = column + piece
                break
        else:
            taken.append(text[start:])
        position = file.tell()
        room -= cost
    total = _count_rest(file, position, before + len(taken) - bool(next_column))
    more = bool(next_column) or (total is None or total > before + len(taken))
    return Page(tuple(taken), offset, total, column, next_column, lossy, crlf, not more)


def _go_to(file: BinaryIO, line: int) -> int:
    """Move to the start of a line; return how many lines stand before the place reached."""
    passed = position = 0
    last = b"\n"
    while passed < line - 1:
        chunk = file.read(CHUNK_BYTES)
        if not chunk:
            return passed + (last != b"\n")
        wanted = line - 1 - passed
        held = chunk.count(b"\n")
        if held >= wanted:
            at = -1
            for _ in range(wanted):
                at = chunk.find(b"\n", at + 1)
            file.seek(position + at + 1)
            return line - 1
        passed += held
        position += len(chunk)
        last = chunk[-1:]
    return passed


def _count_rest(file: BinaryIO, position: int, before: int) -> int | None:
    """Return the lines of the whole file, of which ``before`` end at ``position``."""
    size = file.seek(0, 2)
    if size > COUNTED_BYTES:
        return None
    file.seek(position)
    last = b"\n"
    while chunk := file.read(CHUNK_BYTES):
        before += chunk.count(b"\n")
        last = chunk[-1:]
    return before + (last != b"\n")


def _text(raw: bytes) -> tuple[str, bool]:
    """A line without its end, and whether some of it is no UTF-8."""
    line = raw.removesuffix(b"\n").removesuffix(b"\r") if raw.endswith(b"\n") else raw
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("utf-8", "surrogateescape").translate(_LATIN), True
    return (text.replace("\0", "\u2400") if "\0" in text else text), False


def _whole_characters(data: bytes) -> bytes:
    """Leave out a character that a cut at the end split."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            length = 1 if byte < 0xC0 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if length > back else data
    return data
