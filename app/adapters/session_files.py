"""The files of an open session: what is appended where, and how a session begins, opens and ends on disk."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from shutil import Error as CopyError
from shutil import copytree, rmtree
from typing import TypeVar

from app.adapters import journal_outputs
from app.adapters.journal_format import (
    CommitLine,
    decode_line,
    encode_commit,
    encode_entry,
    encode_mark,
    encode_remark,
)
from app.adapters.journal_masking import UNMASKED
from app.adapters.journal_reading import EVENTS_FILE, Counters, SessionReader, segment_name
from app.adapters.journal_scan import MarkPlace, Place
from app.adapters.journal_writing import (
    AppendFile,
    private_folder,
    sync_folder,
    unwritable,
    write_new,
)
from app.adapters.session_lock import SessionLock
from app.core.effects import Effects
from app.core.history import Bared, Cleared, Commit, Entry, Pinned, Remark, Undone
from app.core.messages import JsonObject, Message
from app.core.ports import Clock, CommitDraft
from app.errors import RecordUnwritable, SessionNotFound

DISPLAY_ROOT = ".transcripts"
"""The folder of all sessions, in the project's folder."""

_NAMES_MAX = 100
_M = TypeVar("_M", Cleared, Undone, Pinned, Bared)


class SessionFiles:
    """Writes one session and keeps its index and its numbers in step with the disk.

    Args:
        reader: Reads the same session.
        lock: Held until `close`.
        clock: Gives the times.
        display: The session's folder as people see it.
    """

    def __init__(
        self, reader: SessionReader, lock: SessionLock, clock: Clock, display: str
    ) -> None:
        self.reader = reader
        self.lock = lock
        self.closed = False
        self.clock = clock
        self.masking = UNMASKED
        self._display = display
        self.counters: Counters = reader.counters()
        tail = reader.scan(reader.segments[-1]).tail
        self._segment = AppendFile(
            reader.segment_path(reader.segments[-1]),
            end=tail.end,
            needs_newline=tail.needs_newline,
        )
        tail = reader.events.tail
        self._events = AppendFile(
            reader.folder / EVENTS_FILE, end=tail.end, needs_newline=tail.needs_newline
        )

    @property
    def transcript(self) -> str:
        """Path of the current segment as people see it."""
        return f"{self._display}/{segment_name(self.reader.segments[-1])}"

    def append(
        self, message: Message, spoken: tuple[int, ...], effects: Mapping[str, Effects]
    ) -> Entry:
        """Write a message; return it as a reader will read it, so far as it holds no secret."""
        counters = self.counters
        count = len(message.tool_results)
        entry = Entry(
            seq=counters.seq,
            number=counters.number,
            time=self.clock.now(),
            message=message,
            spoken=spoken,
            effects=effects,
            first_result=counters.result if count else 0,
        )
        masked = self.masking.entry(entry)
        line = encode_entry(masked)
        written = decode_line(line)
        assert isinstance(written, Entry)
        offset = self._segment.append(line)
        self.counters = Counters(
            counters.seq + 1, counters.number + 1, counters.result + count, counters.commit
        )
        self.reader.grew(written, Place(offset, len(line)))
        return written if masked == entry else _read_back(self.masking.seen_entry(entry))

    def mark(self, make: Callable[[int], _M], kind: str) -> _M:
        """Write a mark; ``make`` gets its ``seq``."""
        mark = make(self.counters.seq)
        masked = self.masking.mark(mark)
        line = encode_mark(masked, self.clock.now())
        written = decode_line(line)
        assert isinstance(written, type(mark))
        offset = self._write_event(line)
        self.reader.marked(MarkPlace(mark.seq, kind, Place(offset, len(line))))
        return written if masked == mark else mark

    def remark(self, kind: str, data: JsonObject) -> Remark:
        """Write a remark."""
        remark = Remark(self.counters.seq, self.clock.now(), kind, data)
        line = encode_remark(self.masking.remark(remark))
        written = decode_line(line)
        assert isinstance(written, Remark)
        self._write_event(line)
        return written

    def commit(self, draft: CommitDraft) -> Commit:
        """Write a compaction and go on in its segment."""
        self.sync()
        counters = self.counters
        commit = Commit(
            seq=counters.seq,
            number=counters.commit,
            time=self.clock.now(),
            layer=draft.layer,
            head=draft.head(self.transcript),
            replaced=draft.replaced,
            kept=draft.kept,
            stubs=draft.stubs,
            bare=draft.bare,
            summary=draft.summary,
            facts=draft.facts,
        )
        masked = self.masking.commit(commit)
        line = encode_commit(CommitLine(masked, counters.number, counters.result))
        written = decode_line(line)
        assert isinstance(written, CommitLine)
        segment = commit.number + 1
        path = self.reader.segment_path(segment)
        write_new(path, line)
        try:
            opened = AppendFile(path)
        except OSError as error:
            path.unlink(missing_ok=True)
            raise unwritable(path, error) from error
        self._segment.close()
        self._segment = opened
        self.reader.began(segment)
        self.counters = Counters(
            counters.seq + 1, counters.number, counters.result, counters.commit + 1
        )
        return written.commit if masked == commit else self.masking.seen_commit(commit)

    def store_output(self, name: str, text: str) -> str:
        """Write a result's full text; return its path as people see it."""
        masked = self.masking.mask(text)
        path = journal_outputs.store_output(self.reader.folder, name, masked)
        return f"{self._display}/{path.parent.name}/{path.name}"

    def sync(self) -> None:
        """Wait until all that was written is on the disk."""
        self._segment.sync()
        self._events.sync()

    def close(self) -> None:
        """Sync and let go of the session; a folder in which nothing was said is removed."""
        if self.closed:
            return
        self.closed = True
        try:
            self.sync()
        finally:
            self._segment.close()
            self._events.close()
            if self.reader.segments == [1] and _is_empty(self._segment.path):
                rmtree(self.reader.folder, ignore_errors=True)
            self.lock.release()

    def _write_event(self, line: bytes) -> int:
        offset = self._events.append(line)
        c = self.counters
        self.counters = Counters(c.seq + 1, c.number, c.result, c.commit)
        return offset


def moved_files(files: SessionFiles, root: Path, display_root: str) -> SessionFiles:
    """Go on with a copy of a session in another folder; see `Journal.move`."""
    name = files.reader.folder.name
    try:
        prepare_root(root, ignored=True)
        copytree(files.reader.folder, root / name, dirs_exist_ok=True)
    except (OSError, CopyError) as error:
        problem = error if isinstance(error, OSError) else OSError(str(error))
        raise unwritable(root, problem) from error
    moved = open_files(root, name, files.clock, display_root)
    moved.masking = files.masking
    with suppress(OSError, RecordUnwritable):  # what cannot be synced there is in the copy
        files.close()
    return moved


def _read_back(entry: Entry) -> Entry:
    """Return a message as a reader would read it."""
    read = decode_line(encode_entry(entry))
    assert isinstance(read, Entry)
    return read


def _is_empty(path: Path) -> bool:
    try:
        return path.stat().st_size == 0
    except OSError:
        return False


def create_files(root: Path, clock: Clock, display_root: str, ignored: bool) -> SessionFiles:
    """Begin a new session; see `Journal.create`."""
    try:
        prepare_root(root, ignored=ignored)
        folder = make_session_folder(root, clock)
        lock = SessionLock(folder)
        for name in (segment_name(1), EVENTS_FILE):
            AppendFile(folder / name).close()
        sync_folder(folder)
        sync_folder(root)
        return SessionFiles(SessionReader(folder), lock, clock, f"{display_root}/{folder.name}")
    except OSError as error:
        raise unwritable(root, error) from error


def open_files(root: Path, session: str, clock: Clock, display_root: str) -> SessionFiles:
    """Go on with a session; see `Journal.open`."""
    folder = root / session
    if session != folder.name or session in ("", ".", ".."):
        raise SessionNotFound(f"{session!r} is not the name of a session")
    SessionReader(folder)
    try:
        private_folder(folder)
        lock = SessionLock(folder)
    except OSError as error:
        raise unwritable(folder, error) from error
    try:
        for left in folder.glob("*.tmp"):
            left.unlink(missing_ok=True)
        return SessionFiles(SessionReader(folder), lock, clock, f"{display_root}/{session}")
    except OSError as error:
        lock.release()
        raise unwritable(folder, error) from error
    except BaseException:
        lock.release()
        raise


def prepare_root(root: Path, *, ignored: bool) -> None:
    """Make the folder of all sessions, private, and keep git away from it unless it was opted in.

    A folder of the user's own choice keeps its rights; sessions inside it are private all the same.

    Raises:
        OSError: It cannot be made.
    """
    root.parent.mkdir(parents=True, exist_ok=True)
    if root.name == DISPLAY_ROOT or not root.exists():
        private_folder(root)
    ignore = root / ".gitignore"
    if ignored and not ignore.exists():
        write_new(ignore, b"*\n")
    elif not ignored and ignore.is_file() and ignore.read_bytes() == b"*\n":
        ignore.unlink()


def make_session_folder(root: Path, clock: Clock) -> Path:
    """Make a new session's folder under a name that nobody has, portable to any file system.

    Raises:
        OSError: It cannot be made.
    """
    moment = clock.now()[:19].replace(":", "-")
    for _ in range(_NAMES_MAX):
        folder = root / f"{moment}Z-{secrets.token_hex(2)}"
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            folder.chmod(0o700)
            return folder
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(root))
