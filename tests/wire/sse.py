"""Bodies in the Messages API's streaming format, well formed and otherwise."""

from __future__ import annotations

import json
from typing import Any


def event(body: dict[str, Any], *, name: str | None = None) -> bytes:
    """One event; `name` None takes the body's type, "" leaves the event line out."""
    name = body.get("type", "") if name is None else name
    line = f"event: {name}\n" if name else ""
    data = json.dumps(body, ensure_ascii=False)
    if not data.isascii() and any("\ud800" <= char <= "\udfff" for char in data):
        data = json.dumps(body)  # half a character travels only as an escape
    return f"{line}data: {data}\n\n".encode()


def start(*, model: str = "claude-opus-5-5", usage: dict[str, Any] | None = None) -> bytes:
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
    }
    message |= {
        "stop_reason": None,
        "usage": usage if usage is not None else {"input_tokens": 10, "output_tokens": 1},
    }
    return event({"type": "message_start", "message": message})


def block_start(index: int, **block: Any) -> bytes:
    return event({"type": "content_block_start", "index": index, "content_block": block})


def delta(index: int, kind: str, **fields: Any) -> bytes:
    return event({"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}})


def block_stop(index: int) -> bytes:
    return event({"type": "content_block_stop", "index": index})


def stop(
    reason: str | None = "end_turn", *, usage: dict[str, Any] | None = None, **delta_fields: Any
) -> bytes:
    body: dict[str, Any] = {
        "type": "message_delta",
        "delta": {"stop_reason": reason, **delta_fields},
    }
    body["usage"] = usage if usage is not None else {"output_tokens": 5}
    return event(body)


def end() -> bytes:
    return event({"type": "message_stop"})


def error(kind: str, message: str) -> bytes:
    return event({"type": "error", "error": {"type": kind, "message": message}})


def text(index: int, *pieces: str) -> bytes:
    body = block_start(index, type="text", text="")
    return (
        body
        + b"".join(delta(index, "text_delta", text=piece) for piece in pieces)
        + block_stop(index)
    )


def call(index: int, name: str, *pieces: str, id_: str = "toolu_1") -> bytes:
    body = block_start(index, type="tool_use", id=id_, name=name, input={})
    return (
        body
        + b"".join(delta(index, "input_json_delta", partial_json=p) for p in pieces)
        + block_stop(index)
    )


def answer(*pieces: str, usage: dict[str, Any] | None = None) -> bytes:
    """A whole answer of plain text."""
    return start(usage=usage) + text(0, *(pieces or ("OK",))) + stop() + end()
