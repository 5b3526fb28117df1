"""The model's own notes in its answers: they outlive the results they speak of, and so carry it over a clearing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from posixpath import split

FILES_LABEL = "Files to read"
MAX_LISTED = 600
"""Files that one line may name; more are listed again when their list is gone."""
_FILE_NOTE = re.compile(r"^\s*(?:- )?`([^`]+)` — (.+)$", re.M)
_FILES = re.compile(rf"^{FILES_LABEL} \(\d+\): (.+)$", re.M)
_ODD = re.compile(r"[\s|`]")


def file_note(path: str, description: str) -> str:
    """Return the line that keeps what a file holds."""
    return f"`{path}` — {description}"


def file_notes(text: str) -> dict[str, str]:
    """Return path to description of all such lines, a later one in place of an earlier one."""
    return {path: description.strip() for path, description in _FILE_NOTE.findall(text)}


def by_folder(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return the names in each folder, in the order of their first appearance."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, name = split(path)
        folders.setdefault(f"{folder}/" if folder else "./", []).append(name)
    return folders


def named(paths: Iterable[str], *, most: int) -> list[str]:
    """Return the paths, or one entry a folder with its names where there are more than ``most``."""
    paths = list(paths)
    if len(paths) <= most:
        return [f"`{path}`" for path in paths]
    return [f"`{folder}` {plain(', '.join(names))}" for folder, names in by_folder(paths).items()]


def plain(text: str) -> str:
    """Return Markdown that shows a text as it is: ``__init__.py`` is no word in bold."""
    return re.sub(r"([\\`*_])", r"\\\1", text)


def files_note(paths: list[str]) -> str:
    """Return the line that keeps which files are to be read; "" when no line can."""
    if not paths or len(paths) > MAX_LISTED or any(_ODD.search(path) for path in paths):
        return ""
    folders = (f"`{folder} {' '.join(names)}`" for folder, names in by_folder(paths).items())
    return f"{FILES_LABEL} ({len(paths)}): {' | '.join(folders)}"


def listed_files(text: str) -> list[str] | None:
    """Return the files of the newest such line, or None."""
    lines = _FILES.findall(text)
    if not lines:
        return None
    found: list[str] = []
    for part in lines[-1].split(" | "):
        folder, *names = part.strip("`").split()
        found += [("" if folder == "./" else folder) + name for name in names]
    return found
