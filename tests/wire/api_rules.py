"""The Messages API's rules for a request body, as its documentation gives them: what a server would refuse, and why.

It reads plain JSON and shares no code with the program, so that a fault there shows here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

ID = re.compile(r"[a-zA-Z0-9_-]+")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
MAX_BYTES = 32 * 1024 * 1024
MAX_MESSAGES = 100_000
MAX_BREAKPOINTS = 4
TOP = {"model", "max_tokens", "stream", "system", "tools", "messages", "tool_choice"}
KEYS = {
    "text": {"type", "text", "cache_control", "citations"},
    "tool_use": {"type", "id", "name", "input", "cache_control"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "image": {"type", "source", "cache_control"},
}
BY_ROLE = {
    "user": {"text", "tool_result", "image"},
    "assistant": {"text", "tool_use", "thinking", "redacted_thinking"},
}


def complaints(raw: bytes, *, continuing: bool = False) -> list[str]:
    """Return what is wrong with a request's body, one sentence each.

    Args:
        raw: The body as it left.
        continuing: Whether the newest answer was a pause, so that its message may stand last.
    """
    try:
        body = json.loads(raw.decode("utf-8"))
    except ValueError as error:
        return [f"the body is not JSON in UTF-8: {error}"]
    return [*_frame(raw, body), *_messages(body, continuing), *_breakpoints(body)]


def _frame(raw: bytes, body: dict[str, Any]) -> Iterator[str]:
    if len(raw) > MAX_BYTES:
        yield f"the body has {len(raw)} bytes"
    if unknown := set(body) - TOP:
        yield f"unknown fields {unknown}"
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "no model"
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        yield f"max_tokens is {body.get('max_tokens')!r}"
    if body.get("stream") is not True:
        yield "it does not ask for a stream"
    system = body.get("system", [])
    for block in [{"type": "text", "text": system}] if isinstance(system, str) else system:
        if block.get("type") != "text" or not block.get("text"):
            yield "the system prompt has an empty text"
    names = [tool.get("name") for tool in body.get("tools", ())]
    if len(set(names)) != len(names) or not all(NAME.fullmatch(str(name)) for name in names):
        yield f"tool names {names}"
    if "tool_choice" in body and not names:
        yield "tool_choice without tools"
    if body.get("tool_choice", {}).get("type", "none") not in ("auto", "none"):
        yield "a forced tool, which current models refuse"
    kinds = {b.get("type") for m in body.get("messages", ()) for b in m.get("content", ())}
    if not names and kinds & {"tool_use", "tool_result"}:
        yield "calls in the history, and no tools"


def _messages(body: dict[str, Any], continuing: bool) -> Iterator[str]:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "no messages"
        return
    if len(messages) > MAX_MESSAGES:
        yield f"{len(messages)} messages"
    if messages[0]["role"] != "user":
        yield "the first message is not the user's"
    if messages[-1]["role"] != "user" and not continuing:
        yield "it ends with a message of the assistant, a prefill that current models refuse"
    seen: set[str] = set()
    for at, message in enumerate(messages):
        where = f"messages.{at}"
        if set(message) != {"role", "content"} or message["role"] not in BY_ROLE:
            yield f"{where}: keys {set(message)}, role {message.get('role')!r}"
            continue
        if at and messages[at - 1]["role"] == message["role"]:
            yield f"{where}: two messages of the {message['role']} in a row"
        if not isinstance(message["content"], list) or not message["content"]:
            yield f"{where}: no content"
            continue
        for number, block in enumerate(message["content"]):
            yield from (f"{where}.{number}: {w}" for w in _block(message["role"], block))
        if message["content"][-1].get("type") in ("thinking", "redacted_thinking"):
            yield f"{where}: its last block is thinking"
        for block in message["content"]:
            if block.get("type") == "tool_use":
                if block.get("id") in seen:
                    yield f"{where}: the id {block.get('id')} was used before"
                seen.add(block.get("id"))
        following = messages[at + 1] if at + 1 < len(messages) else None
        last = following is None
        yield from _pairing(where, message, following, open_end=last and continuing)
    if any(block.get("type") == "tool_result" for block in messages[0]["content"]):
        yield "messages.0: a result without a call"


def _block(role: str, block: dict[str, Any]) -> Iterator[str]:
    kind = block.get("type")
    if kind not in BY_ROLE[role]:
        yield f"a {kind} block in a message of the {role}"
        return
    if unknown := set(block) - KEYS[kind]:
        yield f"unknown keys {unknown} in a {kind} block"
    if "cache_control" in block and block["cache_control"] != {"type": "ephemeral"}:
        yield f"cache_control is {block['cache_control']}"
    match kind:
        case "text":
            if not isinstance(block.get("text"), str) or not block["text"].strip():
                yield "a text block without text"
        case "tool_use":
            if not ID.fullmatch(str(block.get("id", ""))):
                yield f"the id {block.get('id')!r} of a call"
            if not NAME.fullmatch(str(block.get("name", ""))):
                yield f"the name {block.get('name')!r} of a call"
            if not isinstance(block.get("input"), dict):
                yield "the input of a call is no object"
        case "tool_result":
            content = block.get("content", "")
            if not content:
                yield "an empty result"
            if isinstance(content, list):
                for part in content:
                    if part.get("type") not in ("text", "image"):
                        yield f"a {part.get('type')} block in a result"
                    if part.get("type") == "text" and not part.get("text", "").strip():
                        yield "an empty text in a result"
            if not isinstance(block.get("is_error", False), bool):
                yield "is_error is no boolean"
        case "thinking":
            if not block.get("signature") or not isinstance(block.get("thinking"), str):
                yield "thinking without its signature"
        case "redacted_thinking":
            if not block.get("data"):
                yield "redacted thinking without data"


def _pairing(
    where: str, message: dict[str, Any], following: dict[str, Any] | None, *, open_end: bool
) -> Iterator[str]:
    asked = [b.get("id") for b in message["content"] if b.get("type") == "tool_use"]
    blocks = following["content"] if following else []
    answered = [b.get("tool_use_id") for b in blocks if b.get("type") == "tool_result"]
    if not open_end and (missing := set(asked) - set(answered)):
        yield f"{where}: the next message has no results for {missing}"
    if strangers := set(answered) - set(asked):
        yield f"{where}: the next message has results for {strangers}, which were not called"
    if len(set(answered)) != len(answered):
        yield f"{where}: two results for one call"
    kinds = [b.get("type") == "tool_result" for b in blocks]
    if kinds != sorted(kinds, reverse=True):
        yield f"{where}: in the next message something stands in front of a result"


def _breakpoints(body: dict[str, Any]) -> Iterator[str]:
    system = body.get("system", [])
    blocks = [*([] if isinstance(system, str) else system), *body.get("tools", ())]
    for message in body.get("messages") or ():
        blocks.extend(message.get("content") or ())
    count = sum("cache_control" in block for block in blocks)
    if count > MAX_BREAKPOINTS:
        yield f"{count} cache breakpoints"
