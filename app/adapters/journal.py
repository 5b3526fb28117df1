"""The record of one session on disk: every message, compaction and mark, durable before it is acknowledged."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

from app.adapters import journal_outputs, journal_texts
from app.adapters.contents import Contents
from app.adapters.journal_masking import UNMASKED, Masking
from app.adapters.session_export import export_session
from app.adapters.session_files import SessionFiles
from app.adapters.session_folder import DISPLAY_ROOT, create_files, moved_files, open_files
from app.core.effects import Effects
from app.core.history import (
    Bared,
    Cleared,
    Commit,
    Entry,
    HistoryItem,
    Pinned,
    Remark,
    Rewound,
    Undone,
)
from app.core.messages import JsonObject, Message
from app.core.originals import Texts
from app.core.ports import Clock, CommitDraft
from app.errors import RecordError

_UNLOCKED = "This file system knows no locks: do not open the session twice at once."
_T = TypeVar("_T")


class Journal:
    """Implements `core.ports.Record`. Make one with `create` or `open`.

    What a method returns is what a reader of the files will read, so that a replay gives the same view; where secrets
    are masked on the disk only, the running session keeps the text and a replay gives the view with masks. All work on
    the files is done in one thread, in the order of the calls. A call that is cancelled while it waits for the disk
    still finishes and returns; the cancellation is raised at its caller's next await, so that nobody misses what
    is on the disk.
    """

    def __init__(self, files: SessionFiles, worker: ThreadPoolExecutor) -> None:
        self._files = files
        self._worker = worker
        self.contents = Contents(lambda: self.folder)
        """Contents of files that tools and commands changed."""

    @classmethod
    async def create(
        cls,
        root: Path,
        *,
        clock: Clock,
        display_root: str = DISPLAY_ROOT,
        ignored: bool = True,
        masking: Masking = UNMASKED,
    ) -> Journal:
        """Begin a new session.

        Args:
            root: The folder of all sessions, made when it is missing.
            clock: Gives the name and the times.
            display_root: How ``root`` is shown to people, without a slash at its end.
            ignored: Whether git is told to ignore the folder; sessions may hold secrets.
            masking: What is masked on its way to the disk.

        Raises:
            RecordUnwritable: The folder cannot be made or written.
        """
        return await cls._start(partial(create_files, root, clock, display_root, ignored), masking)

    @classmethod
    async def open(
        cls,
        root: Path,
        session: str,
        *,
        clock: Clock,
        display_root: str = DISPLAY_ROOT,
        masking: Masking = UNMASKED,
    ) -> Journal:
        """Go on with a session, under its exact name.

        Raises:
            SessionNotFound: There is none of that name.
            SessionBusy: Another process holds it.
            FormatTooNew: A newer version wrote it.
            RecordUnwritable: The folder cannot be written.
        """
        return await cls._start(partial(open_files, root, session, clock, display_root), masking)

    @classmethod
    async def _start(cls, work: Callable[[], SessionFiles], masking: Masking) -> Journal:
        worker = ThreadPoolExecutor(1, thread_name_prefix="journal")
        try:
            files = await _finish(worker, work)
            files.masking = masking
            return cls(files, worker)
        except BaseException:
            worker.shutdown(wait=False)
            raise

    @property
    def session(self) -> str:
        """The session's name, such as ``2026-11-29T22-16-40Z-7f3a``."""
        return self._files.reader.folder.name

    @property
    def folder(self) -> Path:
        """The session's folder."""
        return self._files.reader.folder

    @property
    def transcript(self) -> str:
        """Path of the current segment as people see it."""
        return self._files.transcript

    @property
    def next_result(self) -> int:
        """Number that the next tool result will get."""
        return self._files.counters.result

    @property
    def notices(self) -> tuple[str, ...]:
        """What was found damaged so far, one sentence each; complete for the view after `history`."""
        locked = () if self._files.lock.held else (_UNLOCKED,)
        return (*locked, *self._files.reader.notices)

    # Writing

    async def append(
        self,
        message: Message,
        *,
        spoken: Sequence[int] = (),
        effects: Mapping[str, Effects] | None = None,
    ) -> Entry:
        """Write one message."""
        return await self._do(self._files.append, message, tuple(spoken), effects or {})

    async def clear(self, stubs: Mapping[str, str], *, bare: Sequence[str] = ()) -> Cleared:
        """Write that results were cleared."""
        return await self._do(self._files.mark, lambda seq: Cleared(seq, dict(stubs), tuple(bare)))

    async def pin(self, results: Sequence[str], *, on: bool = True) -> Pinned:
        """Write that results are pinned or free again."""
        return await self._do(self._files.mark, lambda seq: Pinned(seq, tuple(results), on))

    async def bare(self, messages: Sequence[str]) -> Bared:
        """Write that thinking was removed for good."""
        return await self._do(self._files.mark, lambda seq: Bared(seq, tuple(messages)))

    async def undo(self, commit: int, *, bare: Sequence[str] = ()) -> Undone:
        """Write that a compaction was taken back."""
        return await self._do(self._files.mark, lambda seq: Undone(seq, commit, tuple(bare)))

    async def rewind(self, before: int | None, *, message: str, files: bool) -> Rewound:
        """Write that the user went back to just before item ``before`` (None: with files alone)."""

        def make(seq: int) -> Rewound:
            return Rewound(seq, seq if before is None else before, message, files)

        return await self._do(self._files.mark, make)

    async def commit(self, draft: CommitDraft) -> Commit:
        """Sync what is there, write the compaction as the first line of a new segment, and go on there."""
        return await self._do(self._files.commit, draft)

    async def remark(self, kind: str, data: JsonObject) -> Remark:
        """Write anything else."""
        return await self._do(self._files.remark, kind, data)

    async def store_output(self, name: str, text: str | Iterable[str]) -> str:
        """Write a result's full text, or its pieces, to ``outputs/<name>``; return its path as people see it."""
        return await self._do(self._files.store_output, name, text)

    async def sync(self) -> None:
        """Return when all that was written is on the disk."""
        await self._do(self._files.sync)

    # Reading

    async def history(self, *, before: int | None = None) -> tuple[HistoryItem, ...]:
        """Return what the view is replayed from, in order of seq; remarks are read with `remarks`.

        Args:
            before: Number of a compaction: return what the view was replayed from just before it instead.
        """
        return await self._do(self._files.reader.history, before)

    async def rewinds(self) -> tuple[Rewound, ...]:
        """Return the rewinds that count, oldest first."""
        return await self._do(self._files.reader.rewinds)

    async def compaction(self, number: int) -> Commit | None:
        """Return the Nth compaction, also an undone one, or None."""
        return await self._do(self._files.reader.commit, number)

    async def remarks(
        self,
        kinds: Set[str],
        *,
        since: int = 0,
        until: int | None = None,
        limit: int | None = None,
    ) -> tuple[Remark, ...]:
        """Return the oldest ``limit`` remarks of these kinds after ``since`` and before ``until``, oldest first."""
        remarks = self._files.reader.remarks
        return await self._do(partial(remarks, kinds, since=since, until=until, limit=limit))

    async def messages(self, numbers: Sequence[int]) -> tuple[Entry, ...]:
        """Return these messages of the record; unknown numbers are left out."""
        return await self._do(self._files.reader.messages, numbers)

    async def page(self, before: int | None, limit: int) -> tuple[Entry, ...]:
        """Return up to ``limit`` messages before message number ``before`` (None: the newest), oldest first."""
        return await self._do(self._files.reader.page, before, limit)

    async def result_entry(self, number: int) -> Entry | None:
        """Return the message that holds the Nth tool result."""
        return await self._do(self._files.reader.result_entry, number)

    async def texts(self) -> AsyncGenerator[Texts, None]:
        """Yield all that was said, called, returned or stored, newest message first, in batches.

        A large record takes seconds; what is written meanwhile does not wait for it.

        Raises:
            RecordError: The session cannot be read.
        """
        self._check_open()
        batches = journal_texts.batches(self.folder)
        while batch := await asyncio.to_thread(next, batches, ()):
            yield batch

    async def export(self, path: Path, *, replace: bool = False) -> None:
        """Write the session to a file, beside what goes on."""
        self._check_open()
        await asyncio.to_thread(export_session, self.folder, path, replace=replace)

    async def load_output(self, name: str) -> str | None:
        """Return a stored text, or None; ``name`` may be the path that `store_output` returned."""
        return await self._do(journal_outputs.load_output, self.folder, name)

    async def move(self, root: Path, *, display_root: str) -> None:
        """Go on with a copy of the session in another folder, because its own cannot be written any more.

        Raises:
            RecordUnwritable: Nor can that one; the session stays where it is.
        """
        self._files = await self._do(moved_files, self._files, root, display_root)

    async def close(self) -> None:
        """Sync and let go of the session; one in which nothing was said leaves no folder behind."""
        if not self._files.closed:
            self.contents.close()
            await self._do(self._files.close)
            self._worker.shutdown(wait=False)

    def _check_open(self) -> None:
        if self._files.closed:
            raise RecordError(f"the session {self.session} is closed")

    async def _do(self, work: Callable[..., _T], *arguments: object) -> _T:
        self._check_open()
        try:
            return await _finish(self._worker, partial(work, *arguments))
        except OSError as error:
            raise RecordError(f"the session cannot be read: {error}") from error


async def _finish(worker: ThreadPoolExecutor, work: Callable[[], _T]) -> _T:
    """Run blocking work to its end; a cancellation meanwhile is handed on to the caller's next await."""
    job = asyncio.get_running_loop().run_in_executor(worker, work)
    task = asyncio.current_task()
    cancelled: list[asyncio.CancelledError] = []
    while not job.done():
        try:
            await asyncio.wait({job})
        except asyncio.CancelledError as error:
            cancelled.append(error)
            if task is not None:
                task.uncancel()
    if task is not None:
        for missed in cancelled:
            task.cancel(*missed.args)
    return job.result()
