"""Stand-ins for what a replay cannot ask again: the model answers, and the tools return, what was recorded."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from app.adapters.demo.prompt_cache import PromptCache, TokensOf, estimated
from app.adapters.request_body import encode_request
from app.compaction.summary import HEADINGS
from app.core.budget import Usage
from app.core.messages import (
    Image,
    JsonObject,
    Message,
    Text,
    ToolResult,
    ToolUse,
    block_to_json,
)
from app.core.ports import Emit, Proposal, ToolOutcome
from app.core.prices import Price
from app.core.requests import (
    Answer,
    ModelEvent,
    ModelInfo,
    ModelRequest,
    Purpose,
    StopReason,
    ToolSpec,
)
from app.core.tokens import estimate_text
from app.errors import ModelError
from app.replay.effects import infer_effects
from app.replay.recordings import RecordedStep
from app.replay.shelf import Shelf

SUMMARY_TOKENS = 2_000
"""Size of the stand-in summary."""
RELATIVE_PRICE = Price(input=1e6, output=5e6, cache_read=0.1e6, cache_write=1.25e6)
"""Cost in units of one uncached input token."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One request as it left."""

    request: ModelRequest
    answer: Message
    body: Mapping[str, Any]
    usage: Usage


@dataclass(slots=True)
class RecordedModel:
    """Answers each request of a turn with the next recorded message, and each summary request with a stand-in."""

    watch: Callable[[Sent], None]
    """Called with each request."""
    hear: Callable[[str], Awaitable[None]]
    """Takes what the user wrote while the calls of an answer ran."""
    steps: deque[RecordedStep] = field(default_factory=deque)
    tokens_of: TokensOf = estimated
    """Counts what a block is billed."""
    seconds: float = 0.0
    """The replay's own time: recordings do not say how long anything took."""
    _cache: PromptCache = field(init=False)

    def __post_init__(self) -> None:
        self._cache = PromptCache(lambda: self.seconds, self.tokens_of)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the answer."""
        if request.purpose is Purpose.SUMMARY:
            message = Message("assistant", (Text(stand_in_summary()),))
        elif self.steps:
            step = self.steps.popleft()
            message = step.answer
            if step.said:
                await self.hear(step.said)
        else:
            raise ModelError("the recording ends here")
        body = json.loads(encode_request(request)[0])
        output = sum(self.tokens_of(block_to_json(block)) for block in message.content)
        usage = replace(self._cache.bill(body), output=round(output))
        self.watch(Sent(request, message, body, usage))
        stop = StopReason.TOOL_USE if message.tool_uses else StopReason.END_TURN
        yield Answer(message, usage, stop, model=request.model)

    async def warm_up(self) -> None:
        """Do nothing."""

    async def models(self) -> tuple[ModelInfo, ...]:
        """Return nothing: there is no endpoint."""
        return ()

    async def info(self, model: str) -> ModelInfo | None:
        """Return nothing: there is no endpoint."""
        return None

    def price(self, model: str) -> Price | None:
        """Return prices in units of one uncached input token."""
        return RELATIVE_PRICE

    async def close(self) -> None:
        """Do nothing."""


@dataclass(slots=True)
class RecordedTool:
    """Returns the recorded results of one tool, in the order of its calls."""

    name: str
    shelf: Shelf
    results: deque[tuple[ToolUse, ToolResult]] = field(default_factory=deque)
    read_only: bool = True

    @property
    def spec(self) -> ToolSpec:
        """Return a spec without content: recordings hold no tool list."""
        return ToolSpec(self.name, "", {"type": "object"})

    def target(self, arguments: JsonObject) -> str:
        """Return nothing: the effects say it."""
        return ""

    async def propose(self, arguments: JsonObject) -> Proposal:
        """Return an empty proposal: nothing is asked in a replay."""
        return Proposal(self.name, "")

    async def run(self, arguments: JsonObject, emit: Emit) -> ToolOutcome:
        """Return the next recorded result."""
        call, result = self.results.popleft()
        call = self.shelf.asked(call, result)
        edited = self.shelf.note(call, result)
        effects = replace(infer_effects(call, result), edited=edited)
        return ToolOutcome(_content(result), effects, ok=not result.is_error)


def _content(result: ToolResult) -> str | tuple[Text | Image, ...]:
    """Return the content; text in several parts as one, so that layer 0 sees its size."""
    if isinstance(result.content, str):
        return result.content
    if all(isinstance(part, Text) for part in result.content):
        return result.text
    return tuple(part for part in result.content if isinstance(part, Text | Image))


class RecordedTools(Mapping[str, RecordedTool]):
    """A tool for every name that a recording uses."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._tools: dict[str, RecordedTool] = {}

    def expect(self, call: ToolUse, result: ToolResult) -> None:
        """Add what the next call of this tool returns."""
        self._tools.setdefault(call.name, RecordedTool(call.name, self._shelf)).results.append(
            (call, result)
        )

    def __getitem__(self, name: str) -> RecordedTool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)


def stand_in_summary() -> str:
    """Return a summary of `SUMMARY_TOKENS` with all headings and no content."""
    filler = "Noted in the replay, without a model that could say more. "
    lines = [f"## {heading}" for heading in HEADINGS]
    share = SUMMARY_TOKENS / len(HEADINGS)
    repeats = max(1, int((share - estimate_text(lines[0])) / estimate_text(filler)))
    return "\n\n".join(f"{line}\n{filler * repeats}" for line in lines)
