"""Which keys the user has used often enough to know them: their hints fade, and others take their place."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from app.settings.private_file import write_private

KNOWN_AFTER = 3
"""Uses after which a hint is shown no more."""


class UsedKeys:
    """Counts of uses by the action that a hint names.

    Args:
        path: File that keeps them; None keeps them for this run only.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._counts: dict[str, int] | None = None

    @property
    def known(self) -> frozenset[str]:
        """Actions whose hints have faded."""
        return frozenset(name for name, count in self._read().items() if count >= KNOWN_AFTER)

    def note(self, action: str) -> None:
        """Count one use; nothing is written any more once the action is known."""
        counts = self._read()
        if counts.get(action, 0) >= KNOWN_AFTER:
            return
        counts[action] = counts.get(action, 0) + 1
        if self._path is not None:
            with suppress(OSError):
                write_private(self._path, json.dumps(counts))

    def _read(self) -> dict[str, int]:
        if self._counts is None:
            self._counts = {}
            with suppress(OSError, ValueError, AttributeError):
                if self._path is not None:
                    kept = json.loads(self._path.read_text(encoding="utf-8"))
                    self._counts = {k: v for k, v in kept.items() if isinstance(v, int)}
        return self._counts
