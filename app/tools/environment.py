"""The environment of commands: the project's own programs, no secrets of ours, nothing that waits for a person."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

SECRET_PREFIXES = ("ANTHROPIC_", "PAL_")
SECRET_NAMES = frozenset({"MODEL_ID"})
REMOVED_NAMES = frozenset({"BASH_ENV", "ENV", "UV_RUN_RECURSION_DEPTH", "__PYVENV_LAUNCHER__"})
"""Start-up files that a shell would run unasked, and marks of the way this program was started."""
NEUTRAL = {
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "SSH_ASKPASS": "false",
    "GIT_ASKPASS": "false",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "TERM": "dumb",
    "NO_COLOR": "1",
}
"""Editors and pagers that end at once, and programs told not to ask."""


def child_environment(
    environment: Mapping[str, str], *, project: Path, own: Path | None = None
) -> dict[str, str]:
    """Return the environment for a command.

    Args:
        environment: Ours.
        project: The project folder; a virtual environment inside it is the project's own and stays.
        own: The virtual environment that this program runs in; None finds it.
    """
    child = {name: value for name, value in environment.items() if not _is_dropped(name)}
    prefix = own if own is not None else _own_environment()
    if prefix is not None and not _is_inside(prefix, project):
        _leave(child, prefix)
    child.update(NEUTRAL)
    return child


def _own_environment() -> Path | None:
    return Path(sys.prefix) if sys.prefix != sys.base_prefix else None


def _is_dropped(name: str) -> bool:
    upper = name.upper()
    return upper.startswith(SECRET_PREFIXES) or upper in SECRET_NAMES or upper in REMOVED_NAMES


def _leave(child: dict[str, str], prefix: Path) -> None:
    """Take a virtual environment out of PATH and VIRTUAL_ENV, as its ``deactivate`` would."""
    real = Path(os.path.realpath(prefix))
    folders = child.get("PATH", os.defpath).split(os.pathsep)
    kept = [f for f in folders if not f or Path(os.path.realpath(Path(f).parent)) != real]
    child["PATH"] = os.pathsep.join(kept) or os.defpath
    if Path(os.path.realpath(child.get("VIRTUAL_ENV") or os.devnull)) == real:
        for name in ("VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT"):
            child.pop(name, None)


def _is_inside(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
