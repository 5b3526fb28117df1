"""Masks for secrets: what stands in their place in a text, a message, or any JSON value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.core.messages import Block, Message, Text, Thinking, ToolResult, ToolUse

HIDDEN = "[this program's key]"
LEAST_CHARS = 8
"""Shorter keys of our own are stand-ins that occur in ordinary words."""

Mask = Callable[[str], str]
"""Returns a text with its secrets masked; the text itself when it has none."""


def hide(text: str, keys: Iterable[str]) -> str:
    """Return the text with each of this program's own keys replaced."""
    for key in keys:
        if len(key) >= LEAST_CHARS and key in text:
            text = text.replace(key, HIDDEN)
    return text


@dataclass(frozen=True, slots=True)
class OwnKeys:
    """Masks nothing but this program's own keys."""

    keys: tuple[str, ...] = ()

    def __call__(self, text: str) -> str:
        """Return the text without them."""
        return hide(text, self.keys)


def masked_message(message: Message, mask: Mask) -> Message:
    """Return the message with the secrets in its texts masked; the same object when it has none.

    Thinking that holds a secret is left out, with all thinking of the message: changed, no endpoint would accept it.
    """
    blocks = tuple(_block(block, mask) for block in message.content)
    if any(isinstance(b, Thinking) and mask(b.text) != b.text for b in blocks):
        blocks = tuple(b for b in blocks if not isinstance(b, Thinking))
    return message if blocks == message.content else Message(message.role, blocks)


def masked_results(message: Message, mask: Mask) -> Message:
    """Return the message with the secrets in its tool results masked; the same object when it has none."""
    blocks = tuple(_block(b, mask) if isinstance(b, ToolResult) else b for b in message.content)
    return message if blocks == message.content else Message(message.role, blocks)


def masked_json(value: Any, mask: Mask) -> Any:
    """Return a JSON value with the secrets in its texts masked, also in the keys of its objects."""
    match value:
        case str():
            return mask(value)
        case Mapping():
            return {mask(str(k)): masked_json(v, mask) for k, v in value.items()}
        case list() | tuple():
            parts = [masked_json(v, mask) for v in value]
            return tuple(parts) if isinstance(value, tuple) else parts
        case _:
            return value


def _block(block: Block, mask: Mask) -> Block:
    match block:
        case Text(text):
            told = mask(text)
            return block if told == text else replace(block, text=told)
        case ToolUse(_, _, arguments):
            masked = masked_json(arguments, mask)
            return block if masked == arguments else replace(block, input=masked)
        case ToolResult(_, str() as content):
            told = mask(content)
            return block if told == content else replace(block, content=told)
        case ToolResult(_, tuple() as parts):
            texts = (replace(p, text=mask(p.text)) if isinstance(p, Text) else p for p in parts)
            return replace(block, content=tuple(texts))
        case _:
            return block
