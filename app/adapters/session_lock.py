"""The lock of a session: one process writes it, and the lock dies with that process."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path

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
                holder = _holder(self._handle)
                os.close(self._handle)
                raise SessionBusy(
                    f"the session {folder.name} is open in another process{holder}",
                    hint="Close it there, or go on with a copy: --fork.",
                ) from None
            self.held = False
        if sys.platform != "win32":
            with suppress(OSError):  # on a full disk: only the message of another process lacks it
                os.ftruncate(self._handle, 0)
                os.write(self._handle, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Let go; more than once does no harm."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def _holder(handle: int) -> str:
    """Name the process that wrote itself into the lock file; only for the message."""
    if sys.platform == "win32":
        return ""
    os.lseek(handle, 0, os.SEEK_SET)
    pid = os.read(handle, 32).strip()
    return f" (process {int(pid)})" if pid.isdigit() else ""
