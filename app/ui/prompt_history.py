"""What the user sent before, over all sessions, in a file of the user's state folder."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from app.settings.private_file import write_private

KEPT = 1_000
"""Messages kept."""
MAX_CHARS = 20_000
"""Longer messages are not remembered: a paste of that size is not typed again by a key."""


class PromptHistory:
    """Messages, oldest first, with a place in them that up and down move.

    Args:
        path: File with one JSON string a line; None keeps the history in memory only.
        mask: What is done to a message on its way to the file.
    """

    def __init__(self, path: Path | None = None, mask: Callable[[str], str] = str) -> None:
        self._path = path
        self._mask = mask
        self._texts: list[str] | None = None
        self._at = 0
        self._draft = ""

    @property
    def texts(self) -> list[str]:
        """All messages, oldest first; read from the file when first asked for."""
        if self._texts is None:
            self._texts = _read(self._path)
            self._at = len(self._texts)
        return self._texts

    def add(self, text: str) -> None:
        """Remember a message that was sent, and go back to the end.

        A file that cannot be written is no reason to stop the user: the history is then kept in memory.
        """
        texts = self.texts
        if text.strip() and len(text) <= MAX_CHARS and (not texts or texts[-1] != text):
            texts.append(text)
            self._write(text)
        self._at = len(self.texts)  # the file may have been shortened meanwhile
        self._draft = ""

    def before(self, current: str) -> str | None:
        """Return the message before the one shown, or None at the oldest; ``current`` is kept as the draft."""
        if self.texts and self._at == len(self.texts):
            self._draft = current
        if self._at == 0:
            return None
        self._at -= 1
        return self.texts[self._at]

    def after(self) -> str | None:
        """Return the message after the one shown, the draft after the newest, or None when the draft is shown."""
        if self._at >= len(self.texts):
            return None
        self._at += 1
        return self.texts[self._at] if self._at < len(self.texts) else self._draft

    def search(self, word: str, limit: int = 8) -> list[str]:
        """Return the newest different messages that contain ``word``, newest first."""
        wanted = word.casefold()
        found = dict.fromkeys(t for t in reversed(self.texts) if wanted in t.casefold())
        return list(found)[:limit]

    def _write(self, text: str) -> None:
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            line = self._line(text)
            with os.fdopen(
                os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
                "a",
                encoding="utf-8",
            ) as file:
                file.write(line)
            if len(self.texts) > 2 * KEPT:
                self._texts = self.texts[-KEPT:]
                # From the file, not from memory: another process may have added to it.
                lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
                write_private(self._path, "".join(f"{line}\n" for line in lines[-KEPT:]))
        except OSError:
            self._path = None

    def _line(self, text: str) -> str:
        return json.dumps(self._mask(text)) + "\n"


def _read(path: Path | None) -> list[str]:
    if path is None:
        return []
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    texts: list[str] = []
    for line in lines[-2 * KEPT :]:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, str):
            texts.append(value)
    return texts
