"""The lock of a session: one process writes it, and the lock dies with that process."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from app.alive import is_alive
from app.errors import SessionBusy

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


LOCK_FILE = "lock"
_HELD = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK}


class SessionLock:
    """Holds a session until it is released or the process ends, however it ends.

    The handle is not inherited by programs that this process starts, so a command that outlives it keeps nothing.

    Args:
        folder: The session's folder.

    Raises:
        SessionBusy: Another process, or another part of this one, holds it.
        OSError: The lock file cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        self._handle = os.open(
            folder / LOCK_FILE,
            os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0),
            0o600,
        )
        self.held = True
        """False where the file system knows no locks: nothing then keeps a second process away."""
        try:
            _lock(self._handle)
        except OSError as error:
            if error.errno in _HELD:
                found = _read(self._handle)
                os.close(self._handle)
                raise SessionBusy(
                    f"the session {folder.name} is open in {found or 'another process'}",
                    hint="Close it there, or go on with a copy: --fork.",
                ) from None
            self.held = False
        self._sign(f"{os.getpid()}\n{datetime.now(UTC).isoformat(timespec='seconds')}\n")

    def release(self) -> None:
        """Let go; more than once does no harm."""
        if self._handle >= 0:
            self._sign("")
            os.close(self._handle)
            self._handle = -1

    def _sign(self, text: str) -> None:
        """Write who holds the session; on a full disk only the message of another process lacks it."""
        if sys.platform != "win32":
            with suppress(OSError):
                os.ftruncate(self._handle, 0)
                os.pwrite(self._handle, text.encode(), 0)


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that has a session open."""

    process: int
    since: str
    """UTC, ISO 8601; "" when it did not say."""

    def __str__(self) -> str:
        if not self.since:
            return f"process {self.process}"
        moment, now = datetime.fromisoformat(self.since).astimezone(), datetime.now().astimezone()
        shown = "%H:%M" if moment.date() == now.date() else "%Y-%m-%d %H:%M"
        return f"process {self.process} since {moment.strftime(shown)}"


def holder(folder: Path) -> Holder | None:
    """Return the process that seems to hold a session, without touching its lock; only for lists and messages."""
    try:
        handle = os.open(folder / LOCK_FILE, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    try:
        found = _read(handle)
    finally:
        os.close(handle)
    return found if found is not None and is_alive(found.process) else None


def _read(handle: int) -> Holder | None:
    """Return who wrote itself into the lock file; None when that cannot be made out."""
    if sys.platform == "win32":
        return None
    lines = os.pread(handle, 64, 0).decode("ascii", "replace").split("\n")
    if not lines[0].isdecimal():
        return None
    since = lines[1] if len(lines) > 1 else ""
    try:
        datetime.fromisoformat(since)
    except ValueError:
        since = ""
    return Holder(int(lines[0]), since)
