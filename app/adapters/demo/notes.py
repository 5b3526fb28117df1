"""The model's own notes in its answers: they outlive the results they speak of, and so carry it over a clearing."""

from __future__ import annotations

import re

FILES_LABEL = "Files to read"
MAX_LISTED = 150
_FILE_NOTE = re.compile(r"^\s*(?:- )?`([^`]+)` — (.+)$", re.M)
_FILES = re.compile(rf"^{FILES_LABEL} \((\d+)\): (.+)$", re.M)


def file_note(path: str, description: str) -> str:
    """Return the line that keeps what a file holds."""
    return f"`{path}` — {description}"


def file_notes(text: str) -> dict[str, str]:
    """Return path to description of all such lines, a later one in place of an earlier one."""
    return {path: description.strip() for path, description in _FILE_NOTE.findall(text)}


def files_note(paths: list[str]) -> str:
    """Return the line that keeps which files are to be read; "" when they are too many for a line."""
    if not paths or len(paths) > MAX_LISTED or any("`" in path for path in paths):
        return ""
    return f"{FILES_LABEL} ({len(paths)}): " + " ".join(f"`{path}`" for path in paths)


def listed_files(text: str) -> list[str] | None:
    """Return the files of the newest such line, or None."""
    lines = _FILES.findall(text)
    return re.findall(r"`([^`]+)`", lines[-1][1]) if lines else None
