"""Which files a command changed: two cheap scans of names, sizes and times, and what differs between them."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.core.skipped_folders import SKIPPED_FOLDERS
from app.tools.tree import Ignore

MAX_FILES = 20_000
MAX_SECONDS = 2.0
"""A slow file system must not make every command slow."""
MAX_CHANGES = 200
"""Files named for one command; a build may touch more, and nobody reads such a list."""

Stamp = tuple[int, int, int, int]
"""Size in bytes, times of change of content and of the file in nanoseconds, inode."""


def stamp_of(status: os.stat_result) -> Stamp:
    """Return what differs when a file was changed, its rights included."""
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


@dataclass(frozen=True, slots=True)
class Scan:
    """The files of a folder at one moment."""

    files: Mapping[str, Stamp]
    """By relative path with forward slashes."""
    complete: bool
    """Whether all files were looked at, within `MAX_FILES` and `MAX_SECONDS`."""
    folders: frozenset[str] = frozenset()
    """Folders that were looked into, but for the topmost."""


def scan(root: Path, *, limit: int = MAX_FILES, seconds: float = MAX_SECONDS) -> Scan:
    """Return the files below a folder, nearest first; links are noted, never followed. Blocks: call it in a thread."""
    files: dict[str, Stamp] = {}
    folders: set[str] = set()
    pending = deque([""])
    deadline = time.monotonic() + seconds
    while pending:
        if time.monotonic() > deadline:
            return Scan(files, False, frozenset(folders))
        prefix = pending.popleft()
        folders.add(prefix.removesuffix("/"))
        try:
            with os.scandir(root / prefix) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in SKIPPED_FOLDERS:
                            pending.append(f"{prefix}{entry.name}/")
                        continue
                    if len(files) >= limit:
                        return Scan(files, False, frozenset(folders))
                    files[prefix + entry.name] = stamp_of(entry.stat(follow_symlinks=False))
        except OSError:
            continue
    return Scan(files, True, frozenset(folders - {""}))


def made_folders(before: Scan, after: Scan, root: Path) -> tuple[str, ...]:
    """Return up to `MAX_CHANGES` folders that only the later scan has, without ignored ones."""
    if not before.complete:
        return ()
    ignore = Ignore(root)
    new = (name for name in sorted(after.folders - before.folders - {""}))
    return tuple(name for name in new if not ignore.hides(name, folder=True))[:MAX_CHANGES]


def changed(before: Scan, after: Scan, root: Path, *, limit: int = MAX_CHANGES) -> tuple[str, ...]:
    """Return up to ``limit`` files created, changed or deleted between two scans, sorted, without ignored ones."""
    both_complete = before.complete and after.complete
    names = (
        before.files.keys() | after.files.keys()
        if both_complete
        else before.files.keys() & after.files.keys()
    )
    differing = sorted(name for name in names if before.files.get(name) != after.files.get(name))
    ignore = Ignore(root)
    kept: list[str] = []
    for name in differing:
        if not ignore.hides(name):
            kept.append(name)
            if len(kept) == limit:
                break
    return tuple(kept)
