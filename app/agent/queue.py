"""What the user typed ahead: on disk at once, delivered at the next step or taken back."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from app.core import remarks
from app.core.history import Entry
from app.core.ports import Record
from app.errors import RecordError


@dataclass(slots=True)
class TypedAhead:
    """Messages that wait, oldest first."""

    record: Record
    waiting: dict[str, str] = field(default_factory=dict)
    """Text by id."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The waiting texts."""
        return tuple(self.waiting.values())

    async def add(self, text: str) -> None:
        """Let a message wait."""
        key = uuid.uuid4().hex
        await self.record.remark(remarks.QUEUED, {"id": key, "text": text})
        self.waiting[key] = text

    async def take_back(self) -> str | None:
        """Remove the newest message and return it; None when none waits."""
        if not self.waiting:
            return None
        key, text = self.waiting.popitem()
        try:
            await self.record.remark(remarks.UNQUEUED, {"id": key})
        except RecordError:
            self.waiting[key] = text
            raise
        return text

    async def deliver(self, say: Callable[[str], Awaitable[Entry]]) -> tuple[str, Entry] | None:
        """Hand the oldest message to the conversation; return it and its entry there, None when none waits.

        It leaves the queue on disk after it was written there: no word is ever in neither.
        """
        if not self.waiting:
            return None
        key = next(iter(self.waiting))
        text = self.waiting.pop(key)
        try:
            entry = await say(text)
        except BaseException:
            self.waiting = {key: text, **self.waiting}
            raise
        await self.record.remark(remarks.UNQUEUED, {"id": key})
        return text, entry
