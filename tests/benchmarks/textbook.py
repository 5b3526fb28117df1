"""The literal design, for comparison: it looks at every message again before each request."""

from __future__ import annotations

from typing import Any

from app.core.policy import AutoPolicy, CompactionPolicy, EntryPolicy, MicroPolicy, MicroRule

Messages = list[dict[str, Any]]
KEEP_RECENT = 3
LITERAL_LAYER_1 = MicroPolicy(
    rule=MicroRule.EVERY_TURN, preserve_tokens=None, batch_tokens=0, bare_stubs=True
)
NO_LAYER_0 = EntryPolicy(enabled=False)
TEXTBOOK = CompactionPolicy(entry=NO_LAYER_0, micro=LITERAL_LAYER_1)
NO_LAYER_1 = CompactionPolicy(micro=MicroPolicy(rule=MicroRule.OFF))
NONE = CompactionPolicy(
    entry=NO_LAYER_0, micro=MicroPolicy(rule=MicroRule.OFF), auto=AutoPolicy(enabled=False)
)


def estimate(messages: Messages) -> int:
    """Tokens of all messages."""
    return len(str(messages)) // 4


def clear_old_results(messages: Messages) -> None:
    """Replace every long result but the newest by a placeholder, in place."""
    names = {
        block["id"]: block["name"]
        for message in messages
        if message["role"] == "assistant"
        for block in message["content"]
        if block["type"] == "tool_use"
    }
    results = [
        block
        for message in messages
        if message["role"] == "user"
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    for block in results[:-KEEP_RECENT]:
        name = names.get(block["tool_use_id"], "unknown")
        text = block["content"]
        if isinstance(text, str) and len(text) > 100 and name != "read_file":
            block["content"] = f"[Previous: used {name}]"
