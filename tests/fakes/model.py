"""A model whose answers a test writes down beforehand; it keeps every request it was sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

from app.core.budget import Usage
from app.core.messages import Message, Text, ToolUse
from app.core.prices import Price
from app.core.requests import (
    Answer,
    CallDelta,
    ModelEvent,
    ModelInfo,
    ModelRequest,
    StopReason,
    TextDelta,
)
from app.core.tokens import estimate_json, estimate_message, estimate_text

Step = Answer | Exception | Callable[[ModelRequest], Any]


def says(
    text: str, *, stop: StopReason = StopReason.END_TURN, usage: Usage | None = None
) -> Answer:
    """An answer of plain text."""
    return Answer(Message("assistant", (Text(text),)), usage, stop)


def calls(
    *uses: tuple[str, str, dict[str, Any]], text: str = "", usage: Usage | None = None
) -> Answer:
    """An answer with tool calls, each (id, tool, input)."""
    blocks = [Text(text)] if text else []
    return Answer(
        Message("assistant", (*blocks, *(ToolUse(i, n, a) for i, n, a in uses))),
        usage,
        StopReason.TOOL_USE,
    )


class ScriptedModel:
    """Answers with the script's steps, one a request; a callable step makes its answer from the request."""

    def __init__(
        self,
        script: Iterable[Step] = (),
        *,
        window: int | None = 200_000,
        hold: asyncio.Event | None = None,
    ):
        self.script = list(script)
        self.requests: list[ModelRequest] = []
        self.window = window
        self.hold = hold
        """When set, each answer waits for it after its first piece of text."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        if not self.script:
            raise AssertionError("the script is over, yet another request came")
        step = self.script.pop(0)
        if callable(step) and not isinstance(step, (Answer, Exception)):
            step = step(request)
        if isinstance(step, Exception):
            raise step
        text = step.message.text
        if text:
            yield TextDelta(text[:1])
        if self.hold is not None:
            await self.hold.wait()
        await asyncio.sleep(0)
        if text[1:]:
            yield TextDelta(text[1:])
        for use in step.message.tool_uses:
            yield CallDelta(use.id, use.name, 2)
        yield Answer(
            step.message,
            step.usage or self.bill(request, step),
            step.stop,
            step.stop_text,
            request.model,
        )

    def bill(self, request: ModelRequest, answer: Answer) -> Usage:
        prompt = (
            estimate_text(request.system)
            + estimate_json([[t.name, t.description, dict(t.input_schema)] for t in request.tools])
            + sum(map(estimate_message, request.messages))
        )
        return Usage(input=round(prompt), output=round(estimate_message(answer.message)))

    async def warm_up(self) -> None:
        pass

    async def models(self) -> tuple[ModelInfo, ...]:
        return (ModelInfo("scripted", "Scripted", self.window, 8_000),)

    async def info(self, model: str) -> ModelInfo | None:
        return ModelInfo(model, "Scripted", self.window, 8_000)

    def price(self, model: str) -> Price | None:
        return None

    async def close(self) -> None:
        return None
