"""The sessions of a folder: listing them, the last used one first, and finding one by name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from app.adapters.journal_reading import segment_numbers
from app.adapters.session_info import SessionInfo, describe, last_written
from app.errors import SessionNotFound

_NAMED_MAX = 8


def session_names(root: Path) -> tuple[str, ...]:
    """Return the names of all sessions, oldest name first."""
    try:
        with os.scandir(root) as found:
            folders = [e.name for e in found if e.is_dir() and not e.name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return ()
    return tuple(sorted(name for name in folders if segment_numbers(root / name)))


def sessions_by_use(root: Path) -> Iterator[SessionInfo]:
    """Yield each session in which something was said, the last used one first; each is read when its turn comes."""
    for name in names_by_use(root):
        with suppress(OSError):  # it may go away while it is looked at
            info = describe(root / name)
            if info is not None:
                yield info


def names_by_use(root: Path) -> tuple[str, ...]:
    """Return the names of all sessions, the last used one first."""
    used = sorted(((_used(root / name), name) for name in session_names(root)), reverse=True)
    return tuple(name for _, name in used)


def list_sessions(root: Path) -> tuple[SessionInfo, ...]:
    """Return what people want to know of each session in which something was said, the last used one first."""
    return tuple(sessions_by_use(root))


def latest_session(root: Path, *, for_screen: bool = False) -> str | None:
    """Return the name of the session that was used last, or None; ``for_screen`` one that a screen had, if any."""
    last = None
    for info in sessions_by_use(root):
        if not for_screen or not info.printed:
            return info.name
        last = last or info.name
    return last


def find_session(root: Path, text: str) -> str:
    """Return the session of that name, of that beginning or end of a name, or of that title.

    Raises:
        SessionNotFound: None fits, or several do; the hint names what there is.
    """
    names = session_names(root)
    if text in names:
        return text
    fitting = [name for name in names if text and name.startswith(text)]
    if not fitting:
        fitting = [name for name in names if text and name.endswith(text)]
    if not fitting:
        fitting = [info.name for info in list_sessions(root) if text and info.title == text]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise SessionNotFound(
            f"{text!r} stands for {len(fitting)} sessions", hint=named(tuple(fitting))
        )
    raise SessionNotFound(f"there is no session {text!r}", hint=named(names))


def named(names: tuple[str, ...]) -> str:
    """Return a sentence that names sessions, the newest at its end."""
    if not names:
        return "There are no sessions here yet."
    shown = ", ".join(names[-_NAMED_MAX:])
    more = f" and {len(names) - _NAMED_MAX} older ones" if len(names) > _NAMED_MAX else ""
    return f"There are: {shown}{more}."


def _used(folder: Path) -> str:
    with suppress(OSError):
        return last_written(folder)
    return ""
