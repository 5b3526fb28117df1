"""What a compaction starts from and what it ends with."""

from __future__ import annotations

from dataclasses import dataclass

from app.core.arriving import Charge
from app.core.budget import Meter
from app.core.conversation import Conversation
from app.core.events import TodoItem
from app.core.policy import CompactionPolicy
from app.core.ports import CommitDraft
from app.core.reports import CompactionReport
from app.core.requests import ModelRequest


@dataclass(frozen=True, slots=True)
class Situation:
    """The state of a session at the moment of a compaction."""

    conversation: Conversation
    request: ModelRequest
    """Model, system, tools and max_tokens of the last request; its messages are not used."""
    meter: Meter
    policy: CompactionPolicy
    threshold: int
    """Tokens above which layer 2 runs, in the model's tokens."""
    window: int
    """Tokens the model accepts."""
    todo: tuple[TodoItem, ...] = ()
    transcript: str = ""
    """Path of the transcript that holds what is replaced, as the model will read it."""
    max_output: int | None = None
    """The model's own limit for an answer, where known."""
    refused: bool = False
    """Whether the endpoint refused the conversation for its size."""

    @property
    def before(self) -> int:
        """Tokens of the next request as things stand."""
        return self.meter.used(self.conversation.sizes.total)

    def raw(self, tokens: float) -> float:
        """Return so many of the model's tokens as raw ones."""
        return tokens / self.meter.factor


@dataclass(frozen=True, slots=True)
class Compaction:
    """How a compaction ended."""

    report: CompactionReport
    draft: CommitDraft | None = None
    """What to commit; None when the conversation stays as it is."""
    charges: tuple[Charge, ...] = ()
    """What the summary calls were billed; never the budget's."""
    window: int | None = None
    """The window that an overflow error of a summary call told, if one did."""
