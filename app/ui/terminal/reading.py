"""From the bytes of a terminal to keys and pastes: reports that nobody asked for, or that come broken, are left out."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS

from app.ui.terminal.reports import BARE, as_input

KEY_SECONDS = 0.1
"""How long the rest of an escape sequence may take; after that an escape alone is the Esc key."""
PASTE_SECONDS = 2.0
"""How long a paste may stand still before it counts as ended: its end mark got lost."""
STRAY_SECONDS = 1.0
"""How long the rest of a report that came in pieces is still recognised."""

MOST_OPEN = 8_192
"""A report longer than this is given up."""
PASTE_START, PASTE_END = "\x1b[200~", "\x1b[201~"
_SEQUENCE = re.compile(
    r"\x1b(?:"
    r"\[M[\s\S]{3}"  # mouse, in the oldest form
    r"|\[\[[A-E]"  # function keys of the Linux console
    r"|\[[0-?]*[ -/]*[@-LN-~]|\[[0-?]+[ -/]*M"  # CSI
    r"|[\]P_^X][^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, APC, PM, SOS
    r"|O[^\x1b]"  # SS3
    r"|[^\x1b\[O\]P_^X])"  # Alt and a character
)
_BROKEN = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*|[\]P_^X][^\x07\x1b\x9c]*)(?=[\x1b\x80-\U0010ffff\x00-\x1f\x7f])"
)
"""A sequence that something else cut short."""
_OPEN = re.compile(
    r"\x1b(?:\[M[\s\S]{0,2}|\[\[?|\[[0-?]*[ -/]*|[\]P_^X][^\x07\x1b\x9c]*\x1b?|O)?\Z"
)
"""A sequence whose end has not come."""
_REST_OF_MOUSE = re.compile(r"[\d;-]*[Mm]|[\d;-]+\Z")
_REST_OF_END = re.compile(r"\\")
_REST_OF_TEXT = re.compile(r"[ -~]{0,400}?(?:\x07|\x1b\\|\x9c)|[0-9a-fA-Frgb:;/]+\Z")
_NOT_TYPED = re.compile("[\x80-\x9f\ud800-\udfff]")
"""Controls of an eight-bit terminal, and bytes that were no text."""
_NO_TEXT = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Typed:
    """Keys and reports for the key parser."""

    text: str


@dataclass(frozen=True, slots=True)
class Escape:
    """The Esc key by itself."""


@dataclass(frozen=True, slots=True)
class Pasted:
    """A whole bracketed paste."""

    text: str


Read = Typed | Escape | Pasted


class TerminalReader:
    """Takes what the terminal sends, in pieces of any size, and gives keys and pastes.

    Time is monotonic seconds and comes from outside.
    """

    def __init__(self) -> None:
        self._open = ""
        """A sequence whose end has not come."""
        self._paste: list[str] | None = None
        """Pieces of the paste that is coming in."""
        self._stray: re.Pattern[str] | None = None
        """What may still follow of a report that was given up."""
        self._since = 0.0

    @property
    def waits(self) -> bool:
        """Whether something is held back that `idle` may release."""
        return bool(self._open) or self._paste is not None

    def feed(self, data: str, now: float) -> Iterator[Read]:
        """Yield what a piece of input means."""
        if self._stray is not None:
            rest = self._stray.match(data) if now - self._since < STRAY_SECONDS else None
            self._stray = None
            data = data[rest.end() :] if rest else data
        self._since = now
        data, self._open = self._open + data, ""
        while data:
            if self._paste is not None:
                data = yield from self._collect(self._paste, data)
                continue
            start = data.find("\x1b")
            if start:
                typed = data if start < 0 else data[:start]
                bare = BARE.search(data) if "[" in typed or "]" in typed else None
                if bare is not None and bare.start() < len(typed):
                    yield from _typed(data[: bare.start()])
                    data = data[bare.end() :]
                else:
                    yield from _typed(typed)
                    data = data[len(typed) :]
            else:
                data = yield from self._sequence(data)

    def idle(self, now: float) -> Iterator[Read]:
        """Yield what was held back and will not be continued; to be called while nothing comes in."""
        if self._paste is not None:
            if now - self._since >= PASTE_SECONDS:
                text, self._paste = "".join(self._paste) + self._open, None
                self._open = ""
                yield _pasted(text)
            return
        if not self._open or now - self._since < KEY_SECONDS:
            return
        held, self._open = self._open, ""
        self._since = now
        if held == "\x1b":
            yield Escape()
        elif len(held) == 2 or held in ANSI_SEQUENCES_KEYS:
            yield Typed(held)
        elif held.startswith(("\x1b[<", "\x1b[M")):
            self._stray = _REST_OF_MOUSE
        elif held[1] != "[":
            self._stray = _REST_OF_END if held.endswith("\x1b") else _REST_OF_TEXT

    def _sequence(self, data: str) -> Generator[Read, None, str]:
        """Take the escape sequence that ``data`` begins with; return the rest."""
        if found := _SEQUENCE.match(data):
            if found[0] == PASTE_START:
                self._paste = []
            elif kept := as_input(found[0]):
                yield Typed(kept)
            return data[found.end() :]
        if _OPEN.match(data):
            self._open = data if len(data) <= MOST_OPEN else ""
            return ""
        if broken := _BROKEN.match(data):
            return data[broken.end() :]
        yield Escape()
        return data[1:]

    def _collect(self, pieces: list[str], data: str) -> Generator[Read, None, str]:
        """Add to the paste that is coming in up to its end mark; return the rest."""
        text, mark, rest = data.partition(PASTE_END)
        if mark:
            self._paste = None
            yield _pasted("".join((*pieces, text)))
            return rest
        begun = next(
            (n for n in range(len(PASTE_END) - 1, 0, -1) if data.endswith(PASTE_END[:n])), 0
        )
        pieces.append(data[: len(data) - begun])
        self._open = data[len(data) - begun :]
        return ""


def _typed(text: str) -> Iterator[Typed]:
    text = _NOT_TYPED.sub("", text)
    if text:
        yield Typed(text)


def _pasted(text: str) -> Pasted:
    return Pasted(_NO_TEXT.sub("\ufffd", text))
