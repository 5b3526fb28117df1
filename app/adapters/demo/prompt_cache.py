"""The prompt cache as the API keeps it: what a request reads from it, writes to it and pays in full."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.adapters.demo.validation import content_blocks
from app.core.budget import Usage
from app.core.messages import block_from_json
from app.core.tokens import MESSAGE_TOKENS, estimate_block, estimate_json, estimate_text

TokensOf = Callable[[Mapping[str, Any]], float]
"""Counts the tokens of a content block as JSON."""

LOOK_BACK = 20
"""Positions in front of a breakpoint at which an older entry is still found, the breakpoint itself included."""
MIN_PREFIX = 512
"""Tokens below which a prefix is not cached."""
LIFETIMES = {"5m": 300.0, "1h": 3600.0}
"""Seconds an entry lives after it was last used."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One position of a prompt: a tool, a block of the system prompt or of a message."""

    digest: bytes
    """Of everything up to its end, exactly as it stands; cache marks aside."""
    end: float
    """Tokens up to its end."""
    lifetime: float
    """Seconds, where a breakpoint stands at its end; else 0."""


def estimated(block: Mapping[str, Any]) -> float:
    """Return the estimate of a block's tokens."""
    return estimate_block(block_from_json(block))


def pieces(body: Mapping[str, Any], tokens_of: TokensOf = estimated) -> Iterator[Piece]:
    """Yield the positions of a request, in the order in which the API puts them together."""
    running = hashlib.sha256()
    total = 0.0
    for tool in body.get("tools", []):
        total += estimate_json([tool["name"], tool.get("description", ""), tool["input_schema"]])
        yield _piece(running, "tool", tool, total)
    for block in content_blocks(body.get("system") or []):
        total += estimate_text(block["text"])
        yield _piece(running, "system", block, total)
    level = [body.get("tool_choice", {"type": "auto"}), body.get("thinking")]
    running.update(json.dumps(level, sort_keys=True).encode())
    last = len(body["messages"]) - 1
    for at, message in enumerate(body["messages"]):
        total += MESSAGE_TOKENS
        blocks = content_blocks(message["content"])
        for place, block in enumerate(blocks):
            total += tokens_of(block)
            is_last = at == last and place == len(blocks) - 1
            automatic = body.get("cache_control") if is_last else None
            yield _piece(running, f"{at} {message['role']}", block, total, automatic)


def count_tokens(body: Mapping[str, Any]) -> int:
    """Return the tokens of a prompt."""
    total = 0.0
    for piece in pieces(body):
        total = piece.end
    return max(1, round(total))


class PromptCache:
    """Entries by the prefix they stand for. An entry exists only where a request had a breakpoint."""

    def __init__(self, now: Callable[[], float], tokens_of: TokensOf = estimated) -> None:
        """Make an empty cache.

        Args:
            now: Returns seconds that never run backwards.
            tokens_of: Counts what a block is billed.
        """
        self._now = now
        self._tokens_of = tokens_of
        self._entries: dict[bytes, tuple[float, float]] = {}

    def bill(self, body: Mapping[str, Any]) -> Usage:
        """Return what the request's input costs, and keep what it writes."""
        now = self._now()
        self._entries = {key: entry for key, entry in self._entries.items() if entry[0] > now}
        prompt = list(pieces(body, self._tokens_of))
        marks = [at for at, piece in enumerate(prompt) if piece.lifetime]
        hit = self._longest_hit(prompt, marks)
        read = round(prompt[hit].end) if hit >= 0 else 0
        total = max(1, round(prompt[-1].end))
        written = [at for at in marks if at > hit and prompt[at].end >= MIN_PREFIX]
        write = round(prompt[written[-1]].end) - read if written else 0
        for at in [*marks, hit] if hit >= 0 else marks:
            self._keep(prompt[at], now)
        return Usage(input=total - read - write, cache_read=read, cache_write=write)

    def _longest_hit(self, prompt: list[Piece], marks: list[int]) -> int:
        """Return the last position that some breakpoint finds in the cache, or -1."""
        for mark in reversed(marks):
            for at in range(mark, max(-1, mark - LOOK_BACK), -1):
                if prompt[at].digest in self._entries:
                    return at
        return -1

    def _keep(self, piece: Piece, now: float) -> None:
        if piece.end < MIN_PREFIX:
            return
        _, before = self._entries.get(piece.digest, (0.0, 0.0))
        lifetime = max(piece.lifetime, before)
        self._entries[piece.digest] = (now + lifetime, lifetime)


def _piece(
    running: Any,
    place: str,
    block: Mapping[str, Any],
    total: float,
    automatic: Mapping[str, Any] | None = None,
) -> Piece:
    bare = {key: value for key, value in block.items() if key != "cache_control"}
    running.update(f"\n{place} ".encode())
    running.update(json.dumps(bare, ensure_ascii=True).encode())
    control = block.get("cache_control") or automatic
    lifetime = LIFETIMES[control.get("ttl", "5m")] if control else 0.0
    return Piece(running.digest(), total, lifetime)
