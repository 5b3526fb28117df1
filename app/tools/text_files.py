"""Text files as bytes and back: encodings, byte-order marks and line ends, all kept as they are."""

from __future__ import annotations

import bisect
import codecs
import re
from dataclasses import dataclass, field

from app.errors import ToolError

SNIFF_BYTES = 8_192
"""How much of a file's start decides whether it is text."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def byte_order_mark(data: bytes) -> tuple[bytes, str]:
    """Return the mark that the data begins with and the encoding it stands for; (b"", "utf-8") without one."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return mark, encoding
    return b"", "utf-8"


def looks_binary(start: bytes) -> bool:
    """Whether a file that begins like this is no text: it has NUL bytes and no mark of a wide encoding."""
    mark, encoding = byte_order_mark(start)
    if mark and encoding != "utf-8":
        return False
    return b"\0" in start[:SNIFF_BYTES]


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file's text with all that is needed to write it back byte for byte."""

    text: str
    """Exactly what the bytes say, line ends included, without the mark."""
    mark: bytes = b""
    encoding: str = "utf-8"
    line_ends: LineEnds = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "line_ends", LineEnds(self.text))

    def encode(self, text: str) -> bytes:
        """Return the bytes of another text in the form of this file.

        Raises:
            ToolError: The text holds half of a surrogate pair, which no encoding can write.
        """
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise ToolError(
                f"the text holds a lone surrogate (character {error.start + 1}), which no file can hold"
            ) from error


def decode(data: bytes) -> TextFile:
    """Return the text of a file.

    Raises:
        ToolError: The file is binary or in an encoding that nothing in it names.
    """
    if looks_binary(data):
        raise ToolError("the file is binary")
    mark, encoding = byte_order_mark(data)
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        raise ToolError(
            f"the file is not valid {encoding.upper()} (byte {error.start + len(mark)}), so an edit could damage it; "
            "convert it first, for example with: iconv -f LATIN1 -t UTF-8"
        ) from error
    return TextFile(text, mark, encoding)


class LineEnds:
    """Where a text has CRLF line ends, so that it can be matched as if all were LF.

    Positions in ``plain`` (the text with each CRLF as one LF) and in the text itself are turned into each other.
    """

    def __init__(self, text: str) -> None:
        self._crlf = [found.start() for found in re.finditer("\r\n", text)]
        self._folded = [at - before for before, at in enumerate(self._crlf)]
        self._lf_only = text.count("\n") - len(self._crlf)
        self.plain = text.replace("\r\n", "\n") if self._crlf else text

    @property
    def is_mixed(self) -> bool:
        """Whether the text has both LF and CRLF."""
        return bool(self._crlf) and self._lf_only > 0

    @property
    def usual(self) -> str:
        """The line end that most lines have; LF when there is none."""
        return "\r\n" if len(self._crlf) > self._lf_only else "\n"

    @property
    def name(self) -> str:
        """How a person calls it: "LF", "CRLF" or "mixed LF and CRLF"."""
        if self.is_mixed:
            return "mixed LF and CRLF"
        return "CRLF" if self._crlf else "LF"

    def original(self, at: int) -> int:
        """Return the position in the text that ``at`` in ``plain`` stands for (before the CR of a CRLF)."""
        return at + bisect.bisect_left(self._folded, at)

    def end_at(self, at: int) -> str:
        """Return the line end that stands at position ``at`` of ``plain``, where there is an LF."""
        index = bisect.bisect_left(self._folded, at)
        is_crlf = index < len(self._folded) and self._folded[index] == at
        return "\r\n" if is_crlf else "\n"

    def end_near(self, at: int) -> str:
        """Return the line end of the line that holds position ``at`` of ``plain``; of the one before at the end."""
        after = self.plain.find("\n", at)
        if after >= 0:
            return self.end_at(after)
        before = self.plain.rfind("\n", 0, at)
        return self.end_at(before) if before >= 0 else self.usual
