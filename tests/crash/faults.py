"""A layer under the record's files that kills the program, or lets the disk fail, at a chosen operation.

It is laid under a run of the program before anything is opened. Only files below one folder are concerned, so
that each operation has a number, the same in every run of the same work.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KILL_BEFORE = "kill before"
KILL_AFTER = "kill after"
KILL_TORN = "kill in the middle"
"""Half of what is written reaches the file."""
FAIL = "fail"
FAIL_HALF = "fail half way"
"""A write comes short, and the next operation fails."""
CUT_POWER = "cut the power"
"""All that was not synced is gone: bytes at the ends of files, and names in folders."""
KILLS = (KILL_BEFORE, KILL_TORN, KILL_AFTER, CUT_POWER)
FAILS = (FAIL, FAIL_HALF)
HALVES = (KILL_TORN, FAIL_HALF)
"""What concerns writes only."""

WRITE, SYNC, RENAME, CUT, OPEN, DELETE, FOLDER = (
    "write", "sync", "rename", "cut", "open", "delete", "folder",
)  # fmt: skip
CHANGES = (WRITE, SYNC, RENAME, CUT, OPEN, DELETE, FOLDER)
"""All operations that can change what is on the disk."""


@dataclass(frozen=True)
class Plan:
    """What happens to which operation."""

    root: str
    """The folder whose files are concerned; of the one that holds it, only the names in it."""
    log: str
    """Each operation is written here as a line: its number, kind and file."""
    at: int = 0
    """Number of the operation that is struck, from 1; 0 for none."""
    do: str = KILL_BEFORE
    number: int = errno.EIO
    """The error of a failing operation."""
    until: str = ""
    """While this file is missing, all later operations fail too; "" lets only one fail."""
    only: tuple[str, ...] = CHANGES
    """Kinds of operation that are numbered and struck."""


class Layer:
    """Stands between the program and the operating system."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._count = 0
        self._failing = self._losing = False
        self._watched: dict[int, str] = {}
        self._synced: dict[str, int] = {}
        """Bytes of each file that would outlast a power cut."""
        self._new: set[str] = set()
        """Names that would not."""
        self._lock = threading.Lock()
        self._log = os.open(plan.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._write, self._open, self._close = os.write, os.open, os.close

    def lay(self) -> None:
        """Put the layer under everything that this process opens from now on."""
        os.open = self.open  # type: ignore[assignment]
        os.close = self.close
        os.write = self.write  # type: ignore[assignment]
        os.fsync = self._on_handle(SYNC, os.fsync)  # type: ignore[assignment]
        if hasattr(os, "fdatasync"):
            os.fdatasync = self._on_handle(SYNC, os.fdatasync)  # type: ignore[assignment]
        os.ftruncate = self._on_handle(CUT, os.ftruncate)  # type: ignore[assignment]
        os.replace = self._renaming(os.replace)
        os.rename = self._renaming(os.rename)
        os.unlink = self._on_path(DELETE, os.unlink)  # type: ignore[assignment]
        os.remove = self._on_path(DELETE, os.remove)  # type: ignore[assignment]
        os.rmdir = self._on_path(DELETE, os.rmdir)  # type: ignore[assignment]
        os.mkdir = self._on_path(FOLDER, os.mkdir)  # type: ignore[assignment]

    def open(self, path: Any, flags: int, *more: Any, **options: Any) -> int:
        name = self._below(path)
        if name and flags & os.O_CREAT and not Path(name).exists():
            handle = self._strike(OPEN, name, lambda: self._open(path, flags, *more, **options))
        else:
            handle = self._open(path, flags, *more, **options)
        if name:
            self._watched[handle] = name
            self._synced.setdefault(name, 0 if name in self._new else os.fstat(handle).st_size)
        return handle  # type: ignore[no-any-return]

    def close(self, handle: int) -> None:
        self._watched.pop(handle, None)
        self._close(handle)

    def write(self, handle: int, data: Any) -> int:
        name = self._watched.get(handle)
        if not name:
            return self._write(handle, data)
        half = memoryview(data)[: max(1, len(data) // 2)]
        return self._strike(  # type: ignore[no-any-return]
            WRITE, name, lambda: self._write(handle, data), lambda: self._write(handle, half)
        )

    def _on_handle(self, kind: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def operation(handle: int, *more: Any) -> Any:
            name = self._watched.get(handle)
            if not name:
                return real(handle, *more)
            return self._strike(kind, name, lambda: real(handle, *more))

        return operation

    def _on_path(self, kind: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def operation(path: Any, *more: Any, **options: Any) -> Any:
            name = self._below(path)
            if not name:
                return real(path, *more, **options)
            return self._strike(kind, name, lambda: real(path, *more, **options))

        return operation

    def _renaming(self, real: Callable[..., None]) -> Callable[..., None]:
        moved = self._on_path(RENAME, real)

        def operation(old: Any, new: Any, **options: Any) -> None:
            moved(old, new, **options)
            if self._below(new):
                self._renamed(self._below(old), self._below(new))

        return operation

    def _below(self, path: Any) -> str:
        if isinstance(path, int):
            return ""
        name = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - links stay as they are
        root = self._plan.root
        return name if name in (root, str(Path(root).parent)) or name.startswith(f"{root}/") else ""

    def _strike(
        self,
        kind: str,
        name: str,
        real: Callable[[], Any],
        half: Callable[[], Any] | None = None,
    ) -> Any:
        """Do one operation, or what the plan has for it; one at a time."""
        if kind not in self._plan.only or self._losing:
            return real()
        with self._lock:
            done = self._do(kind, name, real, half)
            self._note(kind, name)
            return done

    def _do(
        self, kind: str, name: str, real: Callable[[], Any], half: Callable[[], Any] | None
    ) -> Any:
        plan = self._plan
        self._count += 1
        line = f"{self._count} {kind} {os.path.relpath(name, plan.root)}\n"
        self._write(self._log, line.encode())
        if self._failing:
            self._failing = bool(plan.until) and not Path(plan.until).exists()
            if plan.until and not self._failing:
                return real()
            raise OSError(plan.number, os.strerror(plan.number), name)
        if self._count != plan.at:
            return real()
        match plan.do:
            case "kill before":
                die()
            case "cut the power":
                self._lose()
                die()
            case "kill in the middle":
                if half is not None:
                    half()
                die()
            case "kill after":
                real()
                die()
            case "fail half way" if half is not None:
                self._failing = True
                return half()
        self._failing = bool(plan.until)
        raise OSError(plan.number, os.strerror(plan.number), name)

    def _note(self, kind: str, name: str) -> None:
        """Note what an operation made that a power cut would take, or what it made safe."""
        if kind in (OPEN, FOLDER):
            self._new.add(name)
        elif kind == SYNC and Path(name).is_dir():
            self._new -= {new for new in self._new if str(Path(new).parent) == name}
        elif kind == SYNC:
            self._synced[name] = Path(name).stat().st_size if Path(name).exists() else 0

    def _renamed(self, old: str, new: str) -> None:
        self._new = (self._new - {old}) | {new}
        self._synced[new] = self._synced.pop(old, 0)

    def _lose(self) -> None:
        """Take from the disk what was not synced."""
        self._losing = True
        for name in sorted(self._new, reverse=True):
            shutil.rmtree(name) if Path(name).is_dir() else Path(name).unlink(missing_ok=True)
        for name, size in self._synced.items():
            path = Path(name)
            if path.is_file() and path.stat().st_size > size:
                os.truncate(path, size)


def die() -> None:
    """End this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)
    threading.Event().wait()
