"""Contents of files, each kept once under the name of its bytes, packed one behind the other in a session's folder."""

from __future__ import annotations

import hashlib
import os
import struct
import threading
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.adapters.journal_writing import private_folder
from app.durable import write_all

CONTENTS_FOLDER = "files"
CONTENTS_FILE = "contents.pack"
CONTENTS_BYTES_MAX = 256 << 20
"""Room of one session on the disk, contents packed; what comes after is not kept."""

_NAME_BYTES = 20
_HEAD = struct.Struct(f"!{_NAME_BYTES}sQ")
"""Before each packed content: its name, and how many bytes follow."""
_LEVEL = 1
"""Of packing: the fastest."""


@dataclass(slots=True)
class _Pack:
    """An open file of contents."""

    folder: Path
    handle: int
    places: dict[bytes, tuple[int, int]]
    """Where each packed content stands: its offset and length."""
    end: int
    """Where the next one goes; what lies behind was cut off by a crash."""


class Contents:
    """Implements `core.ports.Contents`; all methods block, and may be called from any thread.

    Nothing is synced: what a power cut takes is missed by its name, and told when it is wanted.

    Args:
        session: Returns the session's folder, which may move.
        limit: Room in bytes.
    """

    def __init__(self, session: Callable[[], Path], *, limit: int = CONTENTS_BYTES_MAX) -> None:
        self._session = session
        self._limit = limit
        self._lock = threading.Lock()
        self._pack: _Pack | None = None

    def name(self, data: bytes) -> str:
        """Return the name of a content; the same bytes always have the same."""
        return hashlib.blake2b(data, digest_size=_NAME_BYTES).hexdigest()

    def put(self, data: bytes) -> bool:
        """Keep a content; return whether there was room and it could be written."""
        name = bytes.fromhex(self.name(data))
        with self._lock, suppress(OSError):
            pack = self._opened(make=True)
            if pack is None or name in pack.places:
                return pack is not None
            packed = zlib.compress(data, _LEVEL)
            record = _HEAD.pack(name, len(packed)) + packed
            if pack.end + len(record) > self._limit:
                return False
            os.lseek(pack.handle, pack.end, os.SEEK_SET)
            write_all(pack.handle, record)
            pack.places[name] = (pack.end + _HEAD.size, len(packed))
            pack.end += len(record)
            return True
        return False

    def get(self, name: str) -> bytes | None:
        """Return a content, or None when it was not kept or is damaged."""
        with self._lock, suppress(OSError, ValueError, zlib.error):
            pack = self._opened(make=False)
            place = pack.places.get(bytes.fromhex(name)) if pack else None
            if pack is None or place is None:
                return None
            data = zlib.decompress(os.pread(pack.handle, place[1], place[0]))
            return data if self.name(data) == name else None
        return None

    def close(self) -> None:
        """Close the file; it is opened again when it is needed."""
        with self._lock:
            if self._pack is not None:
                os.close(self._pack.handle)
                self._pack = None

    def _opened(self, *, make: bool) -> _Pack | None:
        folder = self._session() / CONTENTS_FOLDER
        if self._pack is not None and self._pack.folder == folder:
            return self._pack
        if self._pack is not None:
            os.close(self._pack.handle)
            self._pack = None
        path = folder / CONTENTS_FILE
        if not make and not path.exists():
            return None
        private_folder(folder)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | os.O_CLOEXEC
        handle = os.open(path, flags, 0o600)
        places, end = _scan(handle)
        self._pack = _Pack(folder, handle, places, end)
        return self._pack


def _scan(handle: int) -> tuple[dict[bytes, tuple[int, int]], int]:
    """Return where each content stands, and the end of the last whole one."""
    places: dict[bytes, tuple[int, int]] = {}
    size, end = os.fstat(handle).st_size, 0
    while end + _HEAD.size <= size:
        name, length = _HEAD.unpack(os.pread(handle, _HEAD.size, end))
        if end + _HEAD.size + length > size:
            break
        places[name] = (end + _HEAD.size, length)
        end += _HEAD.size + length
    return places, end
