"""Empty stand-ins for protected files that are missing, so that there is something to mount read-only over.

A command could else make what is missing, and another program run it later. A stand-in is known by holding (almost)
nothing and by a time of change that nothing else has, so that one that a crash left behind is found and removed too.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, which has no sandbox of ours
    fcntl = None  # type: ignore[assignment]

TRIES, PAUSE_SECONDS = 40, 0.05
MADE = 1
"""Time of change of a stand-in: one second into 1970."""
MOST_BYTES = 16
"""Content of a stand-in at most."""


class Users:
    """The processes that use the stand-ins of a project, each by a shared lock on its folder, which dies with it.

    Removing a stand-in takes the mount away that another process has laid over it.
    """

    def __init__(self) -> None:
        self._handle = -1

    def join(self, root: Path) -> None:
        """Be one of those of a project, where the file system knows locks; more than once does no harm. Blocks."""
        if self._handle >= 0 or fcntl is None:
            return
        with suppress(OSError):
            self._handle = _folder(root)
            for _ in range(
                TRIES
            ):  # who removes them now is quick; who holds the lock for long means harm
                with suppress(BlockingIOError):
                    fcntl.flock(self._handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    return
                time.sleep(PAUSE_SECONDS)

    def leave(self, root: Path, stand_ins: Iterable[Path]) -> None:
        """Be none of those of a project any more; the last one removes the stand-ins."""
        if self._is_last(root):
            remove(stand_ins)
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _is_last(self, root: Path) -> bool:
        """Whether no other uses them; none can begin to until the lock is let go."""
        if fcntl is None:
            return True
        try:
            if self._handle < 0:
                self._handle = _folder(root)
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True  # no locks here
        return True


def _folder(root: Path) -> int:
    return os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def place(path: Path, *, folder: bool, content: bytes = b"") -> bool:
    """Make a stand-in where nothing is; return whether one is there now.

    What cannot be made there by us cannot be made by a command either.
    """
    if not path.parent.is_dir():
        return False
    if not os.path.lexists(path):
        with suppress(OSError):
            if folder:
                path.mkdir(mode=0o755)
            else:
                with path.open("xb") as file:
                    file.write(content)
                path.chmod(0o644)
            os.utime(path, (MADE, MADE), follow_symlinks=False)
    return _is_stand_in(path)


def remove(paths: Iterable[Path]) -> None:
    """Remove the stand-ins among these paths; anything else stays."""
    for path in sorted(paths, key=lambda path: -len(path.parts)):
        with suppress(OSError):
            if not _is_stand_in(path):
                continue
            if path.is_dir():
                path.rmdir()  # which refuses a folder that is not empty
            elif path.stat().st_size <= MOST_BYTES:
                path.unlink()


def _is_stand_in(path: Path) -> bool:
    with suppress(OSError):
        status = path.lstat()
        known = stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)
        return known and int(status.st_mtime) == MADE
    return False
