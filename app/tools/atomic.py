"""Writing a file so that it is old or new at every instant, never a mix."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
from pathlib import Path

from app.alive import is_alive
from app.core.skipped_folders import SKIPPED_FOLDERS
from app.durable import replace_file
from app.errors import ToolError
from app.tools.workspace import Resolved, Workspace, reason

TEMPORARY = re.compile(r"\.pal-write-(\d+)-[0-9a-f]{8}$")
"""Name of a file being written: process id and a random part."""
MAX_FOLDERS = 5_000
"""Folders in which leftovers are looked for."""


def write(workspace: Workspace, resolved: Resolved, data: bytes, *, mode: int | None = None) -> int:
    """Replace or create a file inside the project; missing folders are made, mode, owner and attributes kept.

    Where a file has several names (hard links), only this one gets the new bytes: the others may lie outside.

    Args:
        workspace: The project.
        resolved: The file.
        data: All that it shall hold.
        mode: Its permission bits, where they shall not be those that it has.

    Returns:
        How many other names still stand for the old bytes.

    Raises:
        ToolError: It cannot be written; what was there is untouched and nothing is left behind.
    """
    try:
        parent = Resolved(resolved.path.parent, "", inside=True)
        folder = workspace.open_folder(parent, create=True)
        try:
            return _replace(folder, resolved.path.name, data, mode)
        finally:
            os.close(folder)
    except OSError as error:
        raise ToolError(f"cannot write {reason(resolved, error)}; nothing was changed") from error


def remove(workspace: Workspace, resolved: Resolved) -> None:
    """Delete a file inside the project; one that is missing already is fine.

    Raises:
        ToolError: It is no file, or cannot be deleted.
    """
    try:
        folder = workspace.open_folder(Resolved(resolved.path.parent, "", inside=True))
        try:
            if _status(folder, resolved.path.name) is not None:
                os.unlink(resolved.path.name, dir_fd=folder)
        finally:
            os.close(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise ToolError(f"cannot delete {reason(resolved, error)}") from error


def remove_folder(workspace: Workspace, resolved: Resolved) -> None:
    """Remove an empty folder inside the project, reached without following links.

    Raises:
        OSError: It is no folder, or not empty.
    """
    above = workspace.open_folder(Resolved(resolved.path.parent, "", inside=True))
    try:
        os.rmdir(resolved.path.name, dir_fd=above)
    finally:
        os.close(above)


def remove_leftovers(root: Path) -> int:
    """Delete temporary files below a folder whose writer was killed; return how many. Blocks."""
    removed = 0
    for visited, (folder, below, names) in enumerate(os.walk(root)):
        below[:] = () if visited >= MAX_FOLDERS else set(below) - SKIPPED_FOLDERS
        for name in names:
            found = TEMPORARY.fullmatch(name)
            if found and not is_alive(int(found.group(1))):
                with contextlib.suppress(OSError):
                    Path(folder, name).unlink()
                    removed += 1
    return removed


def _replace(folder: int, name: str, data: bytes, mode: int | None) -> int:
    old = _status(folder, name)

    def finish(descriptor: int) -> None:
        if old is not None:
            _copy_metadata(folder, name, old, descriptor)
        if mode is not None:
            os.fchmod(descriptor, mode)

    temporary = f".pal-write-{os.getpid()}-{secrets.token_hex(4)}"
    replace_file(name, temporary, [data], mode=0o666, folder=folder, finish=finish)
    with contextlib.suppress(OSError):
        os.fsync(folder)
    return old.st_nlink - 1 if old is not None else 0


def names_note(others: int) -> str:
    """Return what to tell of other names of a file that kept the old bytes; "" when there are none."""
    if not others:
        return ""
    which = "another name" if others == 1 else f"{others:,} other names"
    return f"; {which} of this file (hard links) still hold{'s' if others == 1 else ''} what it was"


def _status(folder: int, name: str) -> os.stat_result | None:
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise IsADirectoryError(0, "it is not a regular file")
    if not os.access(name, os.W_OK, dir_fd=folder):
        raise PermissionError(0, "permission denied")
    return status


def _copy_metadata(folder: int, name: str, old: os.stat_result, descriptor: int) -> None:
    with contextlib.suppress(OSError):
        os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
    if not hasattr(os, "listxattr"):
        return
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    with contextlib.suppress(OSError):
        source = os.open(name, flags, dir_fd=folder)
        try:
            for attribute in os.listxattr(source):
                with contextlib.suppress(OSError):
                    os.setxattr(descriptor, attribute, os.getxattr(source, attribute))
        finally:
            os.close(source)
