"""Asking a model over the wire in a test: what it yielded, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.adapters.anthropic_model import AnthropicModel
from app.core.messages import user
from app.core.requests import (
    Answer,
    FieldDropped,
    ModelEvent,
    ModelRequest,
    RetryWait,
    TextDelta,
    ToolSpec,
)
from app.errors import ModelError

TOOL = ToolSpec(
    "read_file", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}}
)
REQUEST = ModelRequest("claude-opus-5-5", "Be brief.", (TOOL,), (user("hi"),), 1_000)


@dataclass
class Asked:
    """Everything one call gave."""

    events: list[ModelEvent] = field(default_factory=list)
    error: ModelError | None = None
    slept: list[float] = field(default_factory=list)

    @property
    def answer(self) -> Answer:
        if self.error is not None:
            raise self.error
        last = self.events[-1]
        assert isinstance(last, Answer)
        return last

    @property
    def text(self) -> str:
        """What a screen would show: the pieces since the last retry."""
        shown = ""
        for event in self.events:
            shown = "" if isinstance(event, RetryWait) else shown
            shown += event.text if isinstance(event, TextDelta) else ""
        return shown

    @property
    def waits(self) -> list[RetryWait]:
        return [event for event in self.events if isinstance(event, RetryWait)]

    @property
    def dropped(self) -> list[str]:
        return [event.field for event in self.events if isinstance(event, FieldDropped)]


async def ask(url: str, request: ModelRequest = REQUEST, **options: object) -> Asked:
    """Call the endpoint once; pauses between attempts are noted and not slept."""
    asked = Asked()

    async def sleep(seconds: float) -> None:
        asked.slept.append(seconds)

    settings: dict[str, object] = {
        "api_key": "sk-test-1",
        "sleep": sleep,
        "chance": lambda: 0.0,
        **options,
    }
    model = AnthropicModel(base_url=url, **settings)  # type: ignore[arg-type]
    try:
        async for event in model.stream(request):
            asked.events.append(event)
    except ModelError as error:
        asked.error = error
    finally:
        await model.close()
    return asked
