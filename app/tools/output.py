"""A command's output in bounded memory: its head and its tail whole, what lies between counted exactly."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from app.core.visible_text import visible_text
from app.tools.spool import Spool

HEAD_BYTES = 1_500_000
TAIL_BYTES = 500_000
LIVE_CHARS = 8_000
"""Most that is shown live at once; the rest of a flood is in the result."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What a command wrote."""

    text: str
    """Without escape sequences; where the middle was dropped, a line says how much."""
    lines: int
    """Lines of all it wrote."""
    dropped: int = 0
    """Bytes that were dropped."""
    replaced: int = 0
    """Characters that stand for bytes that are no UTF-8."""
    full: Callable[[], Iterator[str]] | None = None
    """Gives all of it piece by piece, when ``text`` is only a part; blocks, and works once."""


class Output:
    """Takes pieces of output and keeps the head and the tail in memory, and all of it on the disk when it is more."""

    def __init__(self, *, head: int = HEAD_BYTES, tail: int = TAIL_BYTES) -> None:
        self._head_limit = head
        self._tail_limit = tail
        self._head = bytearray()
        self._tail = bytearray()
        self._newlines = 0
        self._total = 0
        self._last = b""
        self._spool: Spool | None = None

    @property
    def total(self) -> int:
        """Bytes so far."""
        return self._total

    def add(self, data: bytes) -> None:
        """Take the next piece."""
        if not data:
            return
        self._total += len(data)
        self._newlines += data.count(b"\n")
        self._last = data[-1:]
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._keep(data)
            self._tail += data[-self._tail_limit :]
            if len(self._tail) > 2 * self._tail_limit:
                del self._tail[: -self._tail_limit]

    def _keep(self, data: bytes) -> None:
        """Keep what does not fit into the head, and the head before it."""
        if self._spool is None and not self._tail:
            with suppress(OSError):  # the head and the tail are there without it
                self._spool = Spool()
                self._spool.add(bytes(self._head))
        if self._spool is not None:
            self._spool.add(data)

    def collect(self) -> Collected:
        """Return all that was kept, and begin anew."""
        tail = bytes(self._tail[-self._tail_limit :])
        dropped = self._total - len(self._head) - len(tail)
        lines = self._newlines + (1 if self._total and self._last != b"\n" else 0)
        if dropped:
            head = bytes(self._head)
            lost = self._newlines - head.count(b"\n") - tail.count(b"\n")
            note = f"\n[… {dropped:,} bytes with {lost:,} line ends dropped here …]\n"
            first, second = head.decode("utf-8", "replace"), tail.decode("utf-8", "replace")
            text = f"{visible_text(first)}{note}{visible_text(second)}"
        else:
            first, second = (bytes(self._head) + tail).decode("utf-8", "replace"), ""
            text = visible_text(first)
        spool, self._spool = self._spool, None
        full = _all(spool, self._total, tail) if spool is not None and dropped else None
        replaced = first.count("\ufffd") + second.count("\ufffd")
        self._head.clear()
        self._tail.clear()
        self._newlines = self._total = 0
        self._last = b""
        return Collected(text, lines, dropped, replaced, full)


def _all(spool: Spool, total: int, tail: bytes) -> Callable[[], Iterator[str]]:
    def texts() -> Iterator[str]:
        yield from spool.texts()
        if not spool.is_whole:
            lost = total - spool.size - len(tail)
            yield f"\n[… {max(0, lost):,} bytes were not kept …]\n"
            yield visible_text(tail.decode("utf-8", "replace"))

    return texts


class LiveText:
    """Turns output into readable pieces as it comes; overwritten progress lines show their last state."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self._skipped = 0

    def add(self, data: bytes) -> None:
        """Take the next piece; of a flood only the end is kept."""
        self._pending += self._decoder.decode(data)
        if len(self._pending) > 2 * LIVE_CHARS:
            self._skipped += len(self._pending) - LIVE_CHARS
            self._pending = self._pending[-LIVE_CHARS:]

    def take(self, *, final: bool = False) -> str:
        """Return what can be shown now; an unfinished line that may still be overwritten waits."""
        if final:
            self._pending += self._decoder.decode(b"", final=True)
        end = self._pending.rfind("\n") + 1
        rest = self._pending[end:]
        waits = not final and ("\r" in rest or "\x1b" in rest)
        shown = self._pending[:end] if waits else self._pending
        self._pending = rest[rest.rfind("\r", 0, -1) + 1 :] if waits else ""
        text = visible_text(shown)
        if self._skipped:
            text = f"[… {self._skipped:,} characters not shown live …]\n{text}"
            self._skipped = 0
        return text
