"""The project folder as the tools see it: what a path really means, and whether it may be touched."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from app.core.permission import OWN_NAMES
from app.core.visible_text import escaped
from app.errors import OutsideFolder, ToolError

HASHED_BYTES = 16 * 1024 * 1024
"""Files up to this size are compared by content; larger ones by size and time alone."""
SYSTEM_FOLDERS = ("/proc", "/sys", "/dev")
"""File systems of the kernel: what they show as files are no plain files."""

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_CAREFUL = _NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_BY_FOLDER = os.open in os.supports_dir_fd


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a path really means, links followed."""

    path: Path
    """The real, absolute path."""
    relative: str
    """Relative to the project with forward slashes; the absolute path when it lies outside."""
    inside: bool
    protected: bool = False
    """Whether it belongs to this program: its record or its settings."""

    @property
    def shown(self) -> str:
        """The path for people and models: control characters and odd bytes as escapes."""
        return escaped(self.relative)


@dataclass(frozen=True, slots=True)
class Seen:
    """The state of a file when this session last read or wrote it."""

    size: int
    modified: int
    """Nanoseconds."""
    digest: bytes | None = None
    """None when the file was too large to hash."""


class Workspace:
    """Resolves paths against one project folder and remembers which files this session has seen.

    Args:
        root: The project folder.
        protected: Files and folders that no tool may write, besides the default ones.
    """

    def __init__(self, root: Path, *, protected: Iterable[Path] = ()) -> None:
        self.root = Path(os.path.realpath(root))
        own = (self.root / name for name in OWN_NAMES)
        self._protected = tuple(_folded(Path(os.path.realpath(p))) for p in (*own, *protected))
        self._granted: set[Path] = set()
        self._seen: dict[Path, Seen | None] = {}

    def resolve(self, path: str, *, write: bool = False) -> Resolved:
        """Return what a path really means; a missing file is judged by its nearest existing folder.

        Reading outside is only reported (``inside``), for the permission engine to ask; then `grant` lets it happen.

        Raises:
            OutsideFolder: It leads out of the project and ``write`` is set.
            ToolError: It is empty, has a NUL, or is protected and ``write`` is set.
        """
        if not path or not path.strip():
            raise ToolError("the path is empty")
        if "\0" in path:
            raise ToolError("the path has a NUL character")
        try:
            real = Path(os.path.realpath(self.root / Path(path).expanduser()))
        except (OSError, RuntimeError, ValueError) as error:
            raise ToolError(f"the path cannot be resolved: {error}") from error
        inside = real == self.root or self.root in real.parents
        relative = real.relative_to(self.root).as_posix() if inside else str(real)
        resolved = Resolved(real, relative, inside, self._is_protected(real))
        if write and not inside:
            raise OutsideFolder(f"{escaped(path)} leads out of the project folder ({self.root})")
        if write and resolved.protected:
            raise ToolError(
                f"{resolved.shown} belongs to Palimpsest itself and cannot be changed by a tool"
            )
        return resolved

    def grant(self, path: str) -> None:
        """Let tools read an outside path, and what lies in it, from now on: the rules or the user allowed it."""
        self._granted.add(self.resolve(path).path)

    def readable(self, path: str) -> Resolved:
        """Return what a path means, for a tool that reads.

        Raises:
            OutsideFolder: It leads out of the project and was not granted.
            ToolError: It is no path, or lies in a folder of the system's own files.
        """
        resolved = self.resolve(path)
        if any(resolved.path.is_relative_to(folder) for folder in SYSTEM_FOLDERS):
            raise ToolError(f"{resolved.shown} is a file of the system, not of a project")
        granted = any(resolved.path.is_relative_to(allowed) for allowed in self._granted)
        if not resolved.inside and not granted:
            raise OutsideFolder(f"{escaped(path)} leads out of the project folder ({self.root})")
        return resolved

    def open(self, resolved: Resolved) -> BinaryIO:
        """Open a regular file for reading; never blocks, and never follows a link swapped in since.

        Raises:
            ToolError: It is missing, no regular file, or not readable.
        """
        try:
            kind = os.lstat(resolved.path)
            _require_regular(kind, resolved)
            descriptor = self._open_descriptor(resolved)
        except OSError as error:
            raise ToolError(reason(resolved, error)) from error
        file = os.fdopen(descriptor, "rb")
        try:
            _require_regular(os.fstat(descriptor), resolved)
        except ToolError:
            file.close()
            raise
        return file

    def open_folder(self, resolved: Resolved, *, create: bool = False) -> int:
        """Return a descriptor of a folder inside, walked without following links.

        Args:
            resolved: The folder.
            create: Make what is missing on the way.
        """
        flags = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_FOLLOW
        at = os.open(self.root, flags)
        try:
            for part in resolved.path.relative_to(self.root).parts:
                if create:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(part, dir_fd=at)
                below = os.open(part, flags, dir_fd=at)
                os.close(at)
                at = below
        except BaseException:
            os.close(at)
            raise
        return at

    def remember(self, resolved: Resolved, *, data: bytes | None = None) -> None:
        """Note the present state of a file as seen by this session; a missing file counts as seen missing.

        Args:
            resolved: The file.
            data: Its whole content where the caller has it, to spare reading it again.
        """
        self._seen[resolved.path] = self._state(resolved, data)

    def require_unchanged(self, resolved: Resolved) -> None:
        """Check that a file is as this session last saw it; one never seen passes.

        Raises:
            ToolError: It changed, appeared or vanished since.
        """
        if resolved.path not in self._seen:
            return
        known = self._seen[resolved.path]
        now = None
        with contextlib.suppress(OSError):
            now = resolved.path.stat()
        if known is None and now is None:
            return
        if known is None:
            raise ToolError(
                f"{resolved.shown} was created by something else in the meantime: read it first"
            )
        if now is None:
            raise ToolError(f"{resolved.shown} was deleted since it was last read")
        if (known.size, known.modified) == (now.st_size, now.st_mtime_ns):
            return
        if known.digest is not None and known.size == now.st_size:
            fresh = self._state(resolved, None)
            if fresh is not None and fresh.digest == known.digest:
                self._seen[resolved.path] = fresh
                return
        raise ToolError(
            f"{resolved.shown} changed on disk since it was last read: read it again first"
        )

    def is_seen(self, resolved: Resolved) -> bool:
        """Whether this session has read or written the file, or seen that it is missing."""
        return resolved.path in self._seen

    def _state(self, resolved: Resolved, data: bytes | None) -> Seen | None:
        try:
            with self.open(resolved) as file:
                status = os.fstat(file.fileno())
                if data is None and status.st_size <= HASHED_BYTES:
                    data = file.read(HASHED_BYTES + 1)
        except ToolError:
            return None
        hashed = data is not None and len(data) <= HASHED_BYTES
        digest = hashlib.blake2b(data or b"", digest_size=16).digest() if hashed else None
        return Seen(status.st_size, status.st_mtime_ns, digest)

    def _open_descriptor(self, resolved: Resolved) -> int:
        if not (resolved.inside and _BY_FOLDER):
            return os.open(resolved.path, os.O_RDONLY | _CAREFUL)
        parent = Resolved(resolved.path.parent, "", inside=True)
        folder = self.open_folder(parent)
        try:
            return os.open(resolved.path.name, os.O_RDONLY | _CAREFUL, dir_fd=folder)
        finally:
            os.close(folder)

    def _is_protected(self, real: Path) -> bool:
        folded = _folded(real)
        return any(folded == own or own in folded.parents for own in self._protected)


def reason(resolved: Resolved, error: OSError) -> str:
    """Return one sentence for a failed access."""
    if isinstance(error, FileNotFoundError):
        return f"{resolved.shown} does not exist"
    if isinstance(error, PermissionError):
        return f"{resolved.shown} may not be accessed: permission denied"
    if isinstance(error, NotADirectoryError):
        return f"{resolved.shown} leads through something that is no folder"
    return f"{resolved.shown}: {error.strerror or error}"


def _require_regular(status: os.stat_result, resolved: Resolved) -> None:
    mode = status.st_mode
    if stat.S_ISREG(mode):
        return
    kinds = (
        (stat.S_ISDIR, "a folder: use list_files"),
        (stat.S_ISFIFO, "a named pipe, not a file"),
        (stat.S_ISSOCK, "a socket, not a file"),
        (stat.S_ISLNK, "a link that was swapped in meanwhile"),
    )
    what = next((text for check, text in kinds if check(mode)), "a device, not a file")
    raise ToolError(f"{resolved.shown} is {what}")


def _folded(path: Path) -> Path:
    """A path for comparing with protected ones: some file systems do not tell case apart."""
    return Path(str(path).casefold())
