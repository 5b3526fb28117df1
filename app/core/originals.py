"""Originals by id: what ``r<N>`` or ``m<N>`` said, whole, whatever the view holds of it by now."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

from app.core.effects import Effects
from app.core.history import Entry
from app.core.messages import Block, Image, Opaque, Text, Thinking, ToolResult, ToolUse

Texts = tuple[tuple[str, str], ...]
"""Some texts, each with the id under which it can be recalled."""


class Originals(Protocol):
    """The part of the record that holds them."""

    async def result_entry(self, number: int) -> Entry | None:
        """Return the message that holds the Nth tool result."""
        ...

    async def messages(self, numbers: Sequence[int]) -> tuple[Entry, ...]:
        """Return these messages of the record; unknown numbers are left out."""
        ...

    async def load_output(self, name: str) -> str | None:
        """Return a stored text, or None."""
        ...

    def texts(self) -> AsyncGenerator[Texts, None]:
        """Yield all that was said, called, returned or stored, newest message first, in batches."""
        ...


@dataclass(frozen=True, slots=True)
class Original:
    """What an id stands for."""

    title: str
    text: str
    images: tuple[Image, ...] = ()


async def find_original(record: Originals, kind: str, number: int) -> Original | None:
    """Return the original of a tool result (kind "r") or a message ("m"), or None when there is none."""
    if kind == "m":
        entries = await record.messages([number])
        return _message(entries[0]) if entries else None
    entry = await record.result_entry(number)
    if entry is None:
        return None
    result = entry.message.tool_results[number - entry.first_result]
    effects = entry.effects.get(result.tool_use_id, Effects())
    stored = await record.load_output(effects.stored) if effects.stored else None
    about = f" ({effects.target})" if effects.target else ""
    text = result.text if stored is None else stored
    return Original(f"r{number}{about}", text, _images(result.content))


def _message(entry: Entry) -> Original:
    content = entry.message.content
    text = "\n\n".join(part for block in content if (part := _readable(block)))
    return Original(f"{entry.id}, {entry.message.role}, {entry.time}", text, _images(content))


def _readable(block: Block) -> str:
    match block:
        case Text(text):
            return text
        case ToolUse(_, name, arguments):
            return f"[used {name}: {json.dumps(dict(arguments), ensure_ascii=False)}]"
        case ToolResult():
            return f"[tool result]\n{block.text}"
        case Image():
            return "[picture]"
        case Thinking() | Opaque():
            return ""


def _images(content: str | Sequence[Block]) -> tuple[Image, ...]:
    return tuple(part for part in content if isinstance(part, Image))
