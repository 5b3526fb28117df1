"""A `ModelRequest` as the bytes of a Messages API call; the same value always gives the same bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from app.core.messages import (
    Block,
    Image,
    Message,
    Text,
    Thinking,
    ToolResult,
    block_to_json,
)
from app.core.requests import ModelRequest
from app.core.surrogates import repair

CACHE_CONTROL = "cache_control"
TOOL_CHOICE = "tool_choice"
THINKING = "thinking"
MAX_CACHE_POINTS = 3
"""Breakpoints in the messages; one more stands after system and tools, and the API takes four."""
EMPTY = "(empty)"
"""Stands where a message would have no content at all, which the API refuses."""

Part = TypeVar("Part", bound=Block)

_MARK = {"type": "ephemeral"}


def encode_request(
    request: ModelRequest,
    *,
    without: frozenset[str] = frozenset(),
    signed_only: bool = False,
    instead: Callable[[Image], str] = lambda _: "",
) -> tuple[bytes, frozenset[str]]:
    """Return the body and the names of the optional fields in it.

    Args:
        request: What to send.
        without: Optional fields to leave out: `CACHE_CONTROL`, `TOOL_CHOICE`, `THINKING`.
        signed_only: Whether the endpoint checks signatures: thinking without one is left out, and the rest is not
            optional.
        instead: Gives the line of text that is sent for a picture; "" sends the picture.
    """
    cached = CACHE_CONTROL not in without
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "stream": True,
    }
    tools = [
        {"name": t.name, "description": t.description, "input_schema": t.input_schema}
        for t in request.tools
    ]
    used = {CACHE_CONTROL} if cached else set()
    if request.system.strip():
        block = {"type": "text", "text": request.system, CACHE_CONTROL: _MARK}
        body["system"] = [block] if cached else request.system
    elif tools and cached:
        tools[-1][CACHE_CONTROL] = _MARK
    if tools:
        body["tools"] = tools
    points: dict[int, set[int]] = {}
    for point in request.cache_points[-MAX_CACHE_POINTS:] if cached else ():
        points.setdefault(point.message, set()).add(point.block)
    body["messages"] = [
        _message(_with_lines(message, instead), points.get(index, set()), without, signed_only)
        for index, message in enumerate(request.messages)
    ]
    if request.no_tools and tools and TOOL_CHOICE not in without:
        body[TOOL_CHOICE] = {"type": "none"}
        used.add(TOOL_CHOICE)
    if (
        not signed_only
        and THINKING not in without
        and any(
            isinstance(block, Thinking) for message in request.messages for block in message.content
        )
    ):
        used.add(THINKING)
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=_plain)
    return repair(text).encode("utf-8"), frozenset(used)


def _message(
    message: Message, points: set[int], without: frozenset[str], signed_only: bool
) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    for index, block in enumerate(message.content):
        if _is_sendable(block, without, signed_only):
            content.append(_block(block))
        if index in points:
            _mark_last(content)
    return {"role": message.role, "content": content or [{"type": "text", "text": EMPTY}]}


def _with_lines(message: Message, instead: Callable[[Image], str]) -> Message:
    """Return the message with lines of text where pictures are not sent."""

    def shown(part: Part) -> Part | Text:
        line = instead(part) if isinstance(part, Image) else ""
        return Text(line) if line else part

    def block(block: Block) -> Block:
        if isinstance(block, ToolResult) and not isinstance(block.content, str):
            return replace(block, content=tuple(map(shown, block.content)))
        return shown(block)

    return Message(message.role, tuple(map(block, message.content)))


def _is_sendable(block: Block, without: frozenset[str], signed_only: bool) -> bool:
    match block:
        case Text(text):
            return bool(text.strip())
        case Thinking(raw):
            unsigned = raw.get("type") == "thinking" and not raw.get("signature")
            return THINKING not in without and not (signed_only and unsigned)
        case _:
            return True


def _block(block: Block) -> dict[str, Any]:
    raw = block_to_json(block)
    if isinstance(block, ToolResult) and not isinstance(block.content, str):
        parts: Sequence[Mapping[str, Any]] = raw["content"]
        raw["content"] = [p for p in parts if p.get("type") != "text" or p["text"].strip()]
    return raw


def _mark_last(content: list[dict[str, Any]]) -> None:
    """Put a breakpoint on the last block that may carry one; thinking may not."""
    for raw in reversed(content):
        if raw.get("type") not in ("thinking", "redacted_thinking"):
            raw[CACHE_CONTROL] = _MARK
            return


def _plain(value: Any) -> Any:
    """Mappings that are no dict, as frozen values hold them."""
    return dict(value) if isinstance(value, Mapping) else str(value)
