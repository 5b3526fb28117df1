"""Files through which programs of this machine can be talked to (Linux)."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_TABLE = Path("/proc/net/unix")
_COLUMNS = 8
"""The last one is the path, if there is one."""
HIDDEN = (Path("/run"), Path("/tmp"))
"""Folders that the sandbox hides as a whole, but for a project in them."""


def named(root: Path) -> list[Path]:
    """Return those that a confined command could see.

    Args:
        root: The project.
    """
    rows: list[list[str]] = []
    with suppress(OSError):
        text = _TABLE.read_text("utf-8", "replace")
        rows = [row.split(maxsplit=_COLUMNS - 1) for row in text.splitlines()]
    paths = {Path(row[-1]) for row in rows if len(row) == _COLUMNS and row[-1].startswith("/")}
    return [path for path in sorted(paths) if _is_seen(path, root)]


def _is_seen(path: Path, root: Path) -> bool:
    hidden = any(path.is_relative_to(folder) for folder in HIDDEN)
    with suppress(OSError):
        return (path.is_relative_to(root) or not hidden) and path.is_socket()
    return False
