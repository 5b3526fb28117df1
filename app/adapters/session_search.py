"""Full text over all sessions of a folder: the newest place in each where all wanted words were said.

The files are searched as bytes, from their ends, and only a line that holds the rarest word is parsed. What every line
holds, the names and fixed words of the format, is blanked in the bytes before, so that a word such as ``content`` is
looked for only in what was said. A search asks between blocks whether it is still wanted, and holds no lock.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from app.adapters.journal_format import decode
from app.adapters.journal_reading import EVENTS_FILE, OUTPUTS_FOLDER, segment_name, segment_numbers
from app.adapters.journal_recovery import pieces
from app.adapters.session_list import names_by_use
from app.core import remarks
from app.core.history import Entry, Remark
from app.core.messages import Text, ToolResult, ToolUse
from app.errors import FormatTooNew

BLOCK = 1 << 20
"""Bytes that are looked through at a time: about a millisecond of work."""
STEP = 1 << 13
"""Bytes that are read first to find the ends of a line."""
SHOWN_CHARS = 160
"""Characters of a line that are shown around the first word."""

_WORD = re.compile(r'"([^"]+)"|(\S+)')
_NAMES = """
v seq number first_result results id time role content spoken effects type text tool_use_id name input is_error
thinking signature data source media_type target outcome read modified edited exit_code stored commit layer
first_number replaced kept stubs bare summary facts
"""
_FRAME = (
    b'"role":"user"',
    b'"role":"assistant"',
    b'"type":"text"',
    b'"type":"tool_use"',
    b'"type":"tool_result"',
    b'"type":"thinking"',
    *(f'"{name}":'.encode() for name in _NAMES.split()),
)
"""What stands in lines of messages between what was said, in lower case; inside of a text its quotes are escaped."""
_HEAD = re.compile(
    rb'\{"v":\d+,"seq":\d+,"number":\d+,"first_result":\d+,"results":\d+,"id":"m\d+","time":"[^"]*"'
)
_IN_HEAD = re.compile(rb"[\dmtz:.\-]+")
"""What may be part of a number or time in the head of a line."""
_CUT = f'"kind":"{remarks.PARTIAL}"'.encode()

Blank = Callable[[bytes], bytes]
"""Returns a block of lowered bytes of the same length in which nothing is found that was not said."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A place where the wanted words were said."""

    session: str
    id: str
    """``m<N>``, or ``r<N>`` for a tool result; "" for an answer that was cut off."""
    who: str
    """``you``, ``agent``, or the name of a tool, or ``result``."""
    line: str
    """What stands around the first of the words, one line."""


class _Wanted:
    """The words of a search; upper and lower case are alike."""

    def __init__(self, text: str) -> None:
        found = {quoted or word for quoted, word in _WORD.findall(text)}
        written = sorted((word for word in found if word.strip()), key=len, reverse=True)
        self.words = [word.casefold() for word in written]
        """The longest first."""
        steady = map(_steady, written)
        self.needle = max(steady, key=lambda word: (not _in_frame(word), len(word)), default="")
        """What the bytes are searched for; "", which every line holds, when only parsing can tell."""

    def all_in(self, text: str) -> bool:
        folded = text.casefold()
        return all(word in folded for word in self.words)

    def around(self, text: str) -> str:
        """Return one line of what stands around the first of the words."""
        at = max(0, text.casefold().find(self.words[0]))
        start = max(0, text.rfind("\n", 0, at) + 1, at - SHOWN_CHARS // 8)
        return " ".join(text[start : start + SHOWN_CHARS].split())


def search_sessions(
    root: Path, text: str, *, wanted: Callable[[], bool] = lambda: True
) -> Iterator[Hit]:
    """Yield the newest hit of each session, the session that was used last first.

    Args:
        root: The folder of all sessions.
        text: Words that must all stand in one message; several in double quotes count as one.
        wanted: Asked every few milliseconds; the search ends when it says no.
    """
    words = _Wanted(text)
    if not words.words:
        return
    for name in names_by_use(root):
        with suppress(OSError):  # a session may go away while it is looked at
            hit = next(_hits(root / name, words, wanted), None)
            if hit is not None:
                yield hit
        if not wanted():
            return


def _hits(folder: Path, words: _Wanted, wanted: Callable[[], bool]) -> Iterator[Hit]:
    in_json = _pattern(words.needle, lambda char: json.dumps(char)[1:-1].encode())
    blank = _blanking(words.needle)
    for segment in reversed(segment_numbers(folder)):
        for line in _lines_with(folder / segment_name(segment), in_json, wanted, blank):
            yield from _in_entries(folder.name, line, words)
    for line in _lines_with(folder / EVENTS_FILE, _CUT, wanted):
        yield from _in_cut_answers(folder.name, line, words)
    in_text = _pattern(words.needle, lambda char: char.encode("utf-8", "replace"))
    for path in _outputs(folder):
        for line in _lines_with(path, in_text, wanted):
            shown = line.decode("utf-8", "replace")
            if words.all_in(shown):
                yield Hit(folder.name, path.stem, "result", words.around(shown))


def _outputs(folder: Path) -> list[Path]:
    outputs = folder / OUTPUTS_FOLDER
    return sorted(outputs.glob("*.txt"), reverse=True) if outputs.is_dir() else []


def _in_entries(session: str, line: bytes, words: _Wanted) -> Iterator[Hit]:
    for stored in _stored(line):
        if isinstance(stored, Entry):
            parts = list(_parts(stored))
            if words.all_in("\n".join(text for _, _, text in parts)):
                holding = (part for part in parts if words.words[0] in part[2].casefold())
                id_, who, text = next(holding, parts[0])
                yield Hit(session, id_, who, words.around(text))


def _in_cut_answers(session: str, line: bytes, words: _Wanted) -> Iterator[Hit]:
    for stored in _stored(line):
        if isinstance(stored, Remark) and stored.kind == remarks.PARTIAL:
            text = str(stored.data.get("text", ""))
            if words.all_in(text):
                yield Hit(session, "", "agent", words.around(text))


def _stored(line: bytes) -> Iterator[object]:
    for piece in pieces(line)[0]:
        with suppress(ValueError, FormatTooNew):
            yield decode(piece.value)


def _parts(entry: Entry) -> Iterator[tuple[str, str, str]]:
    """Yield (id, who, text) of all that was said in a message."""
    result = entry.first_result
    who = "you" if entry.spoken else "agent" if entry.message.role == "assistant" else "note"
    for block in entry.message.content:
        match block:
            case Text(text):
                yield entry.id, who, text
            case ToolUse(_, name, arguments):
                yield entry.id, name, "\n".join(map(str, arguments.values()))
            case ToolResult():
                yield f"r{result}", "result", block.text
                result += 1
            case _:
                pass


def _pattern(word: str, encode: Callable[[str], bytes]) -> re.Pattern[bytes] | bytes:
    """Return what finds a word in lowered bytes: the word, or a pattern where letters beyond ASCII have cases."""
    if all(char.isascii() or _cases(char) == [char] for char in word):
        return b"".join(encode(char) for char in word).lower()
    choices = (b"|".join(re.escape(encode(c).lower()) for c in _cases(char)) for char in word)
    return re.compile(b"".join(b"(?:%s)" % choice for choice in choices))


def _in_frame(word: str) -> bool:
    """Whether the lines of messages hold this word, whatever was said in them."""
    raw = word.lower().encode("utf-8", "replace")
    return any(raw in part for part in _FRAME) or _IN_HEAD.fullmatch(raw) is not None


def _blanking(word: str) -> Blank:
    """Return what takes that which was not said out of blocks, as far as it could hold the word."""
    raw = word.lower().encode("utf-8", "replace")
    parts = [(part, b"\0" * len(part)) for part in _FRAME if raw in part]
    heads = _IN_HEAD.fullmatch(raw) is not None

    def blanked(block: bytes) -> bytes:
        if heads:
            block = _HEAD.sub(lambda head: b"\0" * len(head[0]), block)
        for part, nothing in parts:
            block = block.replace(part, nothing)
        return block

    return blanked


def _steady(word: str) -> str:
    """Return the longest part of a word whose letters keep their number in any case, unlike ß."""
    runs = "".join(char if _is_steady(char) else "\0" for char in word).split("\0")
    return max(runs, key=len)


def _is_steady(char: str) -> bool:
    return all(len(form) == 1 for form in (char.lower(), char.upper(), char.casefold()))


def _cases(char: str) -> list[str]:
    return sorted({c for c in (char, char.lower(), char.upper(), char.title()) if len(c) == 1})


def _lines_with(
    path: Path,
    pattern: re.Pattern[bytes] | bytes,
    wanted: Callable[[], bool],
    blank: Blank = bytes,
) -> Iterator[bytes]:
    """Yield the lines of a file in which the pattern is found, the last one first."""
    longest = len(pattern) if isinstance(pattern, bytes) else 12 * len(pattern.pattern)
    try:
        file = path.open("rb", buffering=0)
    except FileNotFoundError:
        return
    with file:
        end = file.seek(0, 2)
        while end > 0 and wanted():
            start = max(0, end - BLOCK)
            file.seek(start)
            block = blank(file.read(end - start + longest).lower())
            stop = end - start
            while stop > 0 and (at := _last(block, pattern, stop)) >= 0 and wanted():
                begin, line = _line_at(file, start + at)
                yield line
                stop = begin - start
            end = min(start, start + stop)


def _last(block: bytes, pattern: re.Pattern[bytes] | bytes, stop: int) -> int:
    """Return the last place before ``stop`` where the pattern begins; -1 when there is none."""
    if isinstance(pattern, bytes):
        return block.rfind(pattern, 0, stop + len(pattern) - 1)
    starts: Iterable[int] = (m.start() for m in pattern.finditer(block) if m.start() < stop)
    return max(starts, default=-1)


def _line_at(file: BinaryIO, offset: int) -> tuple[int, bytes]:
    """Return where the line that holds this byte begins, and the line."""
    start, step = offset, STEP
    while start > 0:
        first = max(0, start - step)
        file.seek(first)
        at = file.read(start - first).rfind(b"\n")
        if at >= 0:
            start = first + at + 1
            break
        start, step = first, min(BLOCK, 4 * step)
    file.seek(start)
    line, step = bytearray(), STEP
    while piece := file.read(step):
        head, newline, _ = piece.partition(b"\n")
        line += head + newline
        if newline:
            break
        step = min(BLOCK, 4 * step)
    return start, bytes(line)
