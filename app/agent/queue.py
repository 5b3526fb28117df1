"""What the user typed ahead: on disk at once, delivered at the next step or taken back."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

from app.core import remarks
from app.core.ports import Record


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
        key = next(reversed(self.waiting))
        await self.record.remark(remarks.UNQUEUED, {"id": key})
        return self.waiting.pop(key)

    def next(self) -> tuple[str, str] | None:
        """Return (id, text) of the oldest message, or None."""
        return next(iter(self.waiting.items()), None)

    async def delivered(self, key: str) -> None:
        """Note that a message is in the conversation. Called after it was written there: no word is ever in neither."""
        self.waiting.pop(key, None)
        await self.record.remark(remarks.UNQUEUED, {"id": key})
