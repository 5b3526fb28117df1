"""Text from models, tools and files, made safe to draw: nothing acts on the terminal and nothing hides."""

from __future__ import annotations

import json
import re

_IN_STRING = r"[^\x07\x1b\x9c\n\x90\x98\x9d-\x9f]*"
"""What stands in an OSC and its kin; another introducer begins anew, so that no text is gone through twice."""
_STRINGS = rf"{_IN_STRING}(?:\x07|\x1b\\|\x9c)"
_SEQUENCE = re.compile(
    rf"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, erase
    rf"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f]){_STRINGS}"  # OSC, DCS, SOS, PM, APC
    rf"|\x1b[ -/]*[0-OQ-WYZ\\`-~]"  # two-character and charset sequences
)
_ERASE_LINE = re.compile(r"(?:\x1b\[|\x9b)[012]?K")
_OPEN_SEQUENCE = re.compile(
    r"(?:(?:\x1b\[|\x9b)[0-?]*[ -/]*"
    rf"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f]){_IN_STRING}\x1b?"
    r"|\x1b[ -/]*)\Z"
)
_HIDDEN_CLASS = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CONTROL_CLASS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
_MARKS = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
MOST_MARKS = 8
"""Combining marks in a row that a letter may carry; more would be drawn over other lines."""
_FLOOD = f"{_MARKS}{{{MOST_MARKS + 1},}}"
_SUSPECT = re.compile(f"[{_CONTROL_CLASS}\u2028\u2029{_HIDDEN_CLASS}]|{_FLOOD}")
_ODD = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f]+"  # in runs, of which a binary file has long ones
    f"|[\U000e0000-\U000e007f]+|[{_CONTROL_CLASS}\u2028\u2029{_HIDDEN_CLASS}]|{_FLOOD}"
)
_ASCII_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_CONTROL_PICTURES = {**{code: 0x2400 + code for code in range(0x20)}, 0x7F: 0x2421}
_LINE_ENDS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_INTRODUCERS = re.compile("[\x1b\x90\x98\x9b\x9d-\x9f]")
_JOINING = re.compile("[\u0600-\u1fff]")
"""Scripts whose words hold joiners: Arabic and Indic ones."""
_PICTURE = re.compile("[\u2190-\u2bff\u3030\u303d\u3297\u3299#*0-9©®\U0001f000-\U0001faff]")
"""What a variation selector makes an emoji of."""
_JOINED = re.compile("[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]")
"""What stands on either side of a joiner in an emoji."""


def visible_text(text: str, *, progress: bool = True) -> str:
    """Return the text as a reader should see it.

    Complete terminal sequences (colours, titles, clipboard, cursor) are removed. Every other control character, and
    whatever would hide or reorder text, is written out: ``␛``, ``⟨U+202E⟩``. Emoji and joined scripts stay.
    The result holds no control character but newline and tab, and going through it again changes nothing.

    Args:
        text: Anything.
        progress: Let text after a carriage return overwrite its line, as a terminal does; else it begins a new line.
    """
    if not _is_suspect(text):
        return text
    text = _LINE_ENDS.sub("\n", text.replace("\r\n", "\n"))
    if progress:
        if "\r" in text or "\b" in text:
            text = "\n".join(_settled(line) for line in text.split("\n"))
    else:
        text = text.replace("\r", "\n")
    if _INTRODUCERS.search(text):
        text = _SEQUENCE.sub("", text)
    return _ODD.sub(_symbol, text.replace("\x07", ""))


def revealed_text(text: str) -> str:
    """Return the text with every hidden or control character written out and none removed.

    For what a person approves: commands and diffs.
    """
    if not _is_suspect(text):
        return text
    return _ODD.sub(_symbol, text.replace("\r\n", "\n"))


def escaped(text: str) -> str:
    r"""Return a name or value on one line: what cannot be printed as it is stands as its escape.

    Among that are line ends, odd blanks and the bytes of a file name that are no text: ``\n``, ``\xa0``, ``\xff``.
    """
    return (
        text if text.isprintable() else "".join(c if c.isprintable() else _escape(c) for c in text)
    )


def json_line(value: object) -> str:
    """Return a value as JSON on one line in which whatever acts or hides is an escape; it reads back the same."""
    line = json.dumps(value, ensure_ascii=False)
    if not _is_suspect(line):
        return line
    return _ODD.sub(lambda found: json.dumps(found[0])[1:-1], line)


def hides_something(text: str) -> bool:
    """Whether a reader cannot see all of the text as it stands: control, bidirectional or invisible characters."""
    text = text.replace("\r\n", "\n")
    return any(_symbol(match) != match[0] for match in _ODD.finditer(text))


def one_line(text: str, limit: int = 400) -> str:
    """Return the text made visible, on one line, of at most ``limit`` characters."""
    line = " ".join(visible_text(text[: 4 * limit]).split())
    if len(line) <= limit and len(text) <= 4 * limit:
        return line
    return f"{line[: limit - 1].rstrip()}…"


class VisibleStream:
    """Makes streamed text visible piece by piece, also where a sequence is cut between two pieces."""

    __slots__ = ("_held",)

    LONGEST = 4_096
    """Characters to wait for the end of a sequence; a longer one is written out."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return what can be shown of everything up to here and was not returned before."""
        text = self._held + piece
        self._held = ""
        if not _is_suspect(text):
            return text
        at = len(text)
        if (cut := _OPEN_SEQUENCE.search(text)) and len(text) - cut.start() <= self.LONGEST:
            at = cut.start()
        elif text.endswith("\r"):
            at -= 1
        self._held = text[at:]
        return visible_text(text[:at], progress=False)

    def close(self) -> str:
        """Return what was held back."""
        held, self._held = self._held, ""
        return visible_text(held, progress=False)


def _is_suspect(text: str) -> bool:
    """Whether anything in the text may have to be changed."""
    return (_ASCII_CONTROLS if text.isascii() else _SUSPECT).search(text) is not None


def _escape(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return char.encode("unicode_escape", "backslashreplace").decode("ascii")


def _settled(line: str) -> str:
    """Return a line after its carriage returns and backspaces."""
    state = ""
    for raw in line.split("\r"):
        erased = bool(_ERASE_LINE.search(raw))
        part = _SEQUENCE.sub("", raw)
        if part or erased:
            state = part if erased else part + state[len(part) :]
    if "\b" not in state:
        return state
    kept: list[str] = []
    for char in state:
        if char != "\b":
            kept.append(char)
        elif kept:
            kept.pop()
    return "".join(kept)


def _symbol(match: re.Match[str]) -> str:
    """Return what stands for hidden characters: themselves where a joined script or an emoji needs them."""
    found = match[0]
    if len(found) > MOST_MARKS and re.match(_MARKS, found):
        return f"{found[:MOST_MARKS]}⟨{len(found) - MOST_MARKS} marks⟩"
    code = ord(found[0])
    if 0xE0000 <= code <= 0xE007F:
        spelled = "".join(chr(ord(char) - 0xE0000) for char in found)
        return f"⟨tags:{''.join(c if c.isprintable() else '·' for c in spelled)}⟩"
    if code in _CONTROL_PICTURES:
        return found.translate(_CONTROL_PICTURES)
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    if found == "\ufe0f" and _PICTURE.match(before):
        return found
    if found in "\u200c\u200d" and _JOINING.match(before) and _JOINING.match(after):
        return found
    if found == "\u200d" and _JOINED.match(before) and _JOINED.match(after):
        return found
    return f"⟨U+{code:04X}⟩"
