"""An independent check of the Messages API's rules: what a server would refuse, said before it is sent.

It shares no code with the view on purpose, so that a fault there shows here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.core.messages import (
    Image,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    block_to_json,
)


def problems(messages: Sequence[Message], *, continuing: bool = False) -> tuple[str, ...]:
    """Return what is wrong with the messages of a request, one sentence each; () when they are valid.

    Args:
        messages: The messages as they would be sent.
        continuing: Whether the last message may be the assistant's, as when a paused answer is continued.
    """
    if not messages:
        return ("there is no message",)
    found = list(_role_problems(messages, continuing))
    for at, message in enumerate(messages):
        found.extend(f"message {at}: {problem}" for problem in _content_problems(message))
    found.extend(_pairing_problems(messages, continuing))
    found.extend(_id_problems(messages))
    return tuple(found)


def _role_problems(messages: Sequence[Message], continuing: bool) -> Iterator[str]:
    if messages[0].role != "user":
        yield "the first message is not the user's"
    if messages[-1].role != "user" and not continuing:
        yield "the last message is not the user's"
    for at in range(1, len(messages)):
        if messages[at].role == messages[at - 1].role:
            yield f"messages {at - 1} and {at} have the same role"


def _content_problems(message: Message) -> Iterator[str]:
    if not message.content:
        yield "no content"
    results_over = False
    for at, block in enumerate(message.content):
        match block:
            case Text(text) if not text.strip():
                yield f"block {at} is an empty text"
            case ToolResult(_, content) if not isinstance(content, str):
                if any(isinstance(part, Text) and not part.text.strip() for part in content):
                    yield f"block {at} is a result with an empty text"
            case Thinking() if message.role == "user":
                yield f"block {at} is thinking in a user message"
            case ToolUse(id_, name) if not id_ or not name:
                yield f"block {at} is a call without id or name"
            case _:
                pass
        if isinstance(block, ToolUse) and message.role == "user":
            yield f"block {at} is a call in a user message"
        if isinstance(block, ToolResult):
            if message.role == "assistant":
                yield f"block {at} is a result in an assistant message"
            if results_over:
                yield f"block {at} is a result after other content"
        elif isinstance(block, Text | Image | Opaque):
            results_over = True
        if any(_is_broken(text) for text in _strings(block_to_json(block))):
            yield f"block {at} holds a lone surrogate"
    last = message.content[-1] if message.content else None
    if message.role == "assistant" and isinstance(last, Thinking):
        yield "the last block is thinking"


def _pairing_problems(messages: Sequence[Message], continuing: bool) -> Iterator[str]:
    for at, message in enumerate(messages):
        asked = [block.id for block in message.content if isinstance(block, ToolUse)]
        following = messages[at + 1].content if at + 1 < len(messages) else ()
        answered = [block.tool_use_id for block in following if isinstance(block, ToolResult)]
        last = at + 1 == len(messages)
        if not (last and continuing):
            for id_ in asked:
                if id_ not in answered:
                    yield f"message {at}: call {id_} is not answered in the next message"
        for id_ in answered:
            if id_ not in asked:
                yield f"message {at + 1}: result for {id_}, which message {at} did not ask for"
            if answered.count(id_) > 1:
                yield f"message {at + 1}: two results for {id_}"
    if any(isinstance(block, ToolResult) for block in messages[0].content):
        yield "message 0: a result without a call"


def _id_problems(messages: Sequence[Message]) -> Iterator[str]:
    seen: set[str] = set()
    for at, message in enumerate(messages):
        for block in message.content:
            if isinstance(block, ToolUse):
                if block.id in seen:
                    yield f"message {at}: call id {block.id} was used before"
                seen.add(block.id)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield str(key)
            yield from _strings(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _strings(part)


def _is_broken(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
