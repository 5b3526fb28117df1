"""Puts old sessions away by day: one compressed archive, or one folder, for each day on which sessions ended."""

from __future__ import annotations

import os
import shutil
import tarfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from app.adapters.journal_writing import TEMPORARY, private_folder, sync_folder, unwritable
from app.adapters.session_info import SessionInfo
from app.adapters.session_list import list_sessions
from app.adapters.session_lock import LOCK_FILE, SessionLock
from app.errors import RecordError, SessionBusy

ARCHIVE_FOLDER = "archive"
"""Where archives go inside the folder of all sessions."""


@dataclass(frozen=True, slots=True)
class Archived:
    """What was put away of one day."""

    day: str
    path: Path
    sessions: tuple[str, ...]
    busy: tuple[str, ...] = ()
    """Sessions of that day that are open and were left alone."""


def old_sessions(root: Path, before: str) -> dict[str, list[SessionInfo]]:
    """Return the sessions last used before a day (``YYYY-MM-DD``, UTC), by the day of their last use."""
    by_day: dict[str, list[SessionInfo]] = defaultdict(list)
    for info in list_sessions(root):
        if info.last[:10] < before:
            by_day[info.last[:10]].append(info)
    return dict(sorted(by_day.items()))


def archive_days(
    root: Path, before: str, target: Path, *, as_folders: bool = False
) -> Iterator[Archived]:
    """Put the sessions away, one day after the other. A session is removed only when its archive is on the disk.

    Args:
        root: The folder of all sessions.
        before: Sessions last used on this day (``YYYY-MM-DD``, UTC) or later stay.
        target: Where the archives go.
        as_folders: Make a folder for each day instead of a ``.tar.gz``.

    Raises:
        RecordError: An archive could not be written or read back; the sessions of that day stay.
    """
    for day, infos in old_sessions(root, before).items():
        with ExitStack() as locks:
            free, busy = _lock_all(infos, locks)
            if not free:
                yield Archived(day, target, (), busy)
                continue
            try:
                target.mkdir(parents=True, exist_ok=True)
                target.chmod(0o700)
                path = _as_folder(free, target / day) if as_folders else _as_tar(free, target, day)
                sync_folder(root)
            except OSError as error:
                raise unwritable(target, error) from error
            yield Archived(day, path, tuple(info.name for info in free), busy)


def _lock_all(
    infos: Sequence[SessionInfo], locks: ExitStack
) -> tuple[list[SessionInfo], tuple[str, ...]]:
    free: list[SessionInfo] = []
    busy: list[str] = []
    for info in infos:
        try:
            locks.callback(SessionLock(info.folder).release)
        except SessionBusy:
            busy.append(info.name)
        else:
            free.append(info)
    return free, tuple(busy)


def _as_folder(infos: Sequence[SessionInfo], folder: Path) -> Path:
    private_folder(folder)
    for info in infos:
        info.folder.rename(folder / info.name)
    sync_folder(folder)
    return folder


def _as_tar(infos: Sequence[SessionInfo], target: Path, day: str) -> Path:
    temporary = target / f".{day}.tar.gz{TEMPORARY}"
    temporary.unlink(missing_ok=True)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            with tarfile.open(fileobj=file, mode="w:gz") as archive:
                for info in infos:
                    archive.add(info.folder, arcname=info.name, filter=_member)
            file.flush()
            os.fsync(file.fileno())
        _check(temporary, infos)
        path = _free_name(target, day)
        temporary.rename(path)
        sync_folder(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    for info in infos:
        shutil.rmtree(info.folder)
    return path


def _member(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Leave out the lock, and who the files belong to."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return None if member.name.endswith(f"/{LOCK_FILE}") else member


def _check(archive: Path, infos: Sequence[SessionInfo]) -> None:
    """Read an archive back; every file must be in it, whole."""
    wanted = {
        f"{info.name}/{path.relative_to(info.folder).as_posix()}": path.stat().st_size
        for info in infos
        for path in info.folder.rglob("*")
        if path.is_file() and path.name != LOCK_FILE
    }
    try:
        with tarfile.open(archive) as packed:
            found = {member.name: member.size for member in packed if member.isfile()}
    except (tarfile.TarError, EOFError) as error:
        raise RecordError(f"the archive cannot be read back: {error}") from error
    if found != wanted:
        raise RecordError("the archive does not hold every file; nothing was removed")


def _free_name(target: Path, day: str) -> Path:
    path, number = target / f"{day}.tar.gz", 2
    while path.exists():
        path, number = target / f"{day}_{number}.tar.gz", number + 1
    return path
