"""What the user typed ahead: on disk at once, delivered at the next step or taken back."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from app.core import remarks
from app.core.history import Entry, Remark
from app.core.messages import Image
from app.core.ports import Record
from app.errors import RecordError

Say = Callable[[str, Sequence[Image]], Awaitable[Entry]]
"""Puts a message of the user into the conversation."""


@dataclass(slots=True)
class TypedAhead:
    """Messages that wait, oldest first."""

    record: Record
    waiting: dict[str, str] = field(default_factory=dict)
    """Text by id."""
    pictures: dict[str, tuple[Image, ...]] = field(default_factory=dict)
    """Pictures that go with a text, by its id."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The waiting texts."""
        return tuple(self.waiting.values())

    async def add(self, text: str, pictures: Sequence[Image] = ()) -> None:
        """Let a message wait."""
        key = uuid.uuid4().hex
        raw = {"pictures": [dict(picture.raw) for picture in pictures]} if pictures else {}
        await self.record.remark(remarks.QUEUED, {"id": key, "text": text, **raw})
        self.waiting[key] = text
        self.pictures[key] = tuple(pictures)

    async def take_back(self, at: int = -1) -> str | None:
        """Remove one message, the newest by default, and return its text; None when there is none at that place."""
        keys = list(self.waiting)
        if not -len(keys) <= at < len(keys):
            return None
        key = keys[at]
        before = dict(self.waiting)
        text = self.waiting.pop(key)
        try:
            await self.record.remark(remarks.UNQUEUED, {"id": key})
        except RecordError:
            self.waiting = before | self.waiting
            raise
        self.pictures.pop(key, None)
        return text

    def restore_pictures(self, queued: Iterable[Remark]) -> None:
        """Take up the pictures of the messages that still wait after a restart."""
        for remark in queued:
            raw = remark.data.get("pictures")
            if remark.data.get("id") in self.waiting and isinstance(raw, list):
                self.pictures[remark.data["id"]] = tuple(Image(one) for one in raw)

    async def deliver(self, say: Say) -> tuple[str, Entry] | None:
        """Hand the oldest message to the conversation; return it and its entry there, None when none waits.

        It leaves the queue on disk after it was written there: no word is ever in neither.
        """
        if not self.waiting:
            return None
        key = next(iter(self.waiting))
        text = self.waiting.pop(key)
        try:
            entry = await say(text, self.pictures.get(key, ()))
        except BaseException:
            self.waiting = {key: text, **self.waiting}
            raise
        self.pictures.pop(key, None)
        await self.record.remark(remarks.UNQUEUED, {"id": key})
        return text, entry
