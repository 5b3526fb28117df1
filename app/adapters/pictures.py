"""Pictures that an endpoint refused: they stay in the record, and a line of text takes their place in requests."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence

from app.adapters.refusal import Refusal
from app.core.messages import Image, Message, ToolResult
from app.errors import Rejected

REFUSED = "[image left out: the endpoint refused it]"
BLIND = "[image left out: the model takes no images]"
LARGE_SHARE = 0.5
"""A body that is too large goes without pictures when they are more than this share of it."""
_STATUSES = (400, 404, 413, 415, 422, 500, 501)
_NAMED = re.compile(r"\b(?:images?|pictures?|image_url|vision|multimodal|mmproj)\b", re.IGNORECASE)
_BLIND = re.compile(
    r"support (?:for )?(?:images?|vision|multimodal|image_url)|(?:images?(?: inputs?| content)?|vision) (?:is|are) not "
    r"(?:supported|available|enabled)|image input|text[- ]only|only (?:supports? )?text|not a vision|mmproj"
    r"|cannot (?:see|read|take|handle) images",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\bmessages?[.\[](\d+)")


class PicturesRefused(Rejected):
    """The endpoint did not take the pictures of a request.

    Attributes:
        message_index: The message at fault, or None when the endpoint did not say.
        blind: Whether the model takes no pictures at all.
    """

    message_index: int | None = None
    blind: bool = False


def about_pictures(status: int, refusal: Refusal, said: str, url: str) -> PicturesRefused | None:
    """Return the error when a refusal of a request with pictures is about them."""
    if status not in _STATUSES or not _NAMED.search(refusal.message):
        return None
    error = PicturesRefused(
        f"{url} refused a picture in the conversation: {said}",
        hint="Send a smaller one, as PNG or JPEG, or choose a model that takes pictures.",
        status=status,
        url=url,
    )
    place = _PLACE.search(refusal.message)
    error.message_index = int(place[1]) if place else None
    error.blind = bool(_BLIND.search(refusal.message))
    return error


def images_in(message: Message) -> Iterator[Image]:
    """Yield the pictures of a message, also those in tool results."""
    for block in message.content:
        if isinstance(block, Image):
            yield block
        elif isinstance(block, ToolResult) and not isinstance(block.content, str):
            yield from (part for part in block.content if isinstance(part, Image))


class RefusedPictures:
    """What one endpoint refused so far."""

    def __init__(self) -> None:
        self._digests: set[bytes] = set()
        self._blind: set[str] = set()

    def instead(self, image: Image, model: str) -> str:
        """Return the line that stands for a picture; "" when the picture itself is sent."""
        if model in self._blind:
            return BLIND
        return REFUSED if self._digests and _digest(image) in self._digests else ""

    def sent(self, messages: Sequence[Message], model: str) -> list[Image]:
        """Return the pictures that a request carries."""
        return [i for m in messages for i in images_in(m) if not self.instead(i, model)]

    def note(self, error: PicturesRefused, messages: Sequence[Message], model: str) -> int:
        """Leave out what was refused from now on; return how many pictures that are."""
        sent = self.sent(messages, model)
        if error.blind:
            self._blind.add(model)
            return len(sent)
        at = error.message_index
        named = self.sent(messages[at : at + 1], model) if at is not None else []
        refused = named or sent
        self._digests.update(map(_digest, refused))
        return len(refused)


def are_most_of(pictures: Sequence[Image], body: bytes) -> bool:
    """Whether pictures make up most of a request's body."""
    return sum(map(_size, pictures)) > LARGE_SHARE * len(body)


def _digest(image: Image) -> bytes:
    text = json.dumps(dict(image.raw), sort_keys=True, default=str)
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


def _size(image: Image) -> int:
    source = image.raw.get("source")
    data = source.get("data") if isinstance(source, dict) else None
    return len(data) if isinstance(data, str) else 0
