"""All processes that a command left behind, also those that fled its group or session, and their end."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MARK = "PALIMPSEST_JOB"
"""Environment variable by which the children of one command are told from those of another."""
POLL_SECONDS = 0.02
KILL_SECONDS = 2.0
"""How long killed processes may take to vanish."""
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Process:
    """A line of the process table."""

    pid: int
    parent: int
    group: int
    session: int
    name: str
    is_dead: bool = False
    """Ended, and only waits for its parent to notice."""


@dataclass(frozen=True, slots=True)
class Root:
    """The first process of a command; it leads a session and a group of its own."""

    pid: int
    mark: str
    """Its value of `MARK`."""
    keeper: int = 0
    """The process above all commands, which adopts orphans; 0 when it is gone, and orphans may be anywhere."""
    others: frozenset[int] = frozenset()
    """First processes of other commands that run now."""


def end(root: Root, *, grace: float) -> tuple[str, ...]:
    """End a command and all it started: TERM, ``grace`` seconds, then KILL until none is left. Blocks.

    Returns:
        The names of the processes besides the first one that still ran.
    """
    known: set[int] = set()
    alive = first = _living(root, known)
    _send(first, signal.SIGTERM)
    _send(first, signal.SIGCONT)
    deadline = time.monotonic() + grace
    while alive and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
        alive = _living(root, known)
    deadline = time.monotonic() + KILL_SECONDS
    while alive and time.monotonic() < deadline:
        _send(alive, signal.SIGKILL)
        time.sleep(POLL_SECONDS)
        alive = _living(root, known)
    return tuple(process.name for process in first if process.pid != root.pid)


def is_childless(pid: int) -> bool:
    """Whether a process surely has no child; nothing is left then below one that adopts orphans. Takes no time."""
    try:
        return not (_PROC / str(pid) / "task" / str(pid) / "children").read_bytes().strip()
    except OSError:
        return False


def end_below(pid: int, *, groups: Collection[int], grace: float) -> None:
    """End everything below a process that adopts orphans, and what is in these groups; it must reap its own children.

    Blocks until nothing is left, or nothing more can be done.
    """
    deadline = time.monotonic() + grace
    number = signal.SIGTERM
    last = deadline + KILL_SECONDS
    while time.monotonic() < last:
        table = process_table()
        wanted = {p.pid for p in table if p.group in groups or p.session in groups} | {pid}
        alive = tuple(p for p in table if p.pid in _with_children(table, wanted) - {pid})
        if not alive:
            return
        _send(alive, number)
        _send(alive, signal.SIGCONT)
        time.sleep(POLL_SECONDS)
        _reap_children()
        number = signal.SIGTERM if time.monotonic() < deadline else signal.SIGKILL


def _reap_children() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _living(root: Root, known: set[int]) -> tuple[Process, ...]:
    """The processes of a command that have not ended.

    ``known`` gathers them, so that one that flees between two looks is still known by its number.
    """
    table = process_table()
    known &= {p.pid for p in table}
    known |= _members(table, root, known)
    return tuple(p for p in table if p.pid in known and not p.is_dead)


def _members(table: tuple[Process, ...], root: Root, known: Collection[int]) -> set[int]:
    """Its session and group, orphans of its own, those already known, and all descendants of these."""
    away = {os.getpid(), root.keeper, *root.others}
    wanted = {p.pid for p in table if p.pid in known or root.pid in (p.pid, p.session, p.group)}
    for process in table:
        is_orphan = not root.keeper or process.parent in (root.keeper, 1)
        if not is_orphan or process.is_dead or process.pid in wanted | away:
            continue
        if process.session in root.others:
            continue
        mark = _mark_of(process.pid)
        # One that wiped its environment is only ours to end when no other command could own it.
        nameless = mark == "" and process.parent == root.keeper and not root.others
        if mark == root.mark or nameless:
            wanted.add(process.pid)
    return _with_children(table, wanted) - away


def _with_children(table: tuple[Process, ...], pids: set[int]) -> set[int]:
    """These processes and all below them."""
    wanted, grown = set(pids), True
    while grown:
        more = {p.pid for p in table if p.parent in wanted} - wanted
        wanted |= more
        grown = bool(more)
    return wanted


def _send(processes: Iterable[Process], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, number)


def process_table() -> tuple[Process, ...]:
    """Return all processes that can be seen. Blocks for some milliseconds."""
    return tuple(_from_proc() if (_PROC / "self/stat").exists() else _from_ps())


def _from_proc() -> Iterator[Process]:
    for folder in _PROC.iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            data = (folder / "stat").read_bytes()
        except OSError:
            continue
        start, end_ = data.find(b"("), data.rfind(b")")
        fields = data[end_ + 2 :].split()
        program = data[start + 1 : end_].decode("utf-8", "replace")
        parent, group, session = (int(value) for value in fields[1:4])
        yield Process(int(folder.name), parent, group, session, program, fields[0] in (b"Z", b"X"))


def _from_ps() -> Iterator[Process]:
    """Where there is no /proc: sessions cannot be seen, so the group stands for them."""
    command = ["/bin/ps", "-A", "-o", "pid=,ppid=,pgid=,stat=,comm="]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    for line in done.stdout.splitlines():
        fields = line.split(None, 4)
        if len(fields) == 5 and all(field.isdecimal() for field in fields[:3]):
            pid, parent, group = (int(field) for field in fields[:3])
            yield Process(
                pid, parent, group, group, Path(fields[4]).name, fields[3].startswith("Z")
            )


def _mark_of(pid: int) -> str | None:
    """Its value of `MARK`: "" when it has none, None when its environment cannot be read."""
    try:
        data = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return None
    prefix = f"{MARK}=".encode()
    found = next((part for part in data.split(b"\0") if part.startswith(prefix)), b"")
    return found[len(prefix) :].decode("utf-8", "replace")
