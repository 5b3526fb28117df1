"""What is asked of a model and what comes back, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.core.budget import Usage
from app.core.messages import JsonObject, Message


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it."""

    name: str
    description: str
    input_schema: JsonObject


@dataclass(frozen=True, slots=True)
class CachePoint:
    """A cache breakpoint at the end of a block: everything up to it may be read from the cache next time."""

    message: int
    block: int


class Purpose(StrEnum):
    """What a request is for."""

    TURN = "turn"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request. The same value always gives the same bytes."""

    model: str
    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    max_tokens: int
    cache_points: tuple[CachePoint, ...] = ()
    """At most three; the one after system and tools is always set by the adapter."""
    purpose: Purpose = Purpose.TURN
    no_tools: bool = False
    """Ask for ``tool_choice: none``."""


class StopReason(StrEnum):
    """Why an answer ended."""

    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    STOP_SEQUENCE = "stop_sequence"
    TOOL_USE = "tool_use"
    PAUSE_TURN = "pause_turn"
    REFUSAL = "refusal"
    WINDOW_EXCEEDED = "model_context_window_exceeded"
    OTHER = "other"
    """Anything this program does not know; `Answer.stop_text` has the word."""


@dataclass(frozen=True, slots=True)
class InputCounted:
    """The answer begins, and the endpoint says how many tokens of input it counts; output is not meant."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """A piece of the answer's thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    """The answer is writing a tool call; ``chars`` of its input have come so far."""

    id: str
    name: str
    chars: int


@dataclass(frozen=True, slots=True)
class RetryWait:
    """The call failed and will be tried again; what was streamed before it is void."""

    attempt: int
    """The failed attempt, from 1."""
    attempts: int
    """How many there will be at most."""
    seconds: float
    """Pause before the next attempt."""
    reason: str


@dataclass(frozen=True, slots=True)
class FieldDropped:
    """The endpoint does not know a field of the request; it is left out from now on."""

    field: str


@dataclass(frozen=True, slots=True)
class PicturesLeftOut:
    """The endpoint refused pictures of the request; a line of text takes their place from now on."""

    count: int
    reason: str
    blind: bool
    """Whether the model takes no pictures at all; else only these are left out."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer: its final stop event has come. Always the last event of a stream."""

    message: Message
    usage: Usage | None
    """None when the endpoint reported none."""
    stop: StopReason
    stop_text: str = ""
    """The endpoint's own word for ``stop``, or the explanation of a refusal."""
    model: str = ""
    """The model that answered, as the endpoint names it."""


ModelEvent = (
    InputCounted
    | TextDelta
    | ThinkingDelta
    | CallDelta
    | RetryWait
    | FieldDropped
    | PicturesLeftOut
    | Answer
)


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is known of a model."""

    id: str
    name: str = ""
    window: int | None = None
    """Input tokens it accepts."""
    max_output: int | None = None
