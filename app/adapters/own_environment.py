"""Our credentials leave the environment once they are read: no child inherits them, no other process reads them."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

_STAT = Path("/proc/self/stat")
_ARGUMENTS, _ARGUMENTS_END, _ENVIRONMENT, _ENVIRONMENT_END = 47, 48, 49, 50
"""Places of the bounds in ``/proc/self/stat``, counted from 0."""
_PR_SET_DUMPABLE = 4
LEAST_CHARS = 8
"""Shorter keys are stand-ins for servers that want any; they could be part of other words."""


def forget_keys(keys: Collection[str]) -> None:
    """Take these keys out of the environment, and out of what Linux shows of a process's start in ``/proc``.

    Deleting a variable leaves the text with which the process was started in place; so it is overwritten there, also
    where a key stood in an argument.
    """
    found = [key for key in keys if len(key) >= LEAST_CHARS]
    for name, value in list(os.environ.items()):
        if any(key in value for key in found):
            del os.environ[name]
    if found and sys.platform.startswith("linux"):
        for start, end in _regions():
            _overwrite(start, end, [os.fsencode(key) for key in found])


def hide_environment() -> bool:
    """Keep the user's other processes from reading this one's environment and memory (Linux); say if it worked.

    The environment it was started with stays in /proc even after a variable is deleted.
    """
    if not sys.platform.startswith("linux"):
        return False
    import ctypes  # not before the first paint

    with suppress(OSError, AttributeError):
        return bool(ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
    return False


def _regions() -> list[tuple[int, int]]:
    with suppress(OSError, ValueError, IndexError):
        line = _STAT.read_text(encoding="latin-1")
        fields = ["", "", *line.rpartition(")")[2].split()]  # the name in front may hold blanks
        bounds = [
            (int(fields[first]), int(fields[last]))
            for first, last in ((_ARGUMENTS, _ARGUMENTS_END), (_ENVIRONMENT, _ENVIRONMENT_END))
        ]
        return [(start, end) for start, end in bounds if 0 < start < end]
    return []


def _overwrite(start: int, end: int, keys: list[bytes]) -> None:
    """Overwrite every key between two addresses of our own memory; the bounds come from /proc/self."""
    import ctypes  # not before the first paint

    data = ctypes.string_at(start, end - start)
    for key in keys:
        at = data.find(key)
        while at >= 0:
            ctypes.memset(start + at, ord("x"), len(key))
            at = data.find(key, at + len(key))
