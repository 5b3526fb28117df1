"""The report of one run of a layer: the event, the line in the record and the row on the screen are this value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Layer(StrEnum):
    """The layer of compaction."""

    ENTRY = "entry"
    """Layer 0: a result was shortened as it came in."""
    MICRO = "micro"
    AUTO = "auto"
    MANUAL = "manual"


class Outcome(StrEnum):
    """How a run of a layer ended."""

    APPLIED = "applied"
    HELD = "held"
    """Layer 1 could clear something but it would cost more than it saves now."""
    REFUSED = "refused"
    FAILED = "failed"
    UNDONE = "undone"


DIGEST = "digest"
"""The method of a compaction for which no summary could be had: facts and words, put together by code."""
EDITED = "edited"
"""The method of a compaction whose summary the user edited."""
REDONE = "redone"
"""The method of a compaction that was taken back and put in force again, with the summary it had."""


@dataclass(frozen=True, slots=True)
class CompactionReport:
    """What one run of a layer did, cost and saved. Token figures before and after are the same measure."""

    layer: Layer
    outcome: Outcome
    reason: str
    """Why it ran, or why it was held, refused or failed; one sentence for a person."""
    before: int
    """Tokens of the next request before it."""
    after: int
    results: tuple[str, ...] = ()
    """Ids of the results it cleared, shortened or would clear."""
    messages: int = 0
    """Messages replaced."""
    kept: int = 0
    """Messages kept verbatim."""
    summary: str = ""
    """The new head in full, as the model will see it; "" for layers 0 and 1."""
    focus: str = ""
    cost: float | None = None
    """US dollars of the summary call, or None when the price is unknown."""
    seconds: float = 0.0
    transcript: str = ""
    """Path of the transcript that holds what was replaced, relative to the folder."""
    commit: int = 0
    """Number of the compaction in the record; 0 when nothing was committed."""
    time: str = ""
    method: str = ""
    """How the summary came about: "summary", "retry", "stubs", "half", "digest", "edited", "redone"."""
    requests: int = 0
    """The agent's requests that were answered before it: where it stands among them."""

    @property
    def saved(self) -> int:
        """Tokens that the next request no longer carries."""
        return self.before - self.after

    @property
    def headline(self) -> str:
        """The row's text. Its beginning is a contract with scripts."""
        match self.layer, self.outcome:
            case Layer.MICRO, Outcome.APPLIED:
                return f"[micro_compact] {self.before} -> {self.after} tokens"
            case Layer.AUTO, Outcome.APPLIED:
                return f"[auto_compact triggered] {self.before} -> {self.after} tokens"
            case Layer.MANUAL, Outcome.APPLIED:
                return f"[manual compact] {self.before} -> {self.after} tokens"
            case Layer.MICRO, Outcome.HELD:
                return f"[micro_compact] {self.reason}"
            case Layer.ENTRY, _:
                return f"[shortened on entry] {self.before} -> {self.after} tokens"
            case layer, Outcome.UNDONE:
                return f"[undo {layer.value}] {self.before} -> {self.after} tokens"
            case layer, outcome:
                return f"[{layer.value} {outcome.value}] {self.reason}"

    @property
    def lines(self) -> tuple[str, ...]:
        """The headline and, when the history was replaced, the line that says where it is saved."""
        if self.transcript and self.outcome is Outcome.APPLIED and self.commit:
            return self.headline, f"[transcript saved: {self.transcript}]"
        return (self.headline,)
