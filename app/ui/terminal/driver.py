"""The terminal's driver: Textual's, with input read without stray reports and every mode put back at the end."""

from __future__ import annotations

import asyncio
import os
import selectors
import signal
import termios
import time
from codecs import getincrementaldecoder
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, TextIO

from textual import events
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from app.ui.terminal.notices import GIVE_TITLE_BACK, KEEP_TITLE
from app.ui.terminal.reading import Escape, Pasted, Read, TerminalReader, Typed

READ_BYTES = 65_536
REST_SECONDS = 0.1
"""How long a look for input waits at most."""
HELD_SECONDS = 0.02
"""The same while a sequence is open."""
MODES_OFF = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l\x1b[?2048l"
"""Every kind of mouse report and of size report, also those that an earlier program left switched on."""


class Lasting:
    """A terminal to write to that may go away: what is written then is lost, and nothing fails.

    Textual writes in a thread of its own; a failure would end that thread, and whoever writes next waits for ever.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write as far as that is possible."""
        with suppress(OSError, ValueError):
            return self._file.write(text)
        return 0

    def flush(self) -> None:
        """Pass on what was written, as far as that is possible."""
        with suppress(OSError, ValueError):
            self._file.flush()

    def fileno(self) -> int:
        """Return the terminal's descriptor."""
        return self._file.fileno()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._file.isatty()


class PalDriver(LinuxDriver):
    """Keys, mouse and pastes of a terminal on Linux and macOS."""

    def __init__(
        self,
        app: App[Any],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._file = Lasting(self._file)  # type: ignore[assignment,arg-type]

    is_on = False
    """Whether the terminal is ours now."""

    def start_application_mode(self) -> None:
        """Begin, with line editing mended first when a killed program left the terminal raw."""
        mend_line_editing(self.fileno)
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self.write(KEEP_TITLE)
        self.is_on = True
        self._take_signals_between_events()

    def stop_application_mode(self) -> None:
        """Put the terminal back as it was."""
        super().stop_application_mode()
        self.write(MODES_OFF + GIVE_TITLE_BACK)
        self.flush()
        self.is_on = False

    def resume_application_mode(self) -> None:
        """Begin again after a stop; one that was not announced left everything switched on.

        A terminal that is closed sends the signal to go on too, behind the one that ends the program: what began then
        would never be stopped, and its threads would keep the process.
        """
        if self._app._exit or not self._app.is_running:
            return
        if self.is_on:
            self.suspend_application_mode()
            self._must_signal_resume = True
        super().resume_application_mode()

    def _take_signals_between_events(self) -> None:
        """Stop and go on from the event loop.

        Textual does so wherever the program stands when the signal comes; in the midst of a write that would wait for
        ever for the lock that this very write holds.
        """
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTSTP, self._sigtstp_application)
        loop.add_signal_handler(signal.SIGCONT, self._sigcont_application)

    def run_input_thread(self) -> None:
        """Read until the driver stops."""
        reader, parser = TerminalReader(), XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")("surrogateescape").decode
        with selectors.DefaultSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(HELD_SECONDS if reader.waits else REST_SECONDS):
                    if not (
                        data := self._read()
                    ):  # the terminal is gone; what ends the program comes as a signal
                        self.exit_event.wait(REST_SECONDS)
                        continue
                    self._pass_on(reader.feed(decode(data), time.monotonic()), parser)
                else:
                    self._pass_on(reader.idle(time.monotonic()), parser)
                for message in parser.tick():
                    self.process_message(message)

    def _is_outside(self, message: Message) -> bool:
        """Whether it is a mouse report from outside of the screen, which would take the focus from the prompt."""
        if not isinstance(message, events.MouseEvent):
            return False
        width, height = self._app.size
        return message.screen_x >= width or message.screen_y >= height

    def _read(self) -> bytes:
        try:
            return os.read(self.fileno, READ_BYTES)
        except OSError:
            return b""

    def _pass_on(self, read: Iterable[Read], parser: XTermParser) -> None:
        for what in read:
            match what:
                case Typed(text):
                    for message in parser.feed(text):
                        if not self._is_outside(message):
                            self.process_message(message)
                case Escape():
                    self.process_message(events.Key("escape", "\x1b"))
                case Pasted(text):
                    self.process_message(events.Paste(text))


def mend_line_editing(handle: int) -> None:
    """Switch on echo and line editing when a killed program left them off: the end would restore them as off."""
    try:
        attributes = termios.tcgetattr(handle)
    except termios.error:
        return
    wanted = termios.ECHO | termios.ICANON
    if attributes[3] & wanted == wanted:
        return
    attributes[0] |= termios.ICRNL | termios.IXON
    attributes[3] |= wanted | termios.IEXTEN | termios.ISIG
    termios.tcsetattr(handle, termios.TCSANOW, attributes)
