"""Folders that a crash left among the sessions: copies that were not whole yet, sessions that were being deleted."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from app.adapters.session_lock import LOCK_FILE, SessionLock
from app.errors import SessionBusy

_PARTIAL, _DELETED = ".pal-partial-", ".pal-deleted-"
_OURS = re.compile(rf"({re.escape(_PARTIAL)}|{re.escape(_DELETED)})[0-9a-f]{{8}}")


def partial_folder(root: Path) -> tuple[Path, SessionLock]:
    """Make a folder for a copy that is not whole yet, and hold it: while its lock is held it is nobody's leftover.

    Raises:
        OSError: It cannot be made.
    """
    folder = root / f"{_PARTIAL}{secrets.token_hex(4)}"
    folder.mkdir(mode=0o700)
    return folder, SessionLock(folder)


def deleted_name(root: Path) -> Path:
    """Return where a session goes while it is deleted."""
    return root / f"{_DELETED}{secrets.token_hex(4)}"


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it, also while another process does the same.

    Raises:
        OSError: Something of it cannot be removed.
    """
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)


def remove_leftovers(root: Path) -> None:
    """Remove what a crash left half copied or half deleted.

    What a process works on stays; so does what cannot be removed now, until the next time.
    """
    with suppress(OSError), os.scandir(root) as found:
        names = [
            e.name for e in found if _OURS.fullmatch(e.name) and e.is_dir(follow_symlinks=False)
        ]
        for name in names:
            with suppress(OSError, SessionBusy):
                _remove(root / name)


def _remove(folder: Path) -> None:
    if folder.name.startswith(
        _DELETED
    ):  # nobody holds it: only who held the session could delete it
        remove_folder(folder)
    elif (folder / LOCK_FILE).exists():  # else it is being made this moment, and empty
        lock = SessionLock(folder)
        try:
            if lock.held:
                remove_folder(folder)
        finally:
            lock.release()
