"""Signatures of thinking blocks: each is bound to everything that stands before its message."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from app.adapters.demo.validation import InvalidRequest, content_blocks

PREFIX = "demo."
"""How our signatures begin; blocks signed by another model are ignored, as the API does."""


def sign(body: Mapping[str, Any], upto: int, thinking: str) -> str:
    """Return the signature of a thinking block that stands in message number ``upto``, counted from 0."""
    digest = hashlib.sha256(thinking.encode())
    stable = [body.get("system"), body.get("tools"), body["messages"][:upto]]
    digest.update(json.dumps(_signed(stable), sort_keys=True).encode())
    return PREFIX + digest.hexdigest()


def check_signatures(body: Mapping[str, Any]) -> None:
    """Check every thinking block of ours.

    Raises:
        InvalidRequest: Something before the block was changed since it was signed.
    """
    for at, message in enumerate(body["messages"]):
        for place, block in enumerate(content_blocks(message["content"])):
            signature = str(block.get("signature", ""))
            if block["type"] != "thinking" or not signature.startswith(PREFIX):
                continue
            if signature != sign(body, at, str(block.get("thinking", ""))):
                raise InvalidRequest(
                    f"messages.{at}.content.{place}: Invalid `signature` in `thinking` block. The block is bound to a "
                    "different conversation."
                )


def _signed(value: Any) -> Any:
    """Return what the signature covers: no thinking, no cache marks, plain text as a block."""
    if isinstance(value, list):
        kept = [_signed(item) for item in value if not _is_thinking(item)]
        return [item for item in kept if item != {"role": "assistant", "content": []}]
    if isinstance(value, Mapping):
        bare = {key: _signed(item) for key, item in value.items() if key != "cache_control"}
        if "role" in bare and isinstance(bare.get("content"), str):
            bare["content"] = content_blocks(bare["content"])
        return bare
    return value


def _is_thinking(item: Any) -> bool:
    return isinstance(item, Mapping) and item.get("type") in ("thinking", "redacted_thinking")
