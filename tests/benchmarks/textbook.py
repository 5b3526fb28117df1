"""The literal design, for comparison: it looks at every message again before each request.

Each turn, results beyond the newest three and longer than 100 characters become a placeholder, `read_file` excepted;
above the threshold, by ``len(str(messages)) // 4``, the end of the messages' JSON is summarised in a request of its own
and one user message replaces everything. One cache breakpoint moves along with the end.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from app.adapters.demo.prompt_cache import PromptCache, TokensOf
from app.core.budget import Usage
from app.core.messages import Message, ToolResult, block_to_json, message_from_json
from app.replay.driver import floor_text
from app.replay.effects import edit_targets
from app.replay.losses import Losses
from app.replay.recordings import Recording, turns
from app.replay.stand_ins import RELATIVE_PRICE, SUMMARY_TOKENS

Messages = list[dict[str, Any]]
KEEP_RECENT = 3
SUMMARISED_CHARS = 80_000
RESULT_CHARS = 50_000
CACHED = {"cache_control": {"type": "ephemeral"}}


@dataclass
class Outcome:
    """What a session cost, in units of one uncached input token, and lost."""

    cost: float = 0.0
    requests: int = 0
    summaries: int = 0
    edits: int = 0
    edits_lost: int = 0


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
        if isinstance(text, str) and len(text) > 100 and name not in READS:
            block["content"] = f"[Previous: used {name}]"


READS = frozenset({"read_file", "read", "Read", "read_files"})
"""What recordings call reading a file."""


def replay(
    recording: Recording, threshold: int, tokens_of: TokensOf, *, layer_1: bool = True
) -> Outcome:
    """Let the textbook hold a recorded session."""
    outcome, losses, cache = Outcome(), Losses(), PromptCache(lambda: 0.0, tokens_of)
    messages: Messages = []
    new: tuple[Message, ...] = ()
    for turn in turns(recording):
        messages.append(_raw(turn.said))
        new = (*new, turn.said)
        for step in turn.steps:
            if layer_1:
                clear_old_results(messages)
            if estimate(messages) > threshold:
                messages, cost = _summarised(messages, tokens_of)
                outcome.cost += cost
                outcome.summaries += 1
            outcome.requests += 1
            outcome.cost += _billed(messages, step.answer, cache, tokens_of)
            losses.saw(new)
            if any(edit_targets(call) for call in step.answer.tool_uses):
                losses.check([message_from_json(message) for message in messages], step.answer)
            messages.append(_raw(step.answer))
            new = (step.answer,)
            if step.results:
                messages.append(_raw(Message("user", step.results)))
                new = (step.answer, Message("user", step.results))
    outcome.edits, outcome.edits_lost = losses.edits, losses.edits_lost
    return outcome


def _raw(message: Message) -> dict[str, Any]:
    blocks = [dict(block_to_json(block)) for block in message.content]
    for block, own in zip(blocks, message.content, strict=True):
        if isinstance(own, ToolResult) and isinstance(own.content, str):
            block["content"] = own.content[:RESULT_CHARS]
    return {"role": message.role, "content": blocks or [{"type": "text", "text": "(nothing)"}]}


def _summarised(messages: Messages, tokens_of: TokensOf) -> tuple[Messages, float]:
    """One uncached request that sees the end of the JSON."""
    asked = json.dumps(messages, default=str)[-SUMMARISED_CHARS:]
    cost = tokens_of({"type": "text", "text": asked}) + 5 * SUMMARY_TOKENS
    summary = "The summary of the session so far stands here. " * (SUMMARY_TOKENS // 10)
    content = [{"type": "text", "text": f"[Compressed]\n\n{summary}"}]
    return [{"role": "user", "content": content}], cost


def _billed(messages: Messages, answer: Message, cache: PromptCache, tokens_of: TokensOf) -> float:
    *before, last = messages
    *blocks, end = last["content"]
    marked = {**last, "content": [*blocks, {**end, **CACHED}]}
    usage: Usage = cache.bill({"system": floor_text(), "messages": [*before, marked]})
    output = sum(tokens_of(block_to_json(block)) for block in answer.content)
    return RELATIVE_PRICE.of(usage) + 5 * output
