"""Which git repositories would run programs when a command only looks at them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from app.permission.places import STORE

_PROGRAM_KEYS = re.compile(
    r"(?<![\w.-])(?:fsmonitor|external|textconv|command|program|clean|smudge|process|worktree"
    r"|sshcommand|uploadpack|alternaterefscommand|submodule|submodulesummary)\s*=\s*(.*)$",
    re.IGNORECASE,
)
"""Keys whose value is a program, wherever they stand on a line: a header or a quote may stand in front of them."""
_HOOKS_PATH = re.compile(r"(?<![\w.-])hookspath\s*=\s*(.*)$", re.IGNORECASE | re.MULTILINE)
_FETCHES = re.compile(
    r"(?<![\w.-])(?:promisor|partialclone)\s*(?:=|$)", re.IGNORECASE | re.MULTILINE
)
_WORK_TREE = re.compile(r"^\s*worktree\s*=\s*(.*)$", re.IGNORECASE | re.MULTILINE)
_HARMLESS_VALUES = re.compile(
    r"(?:true|false|0|1|cat|short|git-lfs (?:clean|smudge|filter-process)\b[\w %.-]*|\.?\./?|)\s*$"
)
INDEX_HOOK = "post-index-change"
"""The only hook that commands run which look."""
_GITLINK = b"\x00\x00\xe0\x00"
"""Mode of a submodule's entry in the index."""
LARGEST_CONFIG = 1_000_000
LARGEST_INDEX = 100_000_000
DEEPEST = 5
"""Levels of submodules that are looked into."""


def repository_runs(folder: Path) -> str:
    """Return what in a repository's own configuration would run a program at a mere look, "" for nothing.

    A folder that is a bare repository by its content counts as such: it was not made by ``git clone``.
    """
    for place in (folder, *folder.parents):
        if (place / ".git").exists():
            return _repository(place / ".git", 0)
        if all((place / name).exists() for name in STORE):
            return f"{place.name} is laid out as a bare repository"
    return ""


def new_repository_runs(entry: Path) -> str:
    """Return what a repository that somebody else made would run, at a look or at work in it; "" for nothing.

    Args:
        entry: ``.git`` in a working tree, or a folder that is laid out as a repository itself.
    """
    if entry.is_symlink():
        return "it is a link"
    bare = entry.name != ".git"
    why = _config_runs(entry, entry.parent) if bare else _repository(entry, 0)
    if why or entry.is_file():
        return why
    try:
        hooks = [hook.name for hook in (entry / "hooks").iterdir() if hook.suffix != ".sample"]
        named = _HOOKS_PATH.search((entry / "config").read_text("utf-8", "replace"))
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError:
        return "it cannot be read"
    return "it has hooks" if hooks or named else ""


def submodule_entries(root: Path) -> tuple[Path, ...]:
    """Return ``.git`` of each submodule that the index of a folder's repository names."""
    try:
        return tuple(root / name / ".git" for name in _gitlinks(root / ".git" / "index"))
    except (OSError, ValueError, IndexError):
        return ()


def _repository(git: Path, depth: int) -> str:
    """Look into ``.git`` of a working tree, and into the submodules that git would look into too."""
    if depth > DEEPEST:
        return "its submodules are nested too deeply"
    try:
        store = git if git.is_dir() else _own_store(git)
        if store is None or (git.is_dir() and _common(store).resolve() != store.resolve()):
            return "its .git points elsewhere"
        return _config_runs(_common(store), git.parent) or _submodules(store, git.parent, depth)
    except (OSError, ValueError):
        return "its .git cannot be read"


def _own_store(git: Path) -> Path | None:
    """Return the folder that a ``.git`` file names, if that is a worktree's or submodule's and points back here."""
    target = git.read_text("utf-8", "replace").removeprefix("gitdir:").strip()
    store = (git.parent / target).resolve()
    back = store / "gitdir"
    if back.is_file():
        owner = (store / back.read_text("utf-8", "replace").strip()).resolve()
        return store if owner == git.resolve() and _common(store).is_dir() else None
    return store if _is_work_tree(store, git.parent) else None


def _is_work_tree(store: Path, tree: Path) -> bool:
    """Whether a repository's own configuration names this working tree, as that of a submodule does."""
    config = store / "config"
    if not config.is_file() or config.stat().st_size > LARGEST_CONFIG:
        return False
    named = _WORK_TREE.findall(config.read_text("utf-8", "replace"))
    return len(named) == 1 and (store / named[0].strip().strip('"')).resolve() == tree.resolve()


def _common(store: Path) -> Path:
    shared = store / "commondir"
    return (store / shared.read_text("utf-8").strip()).resolve() if shared.is_file() else store


def _config_runs(git: Path, tree: Path) -> str:
    if (git / "hooks" / INDEX_HOOK).exists():
        return f"it has a hook that runs when its index is read ({INDEX_HOOK})"
    text = ""
    for name in ("config", "config.worktree"):
        file = git / name
        if file.exists():
            if not file.is_file() or file.stat().st_size > LARGEST_CONFIG:
                return "its configuration cannot be read"
            text += file.read_text("utf-8", "replace") + "\n"
    if re.search(r"\[\s*include", text, re.IGNORECASE):
        return "its configuration includes another file"
    if "\\\n" in text or "\\\r\n" in text:
        return "its configuration has continued lines"
    if _FETCHES.search(text):
        return "it fetches what it lacks from elsewhere"
    for line in text.splitlines():
        hooks = _HOOKS_PATH.search(line)
        if hooks and _has_hook(tree, hooks.group(1)):
            return f"it has a hook that runs when its index is read ({INDEX_HOOK})"
        if _WORK_TREE.match(line) and _is_work_tree(git, tree):
            continue
        if not _is_harmless(line):
            return f"its configuration runs a program ({line.strip()[:60]})"
    return ""


def _has_hook(tree: Path, value: str) -> bool:
    folder = value.strip().strip('"')
    if folder.startswith("~"):
        return True
    return (tree / folder / INDEX_HOOK).exists()


def _is_harmless(setting: str) -> bool:
    """Whether each of the settings on a line, one inside the other's value, names no program."""
    while (found := _PROGRAM_KEYS.search(setting)) is not None:
        if not _HARMLESS_VALUES.match(found.group(1).strip().strip('"')):
            return False
        setting = found.group(1)
    return True


def _submodules(store: Path, tree: Path, depth: int) -> str:
    for name in _gitlinks(store / "index"):
        below = tree / name / ".git"
        why = _repository(below, depth + 1) if below.exists() else ""
        if why:
            return f"in its submodule {name}, {why}"
    return ""


def _gitlinks(index: Path) -> list[str]:
    """Return the paths of submodules in an index.

    Raises:
        ValueError: The index is not one, or of a version that is not known, and may hold submodules.
    """
    if not index.exists():
        return []
    if index.stat().st_size > LARGEST_INDEX:
        raise ValueError("too large")
    data = index.read_bytes()
    if _GITLINK not in data:
        return []
    return [name for name, mode in _entries(data) if mode == _GITLINK]


def tracked_names(folder: Path) -> list[str] | None:
    """Return the paths in the index of the repository that a folder is the top of; None when it cannot be read."""
    git = folder / ".git"
    try:
        if git.is_symlink() or not git.is_dir() or _common(git).resolve() != git.resolve():
            return None
        index = git / "index"
        if not index.exists():
            return []
        if index.stat().st_size > LARGEST_INDEX:
            return None
        return [name for name, _ in _entries(index.read_bytes())]
    except (OSError, ValueError, IndexError):
        return None


def _entries(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield path and mode of each entry of an index of version 2 to 4.

    Raises:
        ValueError: It is none of those.
    """
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    if data[:4] != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("not an index")
    at, name = 12, b""
    for _ in range(count):
        start = at
        mode, flags = data[at + 24 : at + 28], int.from_bytes(data[at + 60 : at + 62], "big")
        at += 64 if flags & 0x4000 else 62
        if version == 4:
            drop, at = _varint(data, at)
            end = data.index(b"\0", at)
            name, at = name[: len(name) - drop] + data[at:end], end + 1
        else:
            end = data.index(b"\0", at)
            name = data[at:end]
            at = start + ((end - start) // 8 + 1) * 8
        yield name.decode("utf-8", "surrogateescape"), mode


def _varint(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, at + 1
