"""Tokens as a real tokenizer counts them: o200k, whose vocabulary comes with its package."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from app.core.messages import block_from_json
from app.core.tokens import estimate_block

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # from its way of reading the vocabulary
    import bpe_openai

_O200K = bpe_openai.get_encoding("o200k_base")
FRAME = 4
"""Tokens around a block."""


def tokens_of(block: Mapping[str, Any]) -> float:
    """Count a content block as JSON; pictures by their size."""
    match block["type"]:
        case "text":
            return FRAME + _count(block["text"])
        case "tool_use":
            written = json.dumps(block["input"], ensure_ascii=False)
            return FRAME + _count(block["name"]) + _count(written)
        case "tool_result":
            content = block.get("content", "")
            if isinstance(content, str):
                return FRAME + _count(content)
            return FRAME + sum(tokens_of(part) for part in content)
        case "thinking":
            return FRAME + _count(block["thinking"])
        case _:
            return estimate_block(block_from_json(block))


@lru_cache(maxsize=20_000)
def _count(text: str) -> int:
    return len(_O200K.encode_ordinary(text))
