"""A terminal for a real program: a pty on one side, a pyte screen on the other."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyte

KEYS = {
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "backspace": "\x7f",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "page up": "\x1b[5~",
    "page down": "\x1b[6~",
    "f1": "\x1bOP",
    **{f"ctrl+{letter}": chr(ord(letter) - 96) for letter in "abcdefghijklmnopqrstuvwxyz"},
}
_UNKNOWN_TO_PYTE = re.compile(
    r"\x1b\[[<=>][0-9;]*[a-z]|\x1b\[\?[0-9;]*(?:\$p|u)|\x1bP[^\x1b]*\x1b\\"
)
_CUT = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|P[^\x1b]*\x1b?)?\Z")
PATIENCE = 30.0
"""Seconds to wait for what should be there much earlier; a loaded machine is slow."""


class NotShown(AssertionError):
    """What was waited for did not come; the message holds the last screen."""


class Terminal:
    """A program in a terminal of its own."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        columns: int = 120,
        rows: int = 40,
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self.raw = bytearray()
        """Every byte that the program wrote."""
        self._stream = pyte.Stream(self.screen)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._master, slave = pty.openpty()
        self._set_size(columns, rows)
        self._outer = termios.tcgetattr(slave)
        self._slave = slave
        self.process: Any = self.start(argv, cwd, env, slave)

    def start(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], slave: int) -> Any:
        """Start the program in the terminal; return what has the methods of a `Popen`."""
        return subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=dict(env),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def text(self) -> str:
        """The screen as lines without the blanks at their ends."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    def line_with(self, needle: str) -> str:
        """The last line of the screen that holds a text; "" when none does."""
        return next((line for line in reversed(self.lines) if needle in line), "")

    def type(self, text: str) -> None:
        """Send text as keys."""
        self._write(text.encode())

    def press(self, *keys: str) -> None:
        """Send keys by name, or a letter by itself."""
        for key in keys:
            self._write(KEYS.get(key, key).encode())
            self.pump(0.05 if key == "escape" else 0.0)

    def say(self, text: str) -> None:
        """Type a message and send it once it stands in the prompt."""
        self.type(text)
        tail = text[-12:]
        self.until(lambda: tail in self.text, f"the typed text {tail!r}")
        self.press("enter")

    def wait_for(self, *needles: str, seconds: float = PATIENCE) -> None:
        """Read until the screen holds all of these texts."""
        self.until(
            lambda: all(needle in self.text for needle in needles), str(needles), seconds=seconds
        )

    def wait_gone(self, needle: str, seconds: float = PATIENCE) -> None:
        """Read until a text is not on the screen any more."""
        self.until(lambda: needle not in self.text, f"no {needle!r}", seconds=seconds)

    def until(
        self, holds: Callable[[], bool], what: str = "that", *, seconds: float = PATIENCE
    ) -> None:
        """Read until something holds.

        Raises:
            NotShown: It does not hold in time, or the program ended before.
        """
        deadline = time.monotonic() + seconds
        while not holds():
            ended = self.process.poll() is not None
            if time.monotonic() > deadline or (ended and not self.pump(0.0)):
                why = f"the program ended with {self.process.returncode}" if ended else "too late"
                raise NotShown(f"{why}: waited for {what}\n{self.text}")
            self.pump(0.05)

    def pump(self, seconds: float) -> bool:
        """Read what comes within some seconds; return whether anything came."""
        came = False
        while select.select([self._master], [], [], 0.0 if came else seconds)[0]:
            try:
                data = os.read(self._master, 65_536)
            except OSError:
                return came
            if not data:
                return came
            came = True
            self._show(data)
        return came

    def read_for(self, seconds: float) -> None:
        """Read whatever comes for some time."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.pump(left)

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size and tell the program."""
        self.screen.resize(rows, columns)
        self._set_size(columns, rows)
        os.killpg(self.process.pid, signal.SIGWINCH)

    def exit_code(self, seconds: float = PATIENCE) -> int:
        """Read until the program has ended and return its exit code."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            if time.monotonic() > deadline:
                raise NotShown(f"the program still runs\n{self.text}")
            self.pump(0.05)
        self.pump(0.0)
        return self.process.returncode

    @property
    def is_restored(self) -> bool:
        """Whether the line discipline is as it was before the program began."""
        return termios.tcgetattr(self._slave) == self._outer

    def memory(self, field: str = "VmRSS") -> float:
        """Resident memory in MB: now (`VmRSS`) or at its highest (`VmHWM`). Linux only."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(rf"^{field}:\s+(\d+) kB", status, re.M)
        assert found, status
        return int(found[1]) / 1024

    def close(self) -> None:
        """End the program, if it still runs, and let go of the terminal."""
        if self.process.poll() is None:
            self.process.terminate()
            deadline = time.monotonic() + 5
            while self.process.poll() is None and time.monotonic() < deadline:
                self.pump(0.05)
            if self.process.poll() is None:
                self.process.kill()
        self.process.wait()
        os.close(self._slave)
        os.close(self._master)

    def _write(self, data: bytes) -> None:
        while data:
            written = os.write(self._master, data[:512])
            data = data[written:]
            self.pump(0.0)

    def _show(self, data: bytes) -> None:
        self.raw += data
        text = self._decoder.decode(data)
        text = _UNKNOWN_TO_PYTE.sub("", self._held + text)
        cut = _CUT.search(text)
        self._held = text[cut.start() :] if cut else ""
        self._stream.feed(text[: cut.start()] if cut else text)

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
