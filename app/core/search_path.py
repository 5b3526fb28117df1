"""The search path of programs, without what a project could fill."""

from __future__ import annotations

import os
from pathlib import PurePath


def absolute_only(search_path: str) -> str:
    """Return a search path without relative entries: those mean another folder wherever a command is run."""
    entries = search_path.split(os.pathsep)
    return os.pathsep.join(entry for entry in entries if PurePath(entry).is_absolute())


def outside_of(folder: PurePath, search_path: str) -> str:
    """Return a search path without relative entries and those in a folder, to look up programs of the system."""
    entries = absolute_only(search_path).split(os.pathsep)
    return os.pathsep.join(
        entry
        for entry in entries
        if not PurePath(os.path.normpath(entry)).is_relative_to(folder) and entry
    )
