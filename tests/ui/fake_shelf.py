"""Earlier sessions that a test wrote down, and what the picker asked of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from app.errors import RecordUnwritable, SessionBusy
from app.ui.wiring import SessionCard, SessionHit

PARSER = SessionCard(
    "2026-11-28T12-00-00Z-aaaa",
    "write the parser",
    "2026-11-28T12:00:00Z",
    messages=214,
    compactions=3,
    model="claude-sonnet-4-5",
    size=3_140_000,
)
OLDER = SessionCard("2026-11-27T12-00-00Z-bbbb", "explain [/] this", "2026-11-27T12:00:00Z", 4)


class FakeShelf:
    """Implements `app.ui.wiring.SessionShelf`.

    Args:
        cards: The sessions.
        hits: What a search finds, whatever its words.
        hold: When set, a search waits for it after its first hit.
    """

    def __init__(
        self,
        *cards: SessionCard,
        hits: tuple[SessionHit, ...] = (),
        hold: asyncio.Event | None = None,
    ) -> None:
        self._cards = cards
        self._hits = hits
        self.hold = hold
        self.asked: list[tuple[str, ...]] = []
        self.searches: list[str] = []
        self.ended: list[str] = []

    async def cards(self):
        for card in self._cards:
            yield (card,)

    async def search(self, text: str):
        self.searches.append(text)
        try:
            for hit in self._hits:
                yield hit
                if self.hold is not None:
                    await self.hold.wait()
        finally:
            self.ended.append(text)

    async def find(self, text: str) -> str:
        return next((c.name for c in self._cards if c.name.startswith(text)), text)

    async def fork(self, name: str) -> str:
        self.asked.append(("fork", name))
        return f"{name}-copy"

    async def rename(self, name: str, title: str) -> str:
        self.asked.append(("rename", name, title))
        if title == "busy":
            raise SessionBusy("it is open in process 7", hint="Close it there.")
        self._cards = tuple(replace(c, title=title) if c.name == name else c for c in self._cards)
        return title

    async def delete(self, name: str) -> None:
        self.asked.append(("delete", name))

    async def export(self, name: str, file: str) -> Path:
        self.asked.append(("export", name, file))
        if file == "there.md":
            raise RecordUnwritable("there.md exists already")
        return Path("/srv/project") / file
