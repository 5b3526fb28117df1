"""Paths as facts for a judgement: what lies in the project, what is protected, what is ours."""

from __future__ import annotations

import glob
import os
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from app.core.own_folders import CONFIG_FOLDER
from app.core.permission import OWN_NAMES
from app.permission.words import Word

DEVICES_TO_WRITE = ("/dev/null", "/dev/tty", "/dev/stdout", "/dev/stderr")
MOST_MATCHES = 500
"""Files that a pattern may stand for and still be looked at one by one."""
MOST_ENTRIES = 20_000
"""Files below a folder that are looked through for links."""

_RUN_LATER = (
    ".git",
    ".envrc",
    ".vscode",
    ".idea",
    ".devcontainer",
    ".husky",
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".mcp.json",
    ".gitmodules",
    ".npmrc",
    ".pypirc",
    ".gitconfig",
    ".ssh",
    ".gnupg",
    ".profile",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".claude.json",
    ".ripgreprc",
)
"""Names that other programs act on by themselves: a write there is asked in every mode."""
STORE = ("HEAD", "objects", "refs")
"""What makes a folder a git repository without a working tree."""
_SECRET = re.compile(r"\.env(?:\.(?!example$|sample$|template$|dist$).*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Place:
    """What a path means, links followed."""

    path: str
    """Real and absolute."""
    inside: bool
    """In the project folder (or the folder itself)."""
    relative: str
    """Relative to the project with forward slashes; the real path when outside."""
    protected: str = ""
    """Why a write there is always asked; "" when it is not."""
    own: bool = False
    """Whether it is this program's record or settings."""
    secret: bool = False
    """Whether it is a file that holds keys."""


@dataclass(frozen=True, slots=True)
class Places:
    """The folders that a judgement is made against."""

    folder: Path
    """The project, real path."""
    home: Path
    _own: tuple[str, ...] = field(default=(), repr=False)
    """Real paths of what is this program's own, in one case."""
    _programs: tuple[str, ...] = field(default=(), repr=False)
    """Folders of the search path that the project can fill: inside it, or relative."""

    @classmethod
    def of(
        cls, folder: Path, home: Path, own: Iterable[Path] = (), *, search_path: str = ""
    ) -> Places:
        """Return the places of a project, with this program's own ones resolved once.

        Args:
            folder: The project.
            home: The home folder.
            own: Further files and folders that are this program's own, such as a record kept elsewhere.
            search_path: ``PATH`` of the commands.
        """
        root = Path(os.path.realpath(folder))
        ours = (*(root / name for name in OWN_NAMES), home / CONFIG_FOLDER, *own)
        real = tuple(_folded(os.path.realpath(path)) for path in ours)
        programs = tuple(
            entry
            for entry in search_path.split(os.pathsep)
            if search_path and (not Path(entry).is_absolute() or _is_below(entry, str(root)))
        )
        return cls(root, Path(os.path.realpath(home)), real, programs)

    def look(self, path: str, base: str | None = None) -> Place | None:
        """Return what a path means from a folder (default: the project's); None when it is not a path."""
        if not path or "\0" in path:
            return None
        start = Path(self._expanded(base)) if base else self.folder
        try:
            real = os.path.realpath(start / self._expanded(path))
        except (OSError, ValueError, RuntimeError):
            return None
        root = str(self.folder)
        inside = _is_below(real, root)
        relative = (os.path.relpath(real, root) if inside else real).replace(os.sep, "/")
        parts = relative.split("/")
        folded = _folded(real)
        own = any(folded == mine or folded.startswith(mine + "/") for mine in self._own)
        secret = _SECRET.fullmatch(parts[-1]) is not None
        protected = _protected(parts, secret) or self._in_store(parts) if inside else ""
        return Place(real, inside, relative, protected, own, secret)

    def _in_store(self, parts: list[str]) -> str:
        """Why a write into a repository that has no ``.git`` around it is asked; "" when it is in none."""
        folder = self.folder
        for part in ("", *parts[:-1]):
            folder = folder / part
            if all((folder / name).exists() for name in STORE):
                return f"{part or folder.name} is laid out as a git repository"
        return ""

    def _expanded(self, path: str) -> str:
        return str(self.home) + path[1:] if path == "~" or path.startswith("~/") else path

    def matches(self, pattern: str, base: str) -> list[str] | None:
        """Return the files that a shell pattern stands for now; None when they are too many.

        Without a match a shell leaves the pattern as it is, so that is returned then.
        """
        found = []
        for name in glob.iglob(pattern, root_dir=self._expanded(base)):  # noqa: PTH207 - as a shell
            found.append(name)
            if len(found) > MOST_MATCHES:
                return None
        return found or [pattern]

    def own_program(self, name: str, base: str) -> str:
        """Return the project's own file that would run under a program's bare name; "" when none would.

        A link to a program of the same name outside, such as a virtual environment's ``python``, is none.
        """
        for entry in self._programs:
            file = Path(self._expanded(base), entry, name)
            if not file.exists():
                continue
            real = Path(os.path.realpath(file))
            same = real.name.rstrip("0123456789.") == name.rstrip("0123456789.")
            if not same or _is_below(str(real), str(self.folder)):
                return os.path.join(entry, name)  # noqa: PTH118 - as the search path has it
        return ""

    def leads_out(self, path: str, base: str) -> bool:
        """Whether a link below a folder leads out of the project, or the folder is too large to tell."""
        pending, seen = [str(Path(self._expanded(base), self._expanded(path)))], 0
        while pending:
            try:
                with os.scandir(pending.pop()) as found:
                    entries = list(found)
            except OSError:
                continue  # a file, or nothing
            seen += len(entries)
            if seen > MOST_ENTRIES or any(map(self._is_link_out, entries)):
                return True
            pending += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        return False

    def _is_link_out(self, entry: os.DirEntry[str]) -> bool:
        try:
            return entry.is_symlink() and not _is_below(entry.path, str(self.folder))
        except OSError:  # it changes while it is looked at
            return True


def is_stream(word: Word) -> bool:
    """Whether a redirection's target is no file but a terminal, a descriptor or nothing."""
    return word.text is not None and (
        word.text in DEVICES_TO_WRITE or word.text.startswith("/dev/fd/")
    )


def _is_below(path: str, folder: str) -> bool:
    real = os.path.realpath(path)
    return real == folder or real.startswith(folder.rstrip("/") + "/")


def _protected(parts: list[str], secret: bool) -> str:
    for part in parts:
        if _plain(part) in _RUN_LATER:
            return f"other programs act on what is in {part}"
    return "it holds keys or changes the environment" if secret else ""


def _plain(name: str) -> str:
    """Return a name as file systems know it that tell neither case nor hidden characters nor ends apart."""
    shown = "".join(char for char in name if unicodedata.category(char) != "Cf")
    plain = shown.casefold().partition(":")[0].rstrip(" .")
    return ".git" if plain == "git~1" else plain


def _folded(path: str) -> str:
    path = "".join(char for char in path if unicodedata.category(char) != "Cf")
    return path.casefold().rstrip("/")
