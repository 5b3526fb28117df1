"""Which escape sequences from a terminal are keys or wanted reports; everything else is never typed."""

from __future__ import annotations

import re

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._keyboard_protocol import FUNCTIONAL_KEYS

_KEY = re.compile(
    r"\x1b\[(?P<code>\d{0,7})(?::[\d:]*)?"
    r"(?:;(?P<held>\d{0,3})(?::(?P<event>\d))?)?"
    r"(?:;(?P<text>\d{1,7}(?::\d{1,7})*)?)?"
    r"(?P<end>[u~ABCDEFHPQRS])"
)
"""A key as the kitty protocol and its older relatives write it."""
_RELEASED = "3"
_WANTED = re.compile(
    r"\x1b\[(?:[IO]"  # the terminal got or lost the focus
    r"|<\d{1,4};-?\d{1,5};-?\d{1,5}[Mm]"  # mouse
    r"|\?2026;\d\$y)"  # synchronized output is known
)
_MODIFIED = re.compile(r"\x1b\[27;(?P<held>\d{1,3});(?P<code>\d{1,7})~")
"""A modified character as xterm writes it."""
_TOO_LARGE = 0x110000
_SURROGATES = range(0xD800, 0xE000)

BARE = re.compile(
    r"\[<\d{1,4};-?\d{1,5};-?\d{1,5}[Mm]"
    r"|\]1\d;rgba?:[0-9a-fA-F]{1,4}(?:/[0-9a-fA-F]{1,4}){2,3}(?:\x07|\x1b\\)?"
    r"|\[[?>]\d+(?:;\d+)*c"
    r"|\[\?\d+;\d+\$y"
    r"|\[\?\d+u"
)
"""Reports whose escape character got lost on the way, as after attaching to a session again."""


def as_input(sequence: str) -> str:
    """Return a whole escape sequence as the key parser takes it; "" when it is neither a key nor a wanted report.

    Colours, device attributes, window sizes and damaged mouse reports are among what is left out. Key releases are
    too; of other event kinds and alternate keys, which another program may have left switched on, the key remains.
    """
    if sequence in ANSI_SEQUENCES_KEYS or _WANTED.fullmatch(sequence):
        return sequence
    if (
        len(sequence) == 2
    ):  # Alt and a character, for which the key parser would wait, and lose the Alt of an Enter
        held, char = "4" if sequence[1].isupper() else "3", sequence[1].lower().replace("\n", "\r")
        return f"\x1b[{ord(char[0])};{held}u"
    if modified := _MODIFIED.fullmatch(sequence):
        return as_input(f"\x1b[{modified['code']};{modified['held']}u")
    key = _KEY.fullmatch(sequence)
    if key is None or key["event"] == _RELEASED:
        return ""
    numbers = [int(n) for n in (key["code"], *(key["text"] or "").split(":")) if n]
    if any(n >= _TOO_LARGE or n in _SURROGATES for n in numbers):
        return ""
    code, held, text, end = key["code"], key["held"], key["text"], key["end"]
    if end != "u" and f"{code or 1}{end}" not in FUNCTIONAL_KEYS:
        return ""
    parts = (code, held or "", text or "")
    return f"\x1b[{';'.join(parts).rstrip(';')}{end}"
