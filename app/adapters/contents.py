"""Contents of files, each kept once under the name of its bytes, in the folder of a session."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import threading
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from app.adapters.journal_writing import private_folder

CONTENTS_FOLDER = "files"
CONTENTS_BYTES_MAX = 256 << 20
"""Room of one session on the disk, contents packed; what comes after is not kept."""

_NAME = re.compile(r"[0-9a-f]{40}")
_LEVEL = 1
"""Of packing: the fastest."""


class Contents:
    """Implements `core.ports.Contents`; all methods block, and may be called from any thread.

    Args:
        session: Returns the session's folder, which may move.
        limit: Room in bytes.
    """

    def __init__(self, session: Callable[[], Path], *, limit: int = CONTENTS_BYTES_MAX) -> None:
        self._session = session
        self._limit = limit
        self._lock = threading.Lock()
        self._used: dict[Path, int] = {}

    def name(self, data: bytes) -> str:
        """Return the name of a content; the same bytes always have the same."""
        return hashlib.blake2b(data, digest_size=20).hexdigest()

    def put(self, data: bytes) -> bool:
        """Keep a content; return whether there was room and it could be written."""
        name = self.name(data)
        with self._lock, suppress(OSError):
            folder = self._session() / CONTENTS_FOLDER
            path = folder / name
            if path.exists():
                return True
            packed = zlib.compress(data, _LEVEL)
            used = self._room_taken(folder)
            if used + len(packed) > self._limit:
                return False
            private_folder(folder)
            _write(path, packed)
            self._used[folder] = used + len(packed)
            return True
        return False

    def get(self, name: str) -> bytes | None:
        """Return a content, or None when it was not kept or is damaged."""
        if not _NAME.fullmatch(name):
            return None
        try:
            data = zlib.decompress((self._session() / CONTENTS_FOLDER / name).read_bytes())
        except (OSError, zlib.error):
            return None
        return data if self.name(data) == name else None

    def _room_taken(self, folder: Path) -> int:
        if folder not in self._used:
            self._used[folder] = (
                sum(path.stat().st_size for path in folder.iterdir()) if folder.is_dir() else 0
            )
        return self._used[folder]


def _write(path: Path, data: bytes) -> None:
    """Write a file that is there in full or not at all; a content that a power cut loses is missed by its name."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
