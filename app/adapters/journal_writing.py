"""Durable writing: appends that are whole or not there, new files by rename, private folders and files."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from app.durable import replace_file, write_all
from app.errors import RecordUnwritable

_OPEN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)

_COPIED = 1 << 20
"""Bytes copied at a time."""

TEMPORARY = ".tmp"
"""Ends the name of a file that is not whole yet; one that is found later was left by a crash."""


class AppendFile:
    """A file that only grows by whole records.

    Args:
        path: Made when it is missing.
        end: Where the good data ends; what lies behind it is cut off before the next append. None for all of it.
        needs_newline: Whether the last good record lacks its line end.

    Raises:
        OSError: It cannot be opened for writing.
    """

    def __init__(self, path: Path, *, end: int | None = None, needs_newline: bool = False) -> None:
        self.path = path
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | _OPEN, 0o600)
        with suppress(OSError):
            path.chmod(0o600)
        size = os.fstat(self._handle).st_size
        self.end = size if end is None else end
        self._dirty = self.end != size
        self._needs_newline = needs_newline

    def append(self, data: bytes) -> int:
        """Write one record and wait until it is on the disk; return where it begins.

        Raises:
            RecordUnwritable: Nothing of it stays in the file.
        """
        try:
            if self._dirty:
                os.ftruncate(self._handle, self.end)
                self._dirty = False
            lead = b"\n" if self._needs_newline else b""
            self._dirty = True
            self._write(lead + data)
            _sync_data(self._handle)
            if os.fstat(self._handle).st_nlink == 0:
                raise FileNotFoundError(errno.ENOENT, "it was deleted", str(self.path))
        except OSError as error:
            self._cut_back()
            raise unwritable(self.path, error) from error
        start = self.end + len(lead)
        self.end = start + len(data)
        self._dirty = self._needs_newline = False
        return start

    def sync(self) -> None:
        """Wait until everything is on the disk, and nothing else is in the file.

        Raises:
            RecordUnwritable: It may not be.
        """
        try:
            if self._dirty:
                os.ftruncate(self._handle, self.end)
                self._dirty = False
            _sync_data(self._handle)
        except OSError as error:
            raise unwritable(self.path, error) from error

    def copy_to(self, path: Path) -> None:
        """Write what was acknowledged to another file, also when this one has no name any more.

        Raises:
            OSError: It cannot be read or written.
        """
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _OPEN, 0o600)
        try:
            os.lseek(self._handle, 0, os.SEEK_SET)
            left = self.end
            while left and (data := os.read(self._handle, min(left, _COPIED))):
                left -= len(data)
                write_all(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)

    def close(self) -> None:
        """Close the file; more than once does no harm."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _write(self, data: bytes) -> None:
        os.lseek(self._handle, self.end, os.SEEK_SET)
        write_all(self._handle, data)

    def _cut_back(self) -> None:
        with suppress(OSError):
            os.ftruncate(self._handle, self.end)
            self._dirty = False


def write_new(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write a whole file, or its pieces, so that it is there in full or not at all, also after a power cut.

    Raises:
        RecordUnwritable: Nothing was left behind, so far as the disk obeyed.
    """
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}{TEMPORARY}")
    pieces = (data,) if isinstance(data, bytes) else data
    try:
        replace_file(str(path), str(temporary), pieces, mode=0o600, finish=private)
        try:
            sync_folder(path.parent)
        except OSError:
            with suppress(OSError):
                path.unlink()
            raise
    except OSError as error:
        raise unwritable(path, error) from error


def private(handle: int) -> None:
    """Let only the owner read a file, whatever the umask left out."""
    if hasattr(os, "fchmod"):
        os.fchmod(handle, 0o600)


def _sync_data(handle: int) -> None:
    """Wait until a file's bytes are on the disk, and its size, but not its times."""
    getattr(os, "fdatasync", os.fsync)(handle)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def private_folder(folder: Path) -> None:
    """Make a folder that only its owner may enter, whatever the umask; one that exists is tightened.

    A new one outlasts a power cut when this returns.

    Raises:
        OSError: It cannot be made.
    """
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        if not folder.is_dir():
            raise
    else:
        sync_folder(folder.parent)
    with suppress(PermissionError):
        folder.chmod(0o700)


def unwritable(path: Path, error: OSError) -> RecordUnwritable:
    """Return the error in words for a person."""
    elsewhere = "Make it writable, or set PAL_TRANSCRIPT_DIR to another folder."
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return RecordUnwritable(
                f"the disk is full: {path} could not be written",
                hint="Free some space, then retry.",
            )
        case errno.EFBIG:
            return RecordUnwritable(
                f"a limit on file sizes stops {path} from growing",
                hint="Raise the limit (ulimit -f), then retry.",
            )
        case errno.ENOTDIR | errno.EEXIST:
            return RecordUnwritable(
                f"{error.filename or path} is a file where a folder should be",
                hint="Move it away, or set PAL_TRANSCRIPT_DIR to another folder.",
            )
        case errno.ENOENT:
            return RecordUnwritable(
                f"{path} is gone: the session's folder was moved or deleted",
                hint="Put it back, or start a new session.",
            )
        case _:
            reason = error.strerror or str(error)
            return RecordUnwritable(f"cannot write {path}: {reason}", hint=elsewhere)
