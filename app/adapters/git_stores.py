"""The git repositories in a folder, and what in them must stay as it is because git runs or obeys it."""

from __future__ import annotations

import os
import re
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.core.skipped_folders import SKIPPED_FOLDERS

MOST_FOLDERS = 20_000
MOST_SECONDS = 1.0
"""A search this long is cut off: what lies nearest to the top was looked at first."""
MOST_STORES = 200
LARGEST_CONFIG = 1_000_000
ITSELF = b".\n"
"""Content of a ``commondir`` that says what git assumes without one."""

_FOLDERS = ("hooks", "modules", "worktrees")
_FILES = ("config", "config.worktree", "commondir")
_LAID_OUT = {"HEAD", "objects", "refs"}
"""What makes a folder a repository without a working tree."""
_TELLING = _LAID_OUT | {".git"}
_NAMED = re.compile(
    r"(?:^|\])[ \t]*(hookspath|path)[ \t]*=[ \t]*(.*?)[ \t]*$", re.IGNORECASE | re.MULTILINE
)
"""Settings that name a folder of hooks, or another configuration."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A path that stays as it is, also when it is missing."""

    path: Path
    is_folder: bool
    content: bytes = b""
    """What a stand-in for a missing file holds."""


@dataclass(frozen=True, slots=True)
class Store:
    """A repository as it shows in a folder: ``.git``, or a folder that is laid out as a repository itself."""

    entry: Path
    writable: bool
    """Whether it is a folder in which git works; one without that, a file or a link is kept as it is."""

    @property
    def work_tree(self) -> Path:
        """The folder that it stands in."""
        return self.entry.parent

    def kept(self, root: Path) -> tuple[Kept, ...]:
        """Return what in it, and what it names in the project, must stay as it is."""
        if not self.writable:
            return (Kept(self.entry, True),)
        inside = [Kept(self.entry / name, True) for name in _FOLDERS]
        inside += [
            Kept(self.entry / name, False, ITSELF if name == "commondir" else b"")
            for name in _FILES
        ]
        return (*inside, *self._named(root))

    def _named(self, root: Path) -> Iterator[Kept]:
        config = self.entry / "config"
        with suppress(OSError, RuntimeError, ValueError):
            if not config.is_file() or config.stat().st_size > LARGEST_CONFIG:
                return
            text = config.read_text("utf-8", "replace")
            includes = re.search(r"\[\s*include", text, re.IGNORECASE) is not None
            for name, quoted in _NAMED.findall(text):
                is_hooks, value = name.lower() == "hookspath", quoted.strip('"')
                if not (is_hooks or includes) or not value or "\0" in value:
                    continue
                base = self.work_tree if is_hooks else self.entry
                path = Path(os.path.normpath(base / Path(value).expanduser()))
                if path != root and path.is_relative_to(root) and path != self.work_tree:
                    yield Kept(path, is_hooks)


def find(root: Path) -> tuple[Store, ...]:
    """Return the repositories in a folder, the nearest first; the folder's own ``.git`` also where that is missing.

    Big folders of other people's code and of caches are left out, links are not followed, and the search is bounded.
    Blocks.
    """
    top = root / ".git"
    found = [Store(top, _works(top))]
    pending, seen = deque([root]), 0
    deadline = time.monotonic() + MOST_SECONDS
    while pending and seen < MOST_FOLDERS and len(found) < MOST_STORES:
        if time.monotonic() > deadline:
            break
        folder = pending.popleft()
        seen += 1
        names, below = _entries(folder)
        if ".git" in names and folder != root:
            found.append(Store(folder / ".git", _works(folder / ".git")))
        if names >= _LAID_OUT:
            found.append(Store(folder, _works(folder)))
            continue
        pending.extend(below)
    return tuple(found)


def above(stores: Iterable[Store], root: Path) -> set[Path]:
    """Return the folders between a project and its repositories: moved away, one would take its repository along."""
    return {
        folder
        for store in stores
        for folder in store.entry.parents
        if folder != root and folder.is_relative_to(root)
    }


def _works(entry: Path) -> bool:
    """Whether git may work in a store while what it obeys is kept: a link could be replaced as a whole."""
    names = ("", *_FOLDERS, *_FILES)
    return os.path.lexists(entry / "HEAD") and not any((entry / n).is_symlink() for n in names)


def _entries(folder: Path) -> tuple[set[str], list[Path]]:
    names: set[str] = set()
    below: list[Path] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name in _TELLING:
                names.add(entry.name)
            if entry.is_dir(follow_symlinks=False) and entry.name not in SKIPPED_FOLDERS:
                below.append(folder / entry.name)
    return names, below
