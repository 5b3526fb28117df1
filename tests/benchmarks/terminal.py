"""A program under a pseudo-terminal: what it draws, when, and what its process tree uses (Linux)."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

TICKS = os.sysconf("SC_CLK_TCK")
_ESCAPE = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_].*?(?:\x07|\x1b\\)|\x1b[ -/]*[0-Z\\^-~]", re.S
)
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*(?:\x1b)?|[ -/]*)?\Z", re.S)
_ANSWERS = (
    (b"\x1b[c", b"\x1b[?62;22c"),
    (b"\x1b[6n", b"\x1b[1;1R"),
    (b"\x1b[?2026$p", b"\x1b[?2026;2$y"),
    (b"\x1b]10;?", b"\x1b]10;rgb:dddd/dddd/dddd\x1b\\"),
    (b"\x1b]11;?", b"\x1b]11;rgb:1111/1111/1111\x1b\\"),
)
KEPT = 400_000
"""Bytes of drawn text that can be searched."""


class Terminal:
    """Runs a command in a terminal of its own until the `with` block ends."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        environ: Mapping[str, str],
        columns: int = 120,
        rows: int = 40,
    ) -> None:
        environ = {**environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self.drawn = b""
        """Text without escape sequences, in the order in which it was drawn."""
        self._pending = b""
        self.started = time.monotonic()
        self.pid, self._handle = pty.fork()
        if self.pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                os.chdir(folder)
                os.execve(command[0], list(command), environ)
            finally:
                os._exit(127)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for pid in reversed(self.processes()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._handle)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._handle, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def write(self, text: str) -> float:
        """Type; return when."""
        now = time.monotonic()
        os.write(self._handle, text.encode())
        return now

    def read(self, seconds: float) -> bool:
        """Wait for output at most so long; return whether some came."""
        if not select.select([self._handle], [], [], max(0.0, seconds))[0]:
            return False
        try:
            data = os.read(self._handle, 1 << 16)
        except OSError as error:
            raise EOFError(
                f"the program ended:\n{self.drawn[-2000:].decode(errors='replace')}"
            ) from error
        for asked, answer in _ANSWERS:
            if asked in data:
                os.write(self._handle, answer)
        data = self._pending + data
        cut = _UNFINISHED.search(data)
        self._pending = data[cut.start() :] if cut else b""
        data = data[: cut.start()] if cut else data
        self.take(data)
        self.drawn = (self.drawn + _ESCAPE.sub(b"", data))[-KEPT:]
        return True

    def take(self, data: bytes) -> None:
        """Get what the program wrote, whole escape sequences included; overridden where a screen is kept."""

    def shows(self, text: bytes) -> bool:
        """Whether a text was drawn since `forget`."""
        return text in self.drawn

    def wait_for(self, text: str, seconds: float = 30.0) -> float:
        """Return when a text was drawn since `forget`.

        Raises:
            TimeoutError: It was not drawn in time.
        """
        wanted, end = text.encode(), time.monotonic() + seconds
        while not self.shows(wanted):
            if time.monotonic() > end:
                raise TimeoutError(
                    f"{text!r} was not drawn:\n{self.drawn[-2000:].decode(errors='replace')}"
                )
            self.read(0.05)
        return time.monotonic()

    def forget(self) -> None:
        """Search only what is drawn from now on."""
        self.drawn = b""

    def rest(self, quiet: float, most: float = 30.0) -> float:
        """Wait until nothing was drawn for so long; return when the last output came."""
        last, end = time.monotonic(), time.monotonic() + most
        while time.monotonic() < min(last + quiet, end):
            if self.read(min(quiet, 0.05)):
                last = time.monotonic()
        return last

    def processes(self) -> list[int]:
        """The program and all that it started, in this order."""
        return descendants(self.pid)

    def cpu(self) -> float:
        """CPU seconds of these processes so far."""
        total = 0
        for pid in self.processes():
            with suppress(OSError):
                total += sum(map(int, _stat(pid)[11:15]))
        return total / TICKS

    def memory(self) -> float:
        """Resident megabytes of these processes."""
        total = 0
        for pid in self.processes():
            with suppress(OSError):
                status = Path(f"/proc/{pid}/status").read_text()
                found = re.search(r"^VmRSS:\s+(\d+)", status, re.M)
                total += int(found[1]) if found else 0
        return total / 1024


def descendants(root: int) -> list[int]:
    """The process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                children.setdefault(int(_stat(int(entry.name))[1]), []).append(int(entry.name))
    found, todo = [], [root]
    while todo:
        pid = todo.pop()
        found.append(pid)
        todo += children.get(pid, [])
    return found


def _stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the third on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
