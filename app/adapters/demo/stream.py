"""An answer on the wire: as server-sent events in small pieces, or as one JSON message."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.adapters.demo import DEMO_MODEL_ID
from app.core.budget import Usage
from app.core.messages import Block, Text, Thinking, ToolUse, block_to_json
from app.core.tokens import estimate_block

PIECE_CHARS = 14
"""Characters of one delta of a short answer."""
MAX_PIECES = 90
"""Deltas of one block at most: the pieces of a long one are larger, so that it is quick all the same."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answers."""

    blocks: tuple[Block, ...]
    stop: str
    """A stop reason of the API."""

    @property
    def tokens(self) -> int:
        """Output tokens."""
        return max(1, round(sum(estimate_block(block) for block in self.blocks)))


def cut_to(reply: Reply, max_tokens: int) -> Reply:
    """Return what fits into ``max_tokens``; the text that passes the limit is cut, what follows is dropped."""
    if reply.tokens <= max_tokens:
        return reply
    kept: list[Block] = []
    room = float(max_tokens)
    for block in reply.blocks:
        size = estimate_block(block)
        if size <= room:
            kept.append(block)
            room -= size
            continue
        if isinstance(block, Text):
            text = block.text
            while text and estimate_block(Text(text)) > room:
                text = text[: len(text) * 9 // 10]
            kept += [Text(text)] if text.strip() else []
        break
    return replace(reply, blocks=tuple(kept), stop="max_tokens")


def message_json(reply: Reply, usage: Usage, id_: str) -> dict[str, Any]:
    """Return the whole message, as an answer without streaming has it."""
    return {
        **_message(id_, usage, reply.tokens),
        "content": [block_to_json(block) for block in reply.blocks],
        "stop_reason": reply.stop,
    }


def events(reply: Reply, usage: Usage, id_: str) -> Iterator[bytes]:
    """Yield the server-sent events of an answer, each whole."""
    yield _event("message_start", message={**_message(id_, usage, 1), "content": []})
    yield _event("ping")
    for index, block in enumerate(reply.blocks):
        start, deltas = _parts(block)
        yield _event("content_block_start", index=index, content_block=start)
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    yield _event(
        "message_delta",
        delta={"stop_reason": reply.stop, "stop_sequence": None},
        usage={"output_tokens": reply.tokens},
    )
    yield _event("message_stop")


def _parts(block: Block) -> tuple[Mapping[str, Any], Iterator[dict[str, Any]]]:
    """Return how a block starts, and the deltas that complete it."""
    match block:
        case Text(text):
            deltas = ({"type": "text_delta", "text": piece} for piece in _pieces(text))
            return {"type": "text", "text": ""}, deltas
        case ToolUse(id_, name, arguments):
            written = json.dumps(dict(arguments), ensure_ascii=False)
            deltas = ({"type": "input_json_delta", "partial_json": p} for p in _pieces(written))
            return {"type": "tool_use", "id": id_, "name": name, "input": {}}, deltas
        case Thinking(raw):
            signature = {"type": "signature_delta", "signature": raw["signature"]}
            thoughts = [{"type": "thinking_delta", "thinking": p} for p in _pieces(block.text)]
            return {"type": "thinking", "thinking": "", "signature": ""}, iter(
                [*thoughts, signature]
            )
        case _:
            return block_to_json(block), iter(())


def _pieces(text: str) -> Iterator[str]:
    size = max(PIECE_CHARS, -(-len(text) // MAX_PIECES))
    return (text[at : at + size] for at in range(0, len(text), size))


def _message(id_: str, usage: Usage, output: int) -> dict[str, Any]:
    return {
        "id": id_,
        "type": "message",
        "role": "assistant",
        "model": DEMO_MODEL_ID,
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.input,
            "cache_creation_input_tokens": usage.cache_write,
            "cache_read_input_tokens": usage.cache_read,
            "output_tokens": output,
        },
    }


def _event(kind: str, **fields: Any) -> bytes:
    data = json.dumps({"type": kind, **fields}, ensure_ascii=False)
    return f"event: {kind}\ndata: {data}\n\n".encode()
