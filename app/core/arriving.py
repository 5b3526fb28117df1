"""What the endpoint bills of an answer, also of one that never came to its end."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from app.core.budget import Meter, Usage
from app.core.requests import (
    Answer,
    CallDelta,
    InputCounted,
    ModelEvent,
    TextDelta,
    ThinkingDelta,
)
from app.core.tokens import CODE_CHARS, estimate_message, estimate_text


@dataclass(frozen=True, slots=True)
class Charge:
    """One billed attempt of a request."""

    usage: Usage
    estimated: bool = False
    """Whether it is our own estimate, at least in part: nothing can be learned from it."""


@dataclass(slots=True)
class Arriving:
    """An answer on its way."""

    sent: float
    """Raw estimate of the messages that its request carries."""
    counted: Usage | None = None
    """What the endpoint said it counts as the request's input."""
    came: float = 0.0
    """Raw estimate of the text and thinking that has come."""
    calls: dict[str, int] = field(default_factory=dict)
    """Characters of the inputs of calls that have come, by id."""

    def take(self, event: ModelEvent) -> None:
        """Count what has come."""
        match event:
            case InputCounted(usage):
                self.counted = usage
            case TextDelta(text) | ThinkingDelta(text):
                self.came += estimate_text(text)
            case CallDelta(id_, _, chars):
                self.calls[id_] = chars
            case _:
                pass

    def cut(self, meter: Meter) -> Charge | None:
        """Return what an attempt costs that ended here, None when its answer had not begun; count the next one anew."""
        counted, came = self.counted, self.came + sum(self.calls.values()) / CODE_CHARS
        self.counted, self.came, self.calls = None, 0.0, {}
        if counted is None and not came:
            return None
        usage = counted or Usage(input=meter.used(self.sent))
        return Charge(replace(usage, output=round(came * meter.factor)), estimated=True)

    def whole(self, answer: Answer, meter: Meter) -> Charge:
        """Return what a whole answer costs; by an estimate where the endpoint does not say."""
        if answer.usage is not None:
            return Charge(answer.usage)
        output = round(estimate_message(answer.message) * meter.factor)
        return Charge(Usage(input=meter.used(self.sent), output=output), estimated=True)
