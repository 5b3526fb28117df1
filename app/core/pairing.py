"""Makes a conversation with holes one that can be sent: what a damaged record lost is named where it stood.

A conversation without holes comes out as it went in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.core.messages import Block, Image, Message, Text, Thinking, ToolResult, ToolUse, user

LOST_RESULT = "[lost: the record of this result is damaged]"
LOST_CALL = "[result of a call that is not in this conversation]"
LOST_BEGINNING = "[the beginning is lost: the record is damaged]"

_MODEL_ONLY = (ToolUse, Thinking)
_USER_ONLY = (ToolResult, Image)

Part = tuple[Message, tuple[str, ...]]
"""A message of the view, and the ids of the record's messages in it."""


def of_its_role(message: Message) -> Message:
    """Return a message without blocks that only the other side sends; a record edited by hand may hold some."""
    others = _MODEL_ONLY if message.role == "user" else _USER_ONLY
    if not any(isinstance(block, others) for block in message.content):
        return message
    kept = tuple(block for block in message.content if not isinstance(block, others))
    return replace(message, content=kept)


def put(parts: list[Part], message: Message, id_: str) -> None:
    """Put the next message of the record at the end: roles alternate, neighbours of one role become one message."""
    before = parts[-1][0] if parts else None
    if before is None and message.role == "assistant":
        parts.append((user(LOST_BEGINNING), ()))
    elif before is not None and before.role == message.role:
        if message.role == "user" or not before.tool_uses:
            parts[-1] = (join(before, message), (*parts[-1][1], id_))
            return
        parts.append((Message("user", ()), ()))  # `paired` answers the calls here
    parts.append((message, (id_,)))


def distinct(parts: Sequence[Part]) -> list[Part]:
    """Return the messages with another id for each call whose id an earlier message has, and for its result.

    The API wants ids to be unique; a record that was put together by hand may repeat them.
    """
    found: list[Part] = []
    seen: set[str] = set()
    renamed: dict[str, str] = {}
    for message, origins in parts:
        if message.role == "assistant":
            ids = [call.id for call in message.tool_uses]
            renamed = {id_: f"{id_}_{len(found)}" for id_ in ids if id_ in seen}
            seen.update(renamed.get(id_, id_) for id_ in ids)
        found.append((_renamed(message, renamed) if renamed else message, origins))
    return found


def _renamed(message: Message, ids: Mapping[str, str]) -> Message:
    blocks: list[Block] = []
    for block in message.content:
        match block:
            case ToolUse(id_):
                blocks.append(replace(block, id=ids.get(id_, id_)))
            case ToolResult(id_):
                blocks.append(replace(block, tool_use_id=ids.get(id_, id_)))
            case _:
                blocks.append(block)
    return replace(message, content=tuple(blocks))


def paired(parts: Sequence[Part]) -> list[Part]:
    """Return the messages with a result for each call that has none, and as text what answers no call.

    Calls of the last message may be open.

    Args:
        parts: Messages in turn of both roles.
    """
    found: list[Part] = []
    for message, origins in parts:
        calls = [call.id for call in found[-1][0].tool_uses] if found else []
        if message.role == "user" and calls != [r.tool_use_id for r in message.tool_results]:
            found.append((_answering(message, calls), origins))
        else:
            found.append((message, origins))
    return found


def _answering(message: Message, calls: Sequence[str]) -> Message:
    """Return a message of the user that answers just these calls."""
    open_calls = dict.fromkeys(calls)
    results: list[Block] = []
    rest: list[Block] = []
    for block in message.content:
        if not isinstance(block, ToolResult):
            rest.append(block)
        elif block.tool_use_id in open_calls:
            del open_calls[block.tool_use_id]
            results.append(block)
        else:
            rest += [Text(LOST_CALL), *_as_content(block)]
    results += [ToolResult(call, LOST_RESULT, is_error=True) for call in open_calls]
    return Message("user", (*results, *rest))


def _as_content(result: ToolResult) -> tuple[Block, ...]:
    return (Text(result.content),) if isinstance(result.content, str) else result.content


def join(first: Message, second: Message) -> Message:
    """Join two neighbours of one role; tool results come first, as the API wants them."""
    blocks = (*first.content, *second.content)
    results = tuple(block for block in blocks if isinstance(block, ToolResult))
    rest = tuple(block for block in blocks if not isinstance(block, ToolResult))
    return Message(first.role, (*results, *rest))
