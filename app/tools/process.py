"""Commands as processes: started in their own session, watched, bounded in output, ended with all they started."""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from app.core.finishing import to_its_end
from app.core.ports import Emit
from app.errors import ToolError
from app.tools import descendants
from app.tools.changes import Scan
from app.tools.output import Collected, LiveText, Output
from app.tools.supervisor import Supervisor

GRACE_SECONDS = 1.0
"""Between TERM and KILL."""
READ_BYTES = 65_536
MOST_READS = 16
"""A full pipe and no more: what writes for ever must not hold the reader."""
LIVE_SECONDS = 0.1
"""Least time between two pieces of live output."""
SETTLE_SECONDS = 0.15
"""How long children of a shell that ended may take to end by themselves, such as a ``tee``."""
SETTLE_GRACE_SECONDS = 0.1
"""Between TERM and KILL for those that did not."""
DRAIN_SECONDS = 0.3
"""How long output is still read after all processes were ended."""


@dataclass(slots=True)
class Job:
    """One command that runs or ran."""

    name: str
    """``b1``, ``b2`` …"""
    command: str
    root: int
    """Process id of the shell."""
    mark: str
    output: Output
    code: asyncio.Future[int]
    """The shell's exit code, negative for a signal."""
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when nobody can write to the output any more, or reading stopped."""
    read_now: Callable[[], None] = lambda: None
    """Takes what was written and not read yet."""
    stop_reading: Callable[[], None] = lambda: None
    before: Scan | None = None
    """The project's files when it was last asked about, for a command in the background."""

    @property
    def is_running(self) -> bool:
        """Whether the shell still runs."""
        return not self.code.done()


class Processes:
    """Starts commands for one session and ends all that is left at the close.

    Args:
        folder: Where commands run.
        environment: Their environment, already clean of secrets.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = dict(environment)
        self._jobs: dict[str, Job] = {}
        self._supervisor: Supervisor | None = None
        self._started = 0

    @property
    def background(self) -> tuple[Job, ...]:
        """The commands that run in the background, or ran there and were not asked about since; oldest first."""
        return tuple(self._jobs[name] for name in self._jobs if name.startswith("b"))

    def find(self, name: str) -> Job:
        """Return a background command.

        Raises:
            ToolError: There is none of that name.
        """
        if name not in self._jobs or not name.startswith("b"):
            known = ", ".join(job.name for job in self.background) or "none"
            raise ToolError(f"no background job {name}; running: {known}")
        return self._jobs[name]

    def prepare(self) -> None:
        """Make ready for a command that comes soon, so that its start waits for nothing."""
        self._above()

    async def start(
        self, argv: Sequence[str], command: str, emit: Emit | None, *, background: bool = False
    ) -> Job:
        """Start a command; a cancel meanwhile loses nothing: it is raised at the caller's next await.

        Args:
            argv: What is executed.
            command: What it is called, for lists.
            emit: Takes live output, or None.
            background: Whether it outlives the call that started it.

        Raises:
            ToolError: It cannot be started.
        """
        loop = asyncio.get_running_loop()
        self._started += 1
        name = f"{'b' if background else 'c'}{self._started}"
        mark = secrets.token_hex(8)
        job = self._jobs[name] = Job(name, command, 0, mark, Output(), loop.create_future())
        reading, writing = os.pipe()
        try:
            env = {**self._environment, descendants.MARK: mark}
            start = self._above().start(name, argv, self._folder, env, writing)
            job.root = await to_its_end(start)
        except OSError as error:
            os.close(reading)
            del self._jobs[name]
            raise ToolError(f"the command cannot be started: {_why(error)}") from error
        finally:
            os.close(writing)
        _Reader(job, reading, emit, loop).begin()
        return job

    async def end(self, job: Job, *, grace: float = GRACE_SECONDS) -> tuple[str, ...]:
        """End a command with all its descendants, read what they still wrote, and forget it.

        Goes on to its end when the calling task is cancelled.

        Returns:
            Names of the descendants that still ran.
        """
        return await to_its_end(self._end(job, grace))

    async def close(self) -> None:
        """End everything that still runs."""
        await asyncio.gather(*(self.end(job) for job in tuple(self._jobs.values())))
        if self._supervisor is not None:
            supervisor, self._supervisor = self._supervisor, None
            await supervisor.close()

    def _above(self) -> Supervisor:
        """The program above all commands, started with the first one, and again if something ended it."""
        if self._supervisor is None or not self._supervisor.alive:
            self._supervisor = Supervisor(
                self._environment, ended=self._has_ended, lost=self._is_lost
            )
        return self._supervisor

    def _has_ended(self, name: str, code: int) -> None:
        job = self._jobs.get(name)
        if job is not None and not job.code.done():
            job.code.set_result(code)

    def _is_lost(self) -> None:
        for job in self._jobs.values():
            if job.is_running:
                job.code.set_result(-signal.SIGKILL)

    async def _end(self, job: Job, grace: float) -> tuple[str, ...]:
        others = frozenset(other.root for other in self._jobs.values() if other is not job)
        alive = self._supervisor is not None and self._supervisor.alive
        keeper = self._supervisor.pid if alive and self._supervisor else 0
        ran: tuple[str, ...] = ()
        if not (keeper and job.code.done() and descendants.is_childless(keeper)):
            root = descendants.Root(job.root, job.mark, keeper, others)
            ran = await asyncio.to_thread(descendants.end, root, grace=grace)
        with suppress(TimeoutError):
            async with asyncio.timeout(descendants.KILL_SECONDS):
                await asyncio.wait({job.code})
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                await job.closed.wait()
        job.stop_reading()
        self._jobs.pop(job.name, None)
        return ran


class _Reader:
    """Reads a command's pipe on the event loop and passes pieces on, not too often."""

    def __init__(
        self, job: Job, pipe: int, emit: Emit | None, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._job = job
        self._pipe = pipe
        self._emit = emit
        self._loop = loop
        self._live = LiveText()
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        os.set_blocking(self._pipe, False)
        self._loop.add_reader(self._pipe, self._read)
        self._job.read_now = self._read_all
        self._job.stop_reading = self._finish

    def _read_all(self) -> None:
        for _ in range(MOST_READS):
            if self._job.closed.is_set() or not self._read():
                return

    def _read(self) -> bool:
        """Read a piece; return whether there was one."""
        try:
            data = os.read(self._pipe, READ_BYTES)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self._finish()
            return False
        self._job.output.add(data)
        if self._emit is not None:
            self._live.add(data)
            if self._timer is None:
                self._timer = self._loop.call_later(LIVE_SECONDS, self._show)
        return True

    def _show(self) -> None:
        self._timer = None
        self._pass_on(self._live.take())

    def _finish(self) -> None:
        if self._job.closed.is_set():
            return
        self._loop.remove_reader(self._pipe)
        os.close(self._pipe)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._emit is not None:
            self._pass_on(self._live.take(final=True))
        self._job.closed.set()

    def _pass_on(self, text: str) -> None:
        if text and self._emit is not None:
            self._emit(text)


@dataclass(frozen=True, slots=True)
class Finished:
    """How a foreground command ended."""

    collected: Collected
    code: int | None
    """Exit code, negative for a signal; None when it was ended by the time limit."""
    survivors: tuple[str, ...]
    """Names of background processes that were ended with it."""


async def run(
    processes: Processes, argv: Sequence[str], command: str, emit: Emit, *, seconds: float
) -> Finished:
    """Run a command to its end or to the time limit; nothing of it runs afterwards, also when cancelled.

    Args:
        processes: The session's commands.
        argv: What is executed.
        command: What it is called.
        emit: Takes live output.
        seconds: Time limit.

    Raises:
        ToolError: It cannot be started.
    """
    job = await processes.start(argv, command, emit)
    in_time = False
    try:
        async with asyncio.timeout(seconds):
            await asyncio.wait({job.code})
            in_time = True
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_SECONDS):
                await job.closed.wait()
    except TimeoutError:
        pass
    finally:
        survivors = await processes.end(
            job, grace=SETTLE_GRACE_SECONDS if in_time else GRACE_SECONDS
        )
    collected = await asyncio.to_thread(job.output.collect)
    if not in_time:
        return Finished(collected, None, ())
    return Finished(collected, job.code.result(), survivors)


def _why(error: OSError) -> str:
    if error.errno == errno.E2BIG:
        return "it is too long for one argument (about 128 kB); write it to a script file first"
    return str(error)
