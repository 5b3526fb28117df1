"""Signed thinking: a signature covers all that stands before it, so an edit invalidates what comes after."""

from __future__ import annotations

from bisect import bisect_right

from app.core.conversation import Conversation
from app.core.history import Entry
from app.core.messages import Message, Thinking


def is_signed(block: Thinking) -> bool:
    """Whether a signature binds the block to what stands before it; redacted thinking always is."""
    return block.raw.get("type") == "redacted_thinking" or bool(block.raw.get("signature"))


def thinks(message: Message) -> bool:
    """Whether a message holds any thinking."""
    return any(isinstance(block, Thinking) for block in message.content)


def binds_open_round(conversation: Conversation, edited: str) -> bool:
    """Whether an edit in this message invalidates thinking in the tool round that is still going on."""
    entries = conversation.entries
    if not entries or not entries[-1].message.tool_results:
        return False
    first = _position_after(conversation, edited)
    for at in range(len(entries) - 1, first - 1, -1):
        message = entries[at].message
        if message.role == "user" and not message.tool_results:
            return False
        if entries[at].id not in conversation.bare and _signed(message):
            return True
    return False


def after(conversation: Conversation, edited: str) -> tuple[str, ...]:
    """Return the messages after an edited one whose thinking must go; () when none of it is signed."""
    later = conversation.entries[_position_after(conversation, edited) :]
    with_thinking = [entry for entry in later if _has_thinking(conversation, entry)]
    if not any(_signed(entry.message) for entry in with_thinking):
        return ()
    return tuple(entry.id for entry in with_thinking)


def _has_thinking(conversation: Conversation, entry: Entry) -> bool:
    if entry.message.role != "assistant" or entry.id in conversation.bare:
        return False
    return thinks(entry.message)


def _signed(message: Message) -> bool:
    return any(isinstance(block, Thinking) and is_signed(block) for block in message.content)


def _position_after(conversation: Conversation, edited: str) -> int:
    return bisect_right(conversation.entries, int(edited[1:]), key=lambda entry: entry.number)
