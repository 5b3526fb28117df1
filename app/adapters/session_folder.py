"""A session's folder: how it begins, opens, and moves to another place."""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path
from shutil import Error as CopyError
from shutil import copytree, rmtree

from app.adapters.journal_reading import EVENTS_FILE, SessionReader, segment_name
from app.adapters.journal_writing import (
    TEMPORARY,
    AppendFile,
    private_folder,
    sync_folder,
    unwritable,
    write_new,
)
from app.adapters.session_files import SessionFiles
from app.adapters.session_leftovers import remove_leftovers
from app.adapters.session_lock import SessionLock
from app.core.ports import Clock
from app.errors import RecordUnwritable, SessionNotFound

DISPLAY_ROOT = ".transcripts"
"""The folder of all sessions, in the project's folder."""

_NAMES_MAX = 100


def moved_files(files: SessionFiles, root: Path, display_root: str) -> SessionFiles:
    """Go on with a copy of a session in another folder; see `Journal.move`."""
    name = files.reader.folder.name
    target = root / name
    try:
        prepare_root(root, ignored=True)
        if files.reader.folder.is_dir():
            copytree(files.reader.folder, target, dirs_exist_ok=True)
        else:  # deleted meanwhile: the open files are still there
            target.mkdir(mode=0o700)
        files.copy_ends(target)
    except (OSError, CopyError) as error:
        rmtree(target, ignore_errors=True)
        problem = error if isinstance(error, OSError) else OSError(str(error))
        raise unwritable(root, problem) from error
    moved = open_files(root, name, files.clock, display_root)
    moved.masking = files.masking
    with suppress(OSError):
        files.close()
    return moved


def create_files(root: Path, clock: Clock, display_root: str, ignored: bool) -> SessionFiles:
    """Begin a new session; see `Journal.create`."""
    folder: Path | None = None
    lock: SessionLock | None = None
    try:
        prepare_root(root, ignored=ignored)
        folder = make_session_folder(root, clock)
        lock = SessionLock(folder)
        for name in (segment_name(1), EVENTS_FILE):
            AppendFile(folder / name).close()
        sync_folder(folder)
        sync_folder(root)
        return SessionFiles(SessionReader(folder), lock, clock, f"{display_root}/{folder.name}")
    except OSError as error:
        if lock is not None:
            lock.release()
        if folder is not None:
            rmtree(folder, ignore_errors=True)
        if error.errno == errno.ENOENT:  # nothing was there yet that could be gone
            raise RecordUnwritable(
                f"no folder can be made at {root}",
                hint="Set PAL_TRANSCRIPT_DIR to another folder.",
            ) from error
        raise unwritable(root, error) from error


def open_files(root: Path, session: str, clock: Clock, display_root: str) -> SessionFiles:
    """Go on with a session; see `Journal.open`."""
    folder = root / session
    if session != folder.name or session in ("", ".", ".."):
        raise SessionNotFound(f"{session!r} is not the name of a session")
    SessionReader(folder)
    remove_leftovers(root)
    try:
        private_folder(folder)
        lock = SessionLock(folder)
    except OSError as error:
        raise unwritable(folder, error) from error
    try:
        for left in folder.rglob(f"*{TEMPORARY}"):
            left.unlink(missing_ok=True)
        return SessionFiles(SessionReader(folder), lock, clock, f"{display_root}/{session}")
    except OSError as error:
        lock.release()
        raise unwritable(folder, error) from error
    except BaseException:
        lock.release()
        raise


def prepare_root(root: Path, *, ignored: bool) -> None:
    """Make the folder of all sessions, private, and keep git away from it unless it was opted in.

    A folder of the user's own choice keeps its rights; sessions inside it are private all the same.

    Raises:
        OSError: It cannot be made.
    """
    root.parent.mkdir(parents=True, exist_ok=True)
    if root.name == DISPLAY_ROOT or not root.exists():
        private_folder(root)
    ignore = root / ".gitignore"
    if ignored and not ignore.exists():
        try:
            write_new(ignore, b"*\n")
        except RecordUnwritable:
            if not ignore.exists():  # another process may have made it meanwhile
                raise
    elif not ignored and ignore.is_file() and ignore.read_bytes() == b"*\n":
        ignore.unlink()
    for left in root.glob(f"{ignore.name}.*{TEMPORARY}"):
        left.unlink(missing_ok=True)
    remove_leftovers(root)


def make_session_folder(root: Path, clock: Clock) -> Path:
    """Make a new session's folder under a name that nobody has, portable to any file system.

    Raises:
        OSError: It cannot be made.
    """
    moment = clock.now()[:19].replace(":", "-")
    for _ in range(_NAMES_MAX):
        folder = root / f"{moment}Z-{secrets.token_hex(2)}"
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            folder.chmod(0o700)
            return folder
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(root))
