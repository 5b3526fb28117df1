"""What stays verbatim: the exchanges that the model has not seen, the last one, as many before it as fit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.core.conversation import Conversation
from app.core.history import Entry
from app.core.messages import Message, ToolResult, without_thinking
from app.core.tokens import estimate_message


@dataclass(frozen=True, slots=True)
class Unit:
    """Messages that stand or fall together: a call with its results, or a message without calls."""

    first: int
    """Position in the conversation's entries."""
    end: int
    """Position after its last entry."""


def units(entries: Sequence[Entry]) -> tuple[Unit, ...]:
    """Return the entries cut into units; a cut never falls between a call and its result."""
    starts = [at for at, entry in enumerate(entries) if at == 0 or not entry.message.tool_results]
    ends = (*starts[1:], len(entries))
    return tuple(Unit(first, end) for first, end in zip(starts, ends, strict=False))


def unseen_from(conversation: Conversation) -> int:
    """Return the position from which on the summary call is not sent anything: the unseen exchange."""
    entries = conversation.entries
    at = conversation.unseen_from
    if at < len(entries) and entries[at].message.tool_results:
        at -= 1
    if at == len(entries) and conversation.open_calls:
        at -= 1
    return max(0, at)


def must_keep_from(
    conversation: Conversation, *, room: float = math.inf, refused: bool = False
) -> int:
    """Return the position from which on everything stays: what is unseen, and the last complete exchange.

    Args:
        conversation: What is cut.
        room: Raw tokens that the last exchange may take; a larger one is left to the summary.
        refused: Whether the endpoint refused it for its size. Then of several unanswered messages of the user only
            the newest stays whole: an earlier one may be what is too large.
    """
    entries = conversation.entries
    unseen = unseen_from(conversation)
    waiting = entries[unseen:]
    if refused and len(waiting) > 1 and all(entry.spoken for entry in waiting):
        return len(entries) - 1
    if unseen < len(entries) and entries[unseen].message.role == "assistant":
        return unseen
    before = units(entries[:unseen])
    if not before:
        return unseen
    last = before[-1].first
    lines = lines_by_call(conversation)
    if size(conversation, Unit(last, unseen), lines) > room:
        return unseen
    if len(before) > 1 and unseen == len(entries):
        question = before[-2].first
        if entries[question].message.role == "user" and _is_answer(entries[last]):
            return question
    return last


def grown(conversation: Conversation, start: int, room: float) -> int:
    """Return how far back the tail reaches when the units in front of ``start`` may take ``room`` raw tokens."""
    lines = lines_by_call(conversation)
    for unit in reversed(units(conversation.entries[:start])):
        room -= size(conversation, unit, lines)
        if room < 0:
            break
        start = unit.first
    return start


def size(conversation: Conversation, unit: Unit, lines: Mapping[str, str]) -> float:
    """Return the raw tokens of a unit as it would be kept: without thinking, cleared results as their lines."""
    kept = conversation.entries[unit.first : unit.end]
    return sum(estimate_message(shown(entry, lines)) for entry in kept)


def lines_by_call(conversation: Conversation) -> dict[str, str]:
    """Return the lines of the cleared results by message and call id."""
    stubs = conversation.stubs
    if not stubs:
        return {}
    return {
        ref.entry + ref.tool_use_id: stubs[ref.id]
        for ref in conversation.results
        if ref.id in stubs
    }


def shown(entry: Entry, lines: Mapping[str, str]) -> Message:
    """Return a kept message as the new view has it."""
    message = without_thinking(entry.message)
    if not entry.first_result or not lines:
        return message
    blocks = tuple(
        replace(block, content=lines[entry.id + block.tool_use_id])
        if isinstance(block, ToolResult) and entry.id + block.tool_use_id in lines
        else block
        for block in message.content
    )
    return Message(message.role, blocks)


def _is_answer(entry: Entry) -> bool:
    return entry.message.role == "assistant" and not entry.message.tool_uses
