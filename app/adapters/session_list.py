"""The sessions of a folder: listing them by reading little, finding one by name, making a copy to go on with."""

from __future__ import annotations

import mmap
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.adapters.clock import SystemClock
from app.adapters.contents import CONTENTS_FOLDER
from app.adapters.journal_format import MESSAGE_HEAD, decode, decode_line
from app.adapters.journal_reading import (
    EVENTS_FILE,
    OUTPUTS_FOLDER,
    segment_name,
    segment_numbers,
)
from app.adapters.journal_recovery import pieces
from app.adapters.journal_writing import sync_folder, unwritable
from app.adapters.session_folder import make_session_folder
from app.core import remarks
from app.core.history import Entry, Remark
from app.core.ports import Clock
from app.errors import FormatTooNew, SessionNotFound

WORDS_CHARS = 200
"""Longest first words in a list."""

_TAIL_BYTES = 1 << 16
_NAMED_MAX = 8
_TIME = re.compile(rb'"time":"([0-9TZ:.-]+)"')
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
    folder: Path = Path()


def session_names(root: Path) -> tuple[str, ...]:
    """Return the names of all sessions, oldest name first."""
    try:
        with os.scandir(root) as found:
            folders = [e.name for e in found if e.is_dir() and not e.name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return ()
    return tuple(sorted(name for name in folders if segment_numbers(root / name)))


def list_sessions(root: Path) -> tuple[SessionInfo, ...]:
    """Return what people want to know of each session in which something was said, the last used one first."""
    described = (_described(root / name) for name in session_names(root))
    infos = [info for info in described if info is not None]
    return tuple(sorted(infos, key=lambda info: (info.last, info.name), reverse=True))


def latest_session(root: Path) -> str | None:
    """Return the name of the session that was used last, or None."""
    infos = list_sessions(root)
    return infos[0].name if infos else None


def find_session(root: Path, text: str) -> str:
    """Return the session of that name, of that beginning of a name, or of that title.

    Raises:
        SessionNotFound: None fits, or several do; the hint names what there is.
    """
    names = session_names(root)
    if text in names:
        return text
    fitting = [name for name in names if text and name.startswith(text)]
    if not fitting:
        fitting = [info.name for info in list_sessions(root) if text and info.title == text]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise SessionNotFound(
            f"{text!r} is the beginning of {len(fitting)} sessions", hint=_named(fitting)
        )
    raise SessionNotFound(f"there is no session {text!r}", hint=_named(list(names)))


def fork_session(root: Path, session: str, *, clock: Clock | None = None) -> str:
    """Copy a session under a new name, also while another process writes it; return the new name.

    Raises:
        SessionNotFound: There is none of that exact name.
        RecordUnwritable: The copy could not be written; nothing of it is left.
    """
    if session not in session_names(root):
        raise SessionNotFound(
            f"there is no session {session!r}", hint=_named(list(session_names(root)))
        )
    source = root / session
    try:
        folder = make_session_folder(root, clock or SystemClock())
    except OSError as error:
        raise unwritable(root, error) from error
    partial = root / f".{folder.name}.partial"
    try:
        partial.mkdir(mode=0o700)
        for path in _in_copying_order(source):
            _copy(path, partial / path.name)
        for name in (OUTPUTS_FOLDER, CONTENTS_FOLDER):
            _copy_outputs(source / name, partial / name)
        sync_folder(partial)
        folder.rmdir()
        partial.replace(folder)
        sync_folder(root)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
        raise unwritable(folder, error) from error
    return folder.name


def _described(folder: Path) -> SessionInfo | None:
    """Leave out a session that goes away while it is looked at."""
    with suppress(OSError):
        return describe(folder)
    return None


def describe(folder: Path) -> SessionInfo | None:
    """Return what the list shows of a session, or None when nothing was said in it."""
    segments = segment_numbers(folder)
    if not segments:
        return None
    events = folder / EVENTS_FILE
    messages, last_message = _last_message(folder, segments)
    if not messages:
        return None
    started, words = _opening(folder / segment_name(segments[0]))
    last = max(last_message, _last_time(events))
    return SessionInfo(
        name=folder.name,
        started=started,
        last=last or started,
        messages=messages,
        compactions=segments[-1] - 1,
        size=sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
        words=words,
        model=_model(events),
        title=_title(events),
        folder=folder,
    )


def _last_message(folder: Path, segments: list[int]) -> tuple[int, str]:
    """Return the number of the last message and the time of the last line."""
    time = ""
    for segment in reversed(segments):
        for line in reversed(_tail(folder / segment_name(segment)).split(b"\n")[:-1]):
            head = MESSAGE_HEAD.match(line)
            time = time or _time_of(line)
            if head:
                return int(head[2]), time
        number = _last_number(folder / segment_name(segment))
        if number:
            return number, time
    return 0, time


def _last_number(path: Path) -> int:
    """Look through a whole segment, for one that ends in a very long message."""
    found = 0
    with path.open("rb") as file:
        for line in file:
            head = MESSAGE_HEAD.match(line)
            found = int(head[2]) if head else found
    return found


def _opening(path: Path) -> tuple[str, str]:
    """Return the time of the first message and the first words that the user wrote."""
    started = ""
    with path.open("rb") as file:
        for _, line in zip(range(_NAMED_MAX), file, strict=False):
            try:
                entries = [decode(piece.value) for piece in pieces(line)[0]]
            except (ValueError, FormatTooNew):
                continue
            for entry in entries:
                if isinstance(entry, Entry):
                    started = started or entry.time
                    if entry.words.strip():
                        return started, " ".join(entry.words.split())[:WORDS_CHARS]
    return started, ""


def _last_time(events: Path) -> str:
    times = (_time_of(line) for line in reversed(_tail(events).split(b"\n")))
    return next((time for time in times if time), "")


def _time_of(line: bytes) -> str:
    found = _TIME.search(line, 0, 512)
    return found[1].decode("ascii") if found else ""


def _tail(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            return file.read()
    except FileNotFoundError:
        return b""


def _model(events: Path) -> str:
    found = _MODEL.findall(_tail(events))
    if not found:
        try:
            with events.open("rb") as file:
                found = _MODEL.findall(file.read(_TAIL_BYTES))
        except FileNotFoundError:
            return ""
    return found[-1].decode("utf-8", "replace") if found else ""


def _title(events: Path) -> str:
    """Return the last name that the user gave; found without reading the file into memory."""
    mark = f',"kind":"{remarks.RENAMED}",'.encode()
    try:
        with (
            events.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text,
        ):
            at = text.rfind(mark)
            if at < 0:
                return ""
            start = text.rfind(b"\n", 0, at) + 1
            end = text.find(b"\n", at)
            stored = decode_line(text[start : end if end >= 0 else len(text)])
    except (FileNotFoundError, ValueError, FormatTooNew):
        return ""
    name = stored.data.get("name") if isinstance(stored, Remark) else None
    return name if isinstance(name, str) else ""


def _named(names: list[str]) -> str:
    if not names:
        return "There are no sessions here yet."
    shown = ", ".join(names[-_NAMED_MAX:])
    more = f" and {len(names) - _NAMED_MAX} older ones" if len(names) > _NAMED_MAX else ""
    return f"There are: {shown}{more}."


def _in_copying_order(source: Path) -> Iterator[Path]:
    """Yield the events first: a mark about a compaction that the copy lacks would hit the copy's next one."""
    events = source / EVENTS_FILE
    if events.exists():
        yield events
    for segment in segment_numbers(source):
        yield source / segment_name(segment)


def _copy(source: Path, target: Path) -> None:
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with source.open("rb") as reading, os.fdopen(handle, "wb") as writing:
        shutil.copyfileobj(reading, writing, 1 << 20)
        writing.flush()
        os.fsync(writing.fileno())
    target.chmod(0o600)


def _copy_outputs(source: Path, target: Path) -> None:
    if not source.is_dir():
        return
    target.mkdir(mode=0o700)
    for path in source.iterdir():
        if path.is_file() and not path.name.endswith(".tmp"):
            _copy(path, target / path.name)
