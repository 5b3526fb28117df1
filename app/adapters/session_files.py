"""The files of an open session: what is appended where, and how it ends on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
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
from app.adapters.journal_index import Place
from app.adapters.journal_masking import UNMASKED
from app.adapters.journal_reading import EVENTS_FILE, Counters, SessionReader, segment_name
from app.adapters.journal_writing import (
    AppendFile,
    unwritable,
    write_new,
)
from app.adapters.session_lock import SessionLock
from app.core.effects import Effects
from app.core.history import (
    Bared,
    Cleared,
    Commit,
    Entry,
    Mark,
    Pinned,
    Remark,
    Rewound,
    Undone,
)
from app.core.messages import JsonObject, Message
from app.core.ports import Clock, CommitDraft
from app.errors import RecordUnwritable

_M = TypeVar("_M", Cleared, Undone, Pinned, Bared, Rewound)


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
        self._in_doubt: Path | None = None
        """A segment that could not be written and may be on the disk all the same."""
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
        self._remove_doubt()
        offset = self._segment.append(line)
        self.counters = Counters(
            counters.seq + 1, counters.number + 1, counters.result + count, counters.commit
        )
        self.reader.grew(written, Place(offset, len(line)))
        return (
            written
            if masked is entry or masked == entry
            else _read_back(self.masking.seen_entry(entry))
        )

    def mark(self, make: Callable[[int], _M]) -> _M:
        """Write a mark; ``make`` gets its ``seq``."""
        mark = make(self.counters.seq)
        masked = self.masking.mark(mark)
        line = encode_mark(masked, self.clock.now())
        written = decode_line(line)
        assert isinstance(written, type(mark))
        self._write_event(line, written)
        return written if masked == mark else mark

    def remark(self, kind: str, data: JsonObject) -> Remark:
        """Write a remark."""
        remark = Remark(self.counters.seq, self.clock.now(), kind, data)
        line = encode_remark(self.masking.remark(remark))
        written = decode_line(line)
        assert isinstance(written, Remark)
        self._write_event(line, written)
        return written

    def commit(self, draft: CommitDraft) -> Commit:
        """Write a compaction and go on in its segment."""
        self._remove_doubt()
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
        self._in_doubt = path
        write_new(path, line)
        try:
            opened = AppendFile(path)
        except OSError as error:
            raise unwritable(path, error) from error
        self._in_doubt = None
        self._segment.close()
        self._segment = opened
        self.reader.began(segment)
        self.counters = Counters(
            counters.seq + 1, counters.number, counters.result, counters.commit + 1
        )
        return written.commit if masked == commit else self.masking.seen_commit(commit)

    def store_output(self, name: str, text: str | Iterable[str]) -> str:
        """Write a result's full text, or its pieces; return its path as people see it."""
        pieces = (text,) if isinstance(text, str) else text
        masked = map(self.masking.mask, pieces)
        path = journal_outputs.store_output(self.reader.folder, name, masked)
        return f"{self._display}/{path.parent.name}/{path.name}"

    def sync(self) -> None:
        """Wait until all that was written is on the disk."""
        self._segment.sync()
        self._events.sync()

    def close(self) -> None:
        """Sync and let go of the session; a folder in which nothing was said is removed.

        A disk that fails now takes nothing: what was acknowledged was synced when it was written.
        """
        if self.closed:
            return
        self.closed = True
        try:
            with suppress(RecordUnwritable):
                self.sync()
        finally:
            self._segment.close()
            self._events.close()
            if self.reader.segments == [1] and _is_empty(self._segment.path):
                rmtree(self.reader.folder, ignore_errors=True)
            self.lock.release()

    def copy_ends(self, folder: Path) -> None:
        """Put into a copy of the session what was acknowledged of the open files, and nothing else.

        Raises:
            OSError: It cannot be read or written.
        """
        for file in (self._segment, self._events):
            file.copy_to(folder / file.path.name)
        if self._in_doubt is not None:
            (folder / self._in_doubt.name).unlink(missing_ok=True)

    def _remove_doubt(self) -> None:
        """Make sure that a compaction which was called failed is not on the disk: what comes would be lost behind it.

        Raises:
            RecordUnwritable: It cannot be removed.
        """
        if self._in_doubt is None:
            return
        try:
            self._in_doubt.unlink(missing_ok=True)
        except OSError as error:
            raise unwritable(self._in_doubt, error) from error
        self._in_doubt = None

    def _write_event(self, line: bytes, event: Mark | Remark) -> None:
        self._remove_doubt()
        offset = self._events.append(line)
        c = self.counters
        self.counters = Counters(c.seq + 1, c.number, c.result, c.commit)
        self.reader.noted(event, Place(offset, len(line)))


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
