"""Empty stand-ins for protected files that are missing, so that there is something to mount read-only over.

A command could else make what is missing, and another program run it later. A stand-in is known by being empty and by
a time of change that nothing else has, so that one that a crash left behind is found and removed too.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

MADE = 1
"""Time of change of a stand-in: one second into 1970."""


def place(path: Path, *, folder: bool) -> None:
    """Make a stand-in where nothing is; what cannot be made there by us cannot be made by a command either."""
    if not path.parent.is_dir() or os.path.lexists(path):
        return
    with suppress(OSError):
        if folder:
            path.mkdir(mode=0o755)
        else:
            path.touch(mode=0o644, exist_ok=False)
        os.utime(path, (MADE, MADE), follow_symlinks=False)


def remove(paths: Iterable[Path]) -> None:
    """Remove the stand-ins among these paths; anything else stays."""
    for path in paths:
        with suppress(OSError):
            status = path.lstat()
            if int(status.st_mtime) != MADE:
                continue
            if stat.S_ISDIR(status.st_mode):
                path.rmdir()  # which refuses a folder that is not empty
            elif stat.S_ISREG(status.st_mode) and status.st_size == 0:
                path.unlink()
