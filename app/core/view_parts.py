"""Parts of the view: each tool result with its call, and estimated tokens by part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.core.effects import Effects
from app.core.history import Entry
from app.core.messages import JsonObject, Thinking, ToolResult, ToolUse, ended
from app.core.tokens import estimate_block, estimate_message, estimate_result

NO_EFFECTS = Effects()


@dataclass(frozen=True, slots=True)
class ResultRef:
    """A tool result of the view, with the call that asked for it."""

    number: int
    entry: str
    """Id of the message it stands in."""
    block: int
    """Its position in that message's content."""
    tool_use_id: str
    tool: str
    """Name of the tool; "unknown" when the call is not known."""
    input: JsonObject
    effects: Effects
    tokens: float
    """Estimated tokens of the original content, before the session's factor."""
    chars: int
    """Characters of its text."""
    is_error: bool

    @property
    def id(self) -> str:
        """``r<N>``."""
        return f"r{self.number}"


@dataclass(frozen=True, slots=True)
class Sizes:
    """Estimated tokens of the view by part, before the session's factor."""

    summary: float = 0.0
    words: float = 0.0
    """What the user wrote."""
    results: float = 0.0
    """Tool results, cleared ones at the size of their stubs."""
    other: float = 0.0
    """The model's own messages and notes."""

    @property
    def total(self) -> float:
        """All parts together."""
        return self.summary + self.words + self.results + self.other

    def __add__(self, other: Sizes) -> Sizes:
        return Sizes(
            self.summary + other.summary,
            self.words + other.words,
            self.results + other.results,
            self.other + other.other,
        )


def refs_of(entry: Entry, calls: Mapping[str, ToolUse]) -> tuple[ResultRef, ...]:
    """Return the tool results of a message, given the calls of the answer before it."""
    if not entry.first_result:
        return ()
    refs: list[ResultRef] = []
    for at, block in enumerate(entry.message.content):
        if not isinstance(block, ToolResult):
            continue
        call = calls.get(block.tool_use_id)
        refs.append(
            ResultRef(
                number=entry.first_result + len(refs),
                entry=entry.id,
                block=at,
                tool_use_id=block.tool_use_id,
                tool=call.name if call else "unknown",
                input=call.input if call else {},
                effects=entry.effects.get(block.tool_use_id, NO_EFFECTS),
                tokens=estimate_result(block),
                chars=len(block.text),
                is_error=block.is_error,
            )
        )
    return tuple(refs)


def sizes_of(entry: Entry, refs: tuple[ResultRef, ...]) -> Sizes:
    """Return the estimated tokens of a message as it is sent, by part."""
    results = sum(ref.tokens for ref in refs)
    words = sum(estimate_block(entry.message.content[i]) for i in entry.spoken)
    other = estimate_message(ended(entry.message)) - results - words
    return Sizes(words=words, results=results, other=other)


def thinking_tokens(entry: Entry) -> float:
    """Return the estimated tokens of the thinking that a message is sent with."""
    content = ended(entry.message).content
    return sum(estimate_block(block) for block in content if isinstance(block, Thinking))
