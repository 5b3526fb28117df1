"""Empty stand-ins for protected files that are missing, so that there is something to mount read-only over.

A command could else make what is missing, and another program run it later. A stand-in is known by holding (almost)
nothing and by a time of change that nothing else has, so that one that a crash left behind is found and removed too.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

MADE = 1
"""Time of change of a stand-in: one second into 1970."""
MOST_BYTES = 16
"""Content of a stand-in at most."""


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
