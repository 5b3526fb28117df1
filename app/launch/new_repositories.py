"""Repositories that a confined command made: one that would run programs is put out of use.

The sandbox keeps the repositories that are there. One that a command makes, in a folder of its own or as a submodule,
would run its programs outside of the sandbox as soon as git, a prompt or an editor looks at it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from app.adapters import git_stores
from app.adapters.git_stores import Store
from app.core.visible_text import escaped
from app.permission.git_repository import new_repository_runs, submodule_entries

SUFFIX = ".disabled"
"""What is added to the name of ``HEAD``, without which a folder is no repository, or of a file or link."""


def repositories(root: Path, stores: Iterable[Store] | None = None) -> frozenset[Path]:
    """Return what stands for repositories in a folder now. Blocks.

    Args:
        root: The folder.
        stores: Those that `git_stores.find` just found there, to spare looking again.
    """
    stores = git_stores.find(root) if stores is None else stores
    named = (entry for entry in submodule_entries(root) if os.path.lexists(entry))
    found = (store.entry for store in stores if os.path.lexists(store.entry))
    return frozenset((*found, *named))


def disable_new(root: Path, known: frozenset[Path]) -> str:
    """Put those out of use that are not known and would run programs; return what was done, "" for nothing. Blocks."""
    told = []
    for entry in sorted(repositories(root) - known):
        why = new_repository_runs(entry)
        renamed = entry / "HEAD" if entry.is_dir() and not entry.is_symlink() else entry
        if why and os.path.lexists(renamed):
            with suppress(OSError):
                renamed.rename(f"{renamed}{SUFFIX}")
                shown = escaped(renamed.relative_to(root).as_posix())
                told.append(f"{shown} is now {shown}{SUFFIX}, because {why}")
    if not told:
        return ""
    return (
        "the command made a git repository that would run programs outside of the sandbox, so it was put out of use: "
        + "; ".join(told)
    )
