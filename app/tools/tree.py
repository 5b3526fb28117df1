"""The project's files in order, without what git would ignore and without following links."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from app.core.path_glob import path_glob
from app.core.skipped_folders import SKIPPED_FOLDERS

IGNORE_FILE_BYTES = 1_000_000
MAX_DEPTH = 64

_Rules = tuple[tuple[str, GitIgnoreSpec], ...]
"""Ignore files from the outermost on: the folder they stand in ("" for the root), and their rules."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file of the project."""

    relative: str
    """Relative to the project, forward slashes."""
    link: str = ""
    """Where it points, when it is a link."""


class Ignore:
    """The .gitignore rules of a project; the deepest file that says something about a path decides."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._specs: dict[str, GitIgnoreSpec | None] = {}

    def hides(self, relative: str, *, folder: bool = False) -> bool:
        """Whether git would ignore this path, or a folder above it."""
        parts = relative.split("/")
        rules = self.rules(())
        for depth in range(1, len(parts)):
            above = "/".join(parts[:depth])
            if parts[depth - 1] in SKIPPED_FOLDERS or is_ignored(rules, f"{above}/"):
                return True
            rules = self.rules(rules, above)
        return is_ignored(rules, f"{relative}/" if folder else relative)

    def rules(self, above: _Rules, folder: str = "") -> _Rules:
        """Return the rules in force in a folder, given those above it."""
        if folder not in self._specs:
            self._specs[folder] = self._read(folder)
        spec = self._specs[folder]
        return above if spec is None else (*above, (f"{folder}/" if folder else "", spec))

    def _read(self, folder: str) -> GitIgnoreSpec | None:
        sources = [self._root / folder / ".gitignore"]
        if not folder:
            sources.insert(0, self._root / ".git" / "info" / "exclude")
        lines: list[str] = []
        for source in sources:
            try:
                if source.is_file() and source.stat().st_size <= IGNORE_FILE_BYTES:
                    lines.extend(source.read_text("utf-8", "replace").splitlines())
            except OSError:
                continue
        try:
            return GitIgnoreSpec.from_lines(lines) if lines else None
        except ValueError:
            return None


def is_ignored(rules: _Rules, relative: str) -> bool:
    """Whether the innermost rule that matches a path ignores it; folders end with ``/``."""
    for prefix, spec in reversed(rules):
        verdict = spec.check_file(relative[len(prefix) :]).include
        if verdict is not None:
            return verdict
    return False


def walk(root: Path, start: str = "", *, everything: bool = False) -> Iterator[Found]:
    """Yield the files below a folder, sorted by name with files before folders.

    Args:
        root: The project folder.
        start: Folder to begin in, relative, "" for the project.
        everything: Also what git would ignore, `SKIPPED_FOLDERS` still left out.
    """
    ignore = Ignore(root)
    rules: _Rules = ()
    if not everything:
        rules = ignore.rules(())
        parts = start.split("/") if start else []
        for depth in range(1, len(parts) + 1):
            rules = ignore.rules(rules, "/".join(parts[:depth]))
    pending: list[tuple[str, _Rules]] = [(start, rules)]
    while pending:
        folder, rules = pending.pop()
        files, below = _entries(root, folder, rules)
        yield from files
        if folder.count("/") >= MAX_DEPTH:
            continue
        for name in reversed(below):
            pending.append((name, () if everything else ignore.rules(rules, name)))


def _entries(root: Path, folder: str, rules: _Rules) -> tuple[list[Found], list[str]]:
    prefix = f"{folder}/" if folder else ""
    files: list[Found] = []
    below: list[str] = []
    try:
        with os.scandir(root / folder) as entries:
            for entry in entries:
                relative = prefix + entry.name
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIPPED_FOLDERS and not is_ignored(rules, f"{relative}/"):
                        below.append(relative)
                elif not is_ignored(rules, relative) and not entry.name.startswith(".pal-write-"):
                    files.append(Found(relative, _target(entry)))
    except OSError:
        return [], []
    return sorted(files, key=lambda found: found.relative), sorted(below)


def _target(entry: os.DirEntry[str]) -> str:
    if not entry.is_symlink():
        return ""
    try:
        return str(Path(entry.path).readlink())
    except OSError:
        return "?"


class Glob:
    """A path pattern: ``*`` stays within a folder, ``**`` does not; without a slash it matches names at any depth."""

    def __init__(self, pattern: str) -> None:
        self._name_only = "/" not in pattern.strip("/")
        self._expression = path_glob(pattern.lstrip("/"))

    def matches(self, relative: str) -> bool:
        """Whether a path relative to the search's folder matches."""
        subject = relative.rsplit("/", 1)[-1] if self._name_only else relative
        return self._expression.fullmatch(subject) is not None
