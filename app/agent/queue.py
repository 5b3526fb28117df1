"""What the user typed ahead: on disk at once, delivered at the next step or taken back."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from app.core import remarks
from app.core.history import Entry
from app.core.messages import Image, JsonObject
from app.core.ports import Record
from app.errors import RecordError

Say = Callable[[str, Sequence[Image]], Awaitable[Entry]]
"""Puts a message of the user into the conversation."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A message that waits."""

    text: str
    pictures: tuple[Image, ...] = ()
    """The pictures that go with it."""


@dataclass(slots=True)
class TypedAhead:
    """Messages that wait, oldest first."""

    record: Record
    waiting: dict[str, Typed] = field(default_factory=dict)
    """By id."""
    _delivering: str = ""
    """While a record is read: id of the message whose delivery was announced last."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The waiting texts."""
        return tuple(one.text for one in self.waiting.values())

    async def add(self, text: str, pictures: Sequence[Image] = ()) -> None:
        """Let a message wait."""
        key = uuid.uuid4().hex
        raw = {"pictures": [dict(picture.raw) for picture in pictures]} if pictures else {}
        await self.record.remark(remarks.QUEUED, {"id": key, "text": text, **raw})
        self.waiting[key] = Typed(text, tuple(pictures))

    async def take_back(self, at: int = -1) -> Typed | None:
        """Remove one message, the newest by default, and return it; None when there is none at that place."""
        keys = list(self.waiting)
        if not -len(keys) <= at < len(keys):
            return None
        key = keys[at]
        before = dict(self.waiting)
        typed = self.waiting.pop(key)
        try:
            await self.record.remark(remarks.UNQUEUED, {"id": key})
        except RecordError:
            self.waiting = before | self.waiting
            raise
        return typed

    def restore(self, kind: str, data: JsonObject) -> None:
        """Take a remark of the record that tells of a waiting message.

        Raises:
            KeyError, TypeError, ValueError: It is not of the shape that its kind has.
        """
        key = data["id"]
        if kind == remarks.QUEUED and isinstance(key, str) and isinstance(data["text"], str):
            pictures = tuple(Image(dict(raw)) for raw in data.get("pictures", ()))
            self.waiting[key] = Typed(data["text"], pictures)
        elif kind == remarks.DELIVERING:
            self._delivering = key
        elif kind == remarks.UNQUEUED:
            self.waiting.pop(key, None)

    def restore_said(self, words: str) -> str | None:
        """Take what the user said, at its place in the record.

        Returns:
            The id of the message that was delivered with it, where a crash left the record without saying so.
        """
        key = self._delivering
        if key not in self.waiting or self.waiting[key].text != words:
            return None
        del self.waiting[key]
        return key

    async def deliver(self, say: Say) -> tuple[str, Entry] | None:
        """Hand the oldest message to the conversation; return it and its entry there, None when none waits.

        It leaves the queue on disk after it was written there: no word is ever in neither.
        """
        if not self.waiting:
            return None
        key = next(iter(self.waiting))
        typed = self.waiting.pop(key)
        try:
            await self.record.remark(remarks.DELIVERING, {"id": key})
            entry = await say(typed.text, typed.pictures)
        except BaseException:
            self.waiting = {key: typed, **self.waiting}
            raise
        await self.record.remark(remarks.UNQUEUED, {"id": key})
        return typed.text, entry
