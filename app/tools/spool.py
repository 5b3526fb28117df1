"""All that a command wrote, on the disk, when it is more than fits in memory."""

from __future__ import annotations

import codecs
import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from app.core.visible_text import visible_text

SPOOL_BYTES = 60_000_000
"""Most that is kept of one command; what comes after is only counted."""
BLOCK_BYTES = 256_000
PIECE_CHARS = 1_000_000
"""Longest part of a line that is handed on at once."""


class Spool:
    """A file without a name; it is gone when nobody holds this value any more."""

    def __init__(self) -> None:
        self._handle, name = tempfile.mkstemp(prefix="pal-output-")
        weakref.finalize(self, os.close, self._handle)
        with suppress(OSError):
            Path(name).unlink()
        self.size = 0
        self.is_whole = True
        """Whether all that came was kept."""

    def add(self, data: bytes) -> None:
        """Keep the next piece, as far as there is room."""
        rest = memoryview(data)[: SPOOL_BYTES - self.size]
        self.is_whole = self.is_whole and len(rest) == len(data)
        try:
            while rest:
                written = os.write(self._handle, rest)
                self.size += written
                rest = rest[written:]
        except OSError:
            self.is_whole = False

    def texts(self) -> Iterator[str]:
        """Yield what was kept as readable text, by whole lines where they are not too long. Blocks."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        pending, offset = "", 0
        while block := os.pread(self._handle, BLOCK_BYTES, offset):
            offset += len(block)
            pending += decoder.decode(block)
            end = pending.rfind("\n") + 1
            if not end and len(pending) > PIECE_CHARS:
                end = len(pending)
            if end:
                yield visible_text(pending[:end])
                pending = pending[end:]
        yield visible_text(pending + decoder.decode(b"", final=True))
