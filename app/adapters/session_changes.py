"""Changes to sessions as a whole: a copy to go on with, another name, away with one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from app.adapters.clock import SystemClock
from app.adapters.contents import CONTENTS_FOLDER
from app.adapters.journal_reading import (
    EVENTS_FILE,
    OUTPUTS_FOLDER,
    segment_name,
    segment_numbers,
)
from app.adapters.journal_writing import TEMPORARY, private, sync_folder, unwritable
from app.adapters.session_folder import make_session_folder, open_files
from app.adapters.session_leftovers import (
    deleted_name,
    partial_folder,
    remove_folder,
    remove_leftovers,
)
from app.adapters.session_list import named, session_names
from app.adapters.session_lock import SessionLock
from app.core import remarks
from app.core.session_title import clean_title
from app.durable import replace_file
from app.errors import SessionNotFound

PIECE = 1 << 20
"""Bytes that are copied at a time."""


def fork_session(root: Path, session: str) -> str:
    """Copy a session under a new name, also while another process writes it; return the new name.

    Raises:
        SessionNotFound: There is none of that exact name.
        RecordUnwritable: The copy could not be written; nothing of it is left.
    """
    if session not in session_names(root):
        raise SessionNotFound(f"there is no session {session!r}", hint=named(session_names(root)))
    source = root / session
    try:
        remove_leftovers(root)
        folder = make_session_folder(root, SystemClock())
        copy, lock = partial_folder(root)
    except OSError as error:
        raise unwritable(root, error) from error
    try:
        for path in _in_copying_order(source):
            _copy(path, copy / path.name)
        for name in (OUTPUTS_FOLDER, CONTENTS_FOLDER):
            _copy_outputs(source / name, copy / name)
        sync_folder(copy)
        folder.rmdir()
        copy.replace(folder)
        sync_folder(root)
    except OSError as error:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
        raise unwritable(folder, error) from error
    finally:
        lock.release()
    return folder.name


def rename_session(root: Path, session: str, title: str) -> str:
    """Give a session another title, an event of its record; return the title as it is kept.

    Args:
        root: The folder of all sessions.
        session: Its exact name.
        title: One line; "" takes the title away.

    Raises:
        SessionNotFound: There is none of that name.
        SessionBusy: A process holds it.
        FormatTooNew: A newer version wrote it.
        RecordUnwritable: It cannot be written.
    """
    title = clean_title(title)
    files = open_files(root, session, SystemClock(), "")
    try:
        files.remark(remarks.RENAMED, {"name": title})
    finally:
        files.close()
    return title


def delete_session(root: Path, session: str) -> None:
    """Delete a session with everything in it. It leaves the list in one step, whatever happens then.

    Raises:
        SessionNotFound: There is none of that name.
        SessionBusy: A process holds it.
        RecordUnwritable: It cannot be removed.
    """
    if session not in session_names(root):
        raise SessionNotFound(f"there is no session {session!r}", hint=named(session_names(root)))
    folder = root / session
    try:
        lock = SessionLock(folder)
        gone = deleted_name(root)
        try:
            folder.rename(gone)
            sync_folder(root)
        finally:
            lock.release()
        remove_folder(gone)
    except OSError as error:
        raise unwritable(folder, error) from error


def _in_copying_order(source: Path) -> Iterator[Path]:
    """Yield the events first: a mark about a compaction that the copy lacks would hit the copy's next one."""
    events = source / EVENTS_FILE
    if events.exists():
        yield events
    for segment in segment_numbers(source):
        yield source / segment_name(segment)


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as reading:
        pieces = iter(partial(reading.read, PIECE), b"")
        replace_file(str(target), f"{target}{TEMPORARY}", pieces, mode=0o600, finish=private)


def _copy_outputs(source: Path, target: Path) -> None:
    if not source.is_dir():
        return
    target.mkdir(mode=0o700)
    for path in source.iterdir():
        if path.is_file() and not path.name.endswith(TEMPORARY):
            _copy(path, target / path.name)
