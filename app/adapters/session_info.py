"""What the list tells of one session, found by reading the ends of its files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.adapters.journal_format import MESSAGE_HEAD, VERSION, decode, decode_line
from app.adapters.journal_reading import EVENTS_FILE, segment_name, segment_numbers
from app.adapters.journal_recovery import START, pieces
from app.adapters.journal_scan import BUFFER
from app.adapters.session_lock import Holder, holder
from app.core import remarks
from app.core.history import Entry, Remark
from app.core.messages import JsonObject
from app.errors import FormatTooNew

WORDS_CHARS = 200
"""Longest first words in a list."""

_TAIL_BYTES = 1 << 16
_LAST_BYTES = 1 << 12
_OPENING_LINES = 8
_TIME = re.compile(rb'"time":"([0-9TZ:.-]+)"')
_FORMAT = re.compile(rb'\{"v":(\d+)[,}]')
_MODEL = re.compile(rb'"kind":"(?:model|usage)",[^\n]*?"model":"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One session of the list."""

    name: str
    started: str
    """UTC, ISO 8601."""
    last: str
    """Time of the last thing written."""
    messages: int
    compactions: int
    """Made so far, also those taken back."""
    size: int
    """Bytes of all its files."""
    words: str
    """The first words of the user, one line."""
    model: str
    """The model last used; "" when unknown."""
    title: str = ""
    """What the user named it."""
    printed: bool = False
    """Whether it was only ever used without a screen, by ``pal -p``."""
    format: int = VERSION
    """Version of the format in which it was last written."""
    folder: Path = Path()

    @property
    def too_new(self) -> bool:
        """Whether a newer version of the program wrote it, so that this one cannot open it."""
        return self.format > VERSION

    @property
    def holder(self) -> Holder | None:
        """The process that seems to have it open now, this one included."""
        return holder(self.folder)


def describe(folder: Path) -> SessionInfo | None:
    """Return what the list shows of a session, or None when nothing was said in it.

    Raises:
        OSError: It cannot be read.
    """
    segments = segment_numbers(folder)
    if not segments:
        return None
    events = _tail(folder / EVENTS_FILE)
    written_in = max(_format_of(folder / segment_name(segments[-1])), _newest_format(events))
    messages, last_message = _last_message(folder, segments)
    if not messages and written_in <= VERSION:
        return None
    started, words = _opening(folder / segment_name(segments[0]))
    last = max(last_message, _newest_time(events))
    return SessionInfo(
        name=folder.name,
        started=started,
        last=last or started,
        messages=messages,
        compactions=segments[-1] - 1,
        size=sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
        words=words,
        model=_model(folder / EVENTS_FILE, events),
        title=str(_newest(folder / EVENTS_FILE, remarks.RENAMED).get("name") or ""),
        printed=was_printed(folder),
        format=max(written_in, 1),
        folder=folder,
    )


def was_printed(folder: Path) -> bool:
    """Return whether a session was only ever used without a screen."""
    return _newest(folder / EVENTS_FILE, remarks.RUN).get("printed") is True


def last_written(folder: Path) -> str:
    """Return the time of the last thing written to a session, reading as little as possible; "" when unknown."""
    segments = segment_numbers(folder)
    paths = [folder / segment_name(n) for n in segments[-1:]] + [folder / EVENTS_FILE]
    return max((_newest_time(_tail(path, _LAST_BYTES)) for path in paths), default="")


def _last_message(folder: Path, segments: list[int]) -> tuple[int, str]:
    """Return the number of the last message and the time of the last line."""
    time = ""
    for segment in reversed(segments):
        for line in reversed(_tail(folder / segment_name(segment)).split(b"\n")[:-1]):
            time = time or _time_of(line)
            if number := _message_number(line):
                return number, time
        with (folder / segment_name(segment)).open("rb", buffering=BUFFER) as file:
            number = max(map(_message_number, file), default=0)  # it ends in a very long message
        if number:
            return number, time
    return 0, time


def _message_number(line: bytes) -> int:
    """Return the number of the message in a line, of any version that is known; 0 when there is none."""
    head = MESSAGE_HEAD.match(line)
    if head:
        return int(head[2])
    if not line.startswith(START) or line.startswith(b'{"v":%d,' % VERSION):
        return 0
    return max((entry.number for entry in _entries(line)), default=0)


def _entries(line: bytes) -> Iterator[Entry]:
    for piece in pieces(line)[0]:
        try:
            stored = decode(piece.value)
        except (ValueError, FormatTooNew):
            continue
        if isinstance(stored, Entry):
            yield stored


def _opening(path: Path) -> tuple[str, str]:
    """Return the time of the first message and the first words that the user wrote."""
    started = ""
    with path.open("rb") as file:
        for _, line in zip(range(_OPENING_LINES), file, strict=False):
            started = started or _time_of(line)
            for entry in _entries(line):
                if entry.words.strip():
                    return started, " ".join(entry.words.split())[:WORDS_CHARS]
    return started, ""


def _format_of(path: Path) -> int:
    """Return the newest format version at the beginning and the end of a file; 0 when none is to be seen."""
    with path.open("rb") as file:
        start = _FORMAT.match(file.read(32))
    return max(int(start[1]) if start else 0, _newest_format(_tail(path, _LAST_BYTES)))


def _newest_format(tail: bytes) -> int:
    heads = (_FORMAT.match(line) for line in tail.split(b"\n"))
    return max((int(head[1]) for head in heads if head), default=0)


def _newest_time(tail: bytes) -> str:
    """Return the time of the last line that names one."""
    times = (_time_of(line) for line in reversed(tail.split(b"\n")))
    return next((time for time in times if time), "")


def _time_of(line: bytes) -> str:
    found = _TIME.search(line, 0, 512)
    return found[1].decode("ascii") if found else ""


def _tail(path: Path, size: int = _TAIL_BYTES) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - size))
            return file.read()
    except FileNotFoundError:
        return b""


def _model(events: Path, tail: bytes) -> str:
    found = _MODEL.findall(tail)
    if not found and len(tail) == _TAIL_BYTES:
        with events.open("rb") as file:
            found = _MODEL.findall(file.read(_TAIL_BYTES))
    return found[-1].decode("utf-8", "replace") if found else ""


def _newest(events: Path, kind: str) -> JsonObject:
    """Return the data of the newest remark of a kind, {} without one; the file is read in pieces, newest first."""
    mark = f',"kind":"{kind}",'.encode()
    try:
        with events.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            while end > 0:
                start = max(0, end - BUFFER)
                file.seek(start)
                at = file.read(end - start + len(mark) - 1).rfind(mark)
                if at >= 0:
                    return _data_at(events, start + at)
                end = start
    except FileNotFoundError:
        pass
    return {}


def _data_at(events: Path, at: int) -> JsonObject:
    """Return the data of the line that holds this position; a line of that kind has its mark near its start."""
    with events.open("rb") as file:
        file.seek(max(0, at - _LAST_BYTES))
        start = at - len(file.read(min(at, _LAST_BYTES)).rpartition(b"\n")[2])
        file.seek(start)
        line = file.readline()
    try:
        stored = decode_line(line)
    except (ValueError, FormatTooNew):
        return {}
    return stored.data if isinstance(stored, Remark) else {}
