"""The unsent text of the prompt on disk, so that a killed program loses none of it."""

from __future__ import annotations

import binascii
import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from app.alive import is_alive
from app.settings.private_file import write_private

MOST_CHARS = 2_000_000
"""A larger draft is not kept: such a text was pasted and can be again."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An unsent text with what is folded in it."""

    text: str = ""
    pastes: Mapping[int, str] = field(default_factory=dict)
    """Folded pastes by number."""


class Drafts:
    """The draft of one process for one folder.

    Every process has a file of its own, named after the folder and the process; the next start in that folder takes
    what a process left that runs no more. All methods block; a file that cannot be written stops nobody.

    Args:
        state: The user's state folder.
        folder: The project folder.
        mask: What is done to a text on its way to the file.
        process: Id of this process.
    """

    def __init__(
        self,
        state: Path,
        folder: Path,
        *,
        mask: Callable[[str], str] = str,
        process: int | None = None,
    ) -> None:
        self._mask = mask
        self._place = state / "drafts"
        self._folder = str(folder)
        self._key = f"{binascii.crc32(os.fsencode(folder)):08x}"
        self._own = self._place / f"{self._key}.{process or os.getpid()}.json"

    def save(self, draft: Draft) -> None:
        """Keep the draft; an empty one is forgotten."""
        with suppress(OSError):
            if not draft.text.strip():
                self._own.unlink(missing_ok=True)
            elif len(draft.text) + sum(map(len, draft.pastes.values())) <= MOST_CHARS:
                pastes = {number: self._mask(text) for number, text in draft.pastes.items()}
                content = {
                    "folder": self._folder,
                    "text": self._mask(draft.text),
                    "pastes": pastes,
                }
                write_private(self._own, json.dumps(content))

    def take(self) -> Draft:
        """Return the newest draft that was left in this folder, and remove those that were; empty when none was."""
        found: list[tuple[float, Draft]] = []
        for path in self._left():
            with suppress(OSError):
                time = path.stat().st_mtime
                folder, draft = _read(path)
                if folder in (self._folder, ""):
                    path.unlink()
                    found.append((time, draft))
        return max(found, key=lambda pair: pair[0])[1] if found else Draft()

    def _left(self) -> list[Path]:
        try:
            mine = [p for p in self._place.glob(f"{self._key}.*.json") if p != self._own]
        except OSError:
            return []
        return [path for path in mine if not _runs(path.name.split(".")[1])]


def _read(path: Path) -> tuple[str, Draft]:
    """Return a draft and the folder it belongs to; "" when it is damaged."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        pastes = {int(number): str(text) for number, text in content["pastes"].items()}
        return str(content["folder"]), Draft(str(content["text"]), pastes)
    except (ValueError, KeyError, TypeError, AttributeError):
        return "", Draft()


def _runs(process: str) -> bool:
    """Whether a process of ours may still run; where that cannot be asked a draft counts as left."""
    return process.isdecimal() and sys.platform != "win32" and is_alive(int(process))
