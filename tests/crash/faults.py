"""A layer under the record's files that kills the program, or lets the disk fail, at a chosen operation.

It is laid under a run of the program before anything is opened. Only files below one folder are concerned, so
that each operation has a number, the same in every run of the same work.
"""

from __future__ import annotations

import errno
import os
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
KILLS = (KILL_BEFORE, KILL_TORN, KILL_AFTER)
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
    """The folder whose files are concerned."""
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
        self._failing = False
        self._watched: dict[int, str] = {}
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
        os.replace = self._on_path(RENAME, os.replace)  # type: ignore[assignment]
        os.rename = self._on_path(RENAME, os.rename)  # type: ignore[assignment]
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

    def _below(self, path: Any) -> str:
        if isinstance(path, int):
            return ""
        name = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - links stay as they are
        return name if name == self._plan.root or name.startswith(self._plan.root + "/") else ""

    def _strike(
        self,
        kind: str,
        name: str,
        real: Callable[[], Any],
        half: Callable[[], Any] | None = None,
    ) -> Any:
        """Do one operation, or what the plan has for it; one at a time."""
        if kind not in self._plan.only:
            return real()
        with self._lock:
            return self._do(kind, name, real, half)

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


def die() -> None:
    """End this process at once, as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)
    threading.Event().wait()
