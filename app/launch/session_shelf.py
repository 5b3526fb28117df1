"""The sessions of a folder as the screen sees them: listed, searched and changed in threads, beside the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from app.errors import RecordError
from app.settings import Settings

if TYPE_CHECKING:
    from app.adapters.session_info import SessionInfo
    from app.ui.wiring import SessionCard, SessionHit

BATCH = 40
"""Sessions that are read at a time."""


class FolderShelf:
    """Implements `ui.wiring.SessionShelf`.

    Args:
        settings: Returns the settings in force; they name the folder of the sessions.
    """

    def __init__(self, settings: Callable[[], Settings]) -> None:
        self._settings = settings
        self.copies: dict[str, str] = {}
        """By their names, the sessions that were copied in this run, and from which."""

    async def cards(self) -> AsyncGenerator[tuple[SessionCard, ...], None]:
        """Yield the sessions in batches, the last used ones first."""
        from app.adapters.session_list import sessions_by_use

        infos = sessions_by_use(self._root)
        with _told():
            while batch := await asyncio.to_thread(_cards, infos):
                yield batch

    async def search(self, text: str) -> AsyncGenerator[SessionHit, None]:
        """Yield the newest hit of each session; closing the generator ends the search."""
        from app.adapters.session_search import search_sessions
        from app.ui.wiring import SessionHit

        closed = threading.Event()
        hits = search_sessions(self._root, text, wanted=lambda: not closed.is_set())
        try:
            with _told():
                while (hit := await asyncio.to_thread(next, hits, None)) is not None:
                    yield SessionHit(hit.session, hit.id, hit.who, hit.line)
        finally:
            closed.set()

    async def find(self, text: str) -> str:
        """Return the name of the session with that name, beginning or end of a name, or title."""
        from app.adapters.session_list import find_session

        return await asyncio.to_thread(find_session, self._root, text)

    async def fork(self, name: str) -> str:
        """Copy a session; return the name of the copy."""
        from app.adapters.session_changes import fork_session

        copy = await asyncio.to_thread(fork_session, self._root, name)
        self.copies[copy] = name
        return copy

    async def rename(self, name: str, title: str) -> str:
        """Give a session another title; return it as it is kept."""
        from app.adapters.session_changes import rename_session

        return await asyncio.to_thread(rename_session, self._root, name, title)

    async def delete(self, name: str) -> None:
        """Delete a session."""
        from app.adapters.session_changes import delete_session

        await asyncio.to_thread(delete_session, self._root, name)

    async def export(self, name: str, file: str) -> Path:
        """Write a session to a new file: Markdown, or JSON lines where the name ends in ``.jsonl``."""
        from app.adapters.session_export import export_session

        path = self._settings().folder / Path(file).expanduser()
        await asyncio.to_thread(export_session, self._root / name, path)
        return path

    @property
    def _root(self) -> Path:
        return self._settings().transcripts


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RecordError(f"the sessions cannot be read: {error.strerror}") from error


def _cards(infos: Iterator[SessionInfo]) -> tuple[SessionCard, ...]:
    from app.ui.wiring import SessionCard

    return tuple(
        SessionCard(
            name=info.name,
            first_words=f"(pal -p) {info.words}" if info.printed else info.words,
            time=info.last,
            messages=info.messages,
            compactions=info.compactions,
            model=info.model,
            size=info.size,
            title=info.title,
            too_new=info.format if info.too_new else 0,
            holder=str(info.holder or ""),
        )
        for info in islice(infos, BATCH)
    )
