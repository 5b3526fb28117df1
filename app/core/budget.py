"""The budget: what the next request would be billed as input, from the last usage and what changed since.

`Meter` is the running state; `Budget` is what the gauge draws and what layer 2 compares with its threshold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

FACTOR_RANGE = (0.4, 3.0)
"""Bounds of the session's factor between our estimate and the model's own tokens."""
DISTRUSTED_SHARE = 0.5
"""A measured figure under this share of the estimate is not believed: some servers report only what was not cached."""

ESTIMATE_MARGIN = 0.25
"""By this share what is estimated may be too low: a large result of an unusual kind, before its first usage."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that one request was billed, as the endpoint reported them."""

    input: int = 0
    """Without cached ones."""
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0

    @property
    def prompt(self) -> int:
        """All input tokens, cached or not."""
        return self.input + self.cache_read + self.cache_write

    @property
    def total(self) -> int:
        """Input and output: what the next request carries at least."""
        return self.prompt + self.output

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.output + other.output,
        )


class Zone(StrEnum):
    """How full the budget is, for gauge and notices."""

    CALM = "calm"
    WARM = "warm"
    """Above half of the threshold."""
    NEAR = "near"
    """Above 85 % of the threshold: layer 2 is close."""
    OVER = "over"
    """The next request compacts first."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The next request by part, in tokens; they add up to ``Budget.used``."""

    floor: int = 0
    """System prompt, tools and project instructions."""
    summary: int = 0
    words: int = 0
    """What the user wrote."""
    conversation: int = 0
    """The model's own messages and notes."""
    results: int = 0
    """Tool results."""

    @property
    def total(self) -> int:
        """All parts."""
        return self.floor + self.summary + self.words + self.conversation + self.results


@dataclass(frozen=True, slots=True)
class Budget:
    """What the next request would be billed as input, and against what."""

    used: int
    """Tokens of the next request."""
    measured: bool
    """Whether the figure is the endpoint's own, without an estimate in it; else it is shown with ``~``."""
    threshold: int
    """Tokens above which layer 2 compacts before the next request."""
    window: int
    """Tokens the model accepts."""
    window_source: str
    """Where the window's size comes from: "endpoint", "settings", "table", "learned", "assumed"."""
    parts: Parts = Parts()
    cached: int = 0
    """Input tokens that the last request read from the cache."""
    prompt: int = 0
    """Input tokens of the last request, cached or not; 0 before the first answer."""
    cost: float | None = 0.0
    """US dollars of the session so far; None when the price is unknown."""
    auto: bool = True
    """Whether layer 2 is switched on."""
    factor: float = 1.0
    """The model's tokens per estimated token: what streams is counted with it."""
    estimated: int = 0
    """Tokens of ``used`` that are estimated: all of them before the first usage of the view in force."""

    @property
    def zone(self) -> Zone:
        """How full it is, against the threshold (against the window when layer 2 is off)."""
        limit = self.threshold if self.auto else self.window
        margin = ESTIMATE_MARGIN * self.estimated if self.auto and self.estimated < self.used else 0
        if limit <= 0 or self.used + round(margin) > limit:
            return Zone.OVER
        share = self.used / limit
        return Zone.NEAR if share > 0.85 else Zone.WARM if share > 0.5 else Zone.CALM

    @property
    def cached_share(self) -> float:
        """Share of the last request's input that was read from the cache, 0 to 1."""
        return self.cached / self.prompt if self.prompt else 0.0

    @property
    def room(self) -> int:
        """Tokens until layer 2; never negative."""
        return max(0, self.threshold - self.used)


@dataclass(frozen=True, slots=True)
class Meter:
    """The running state behind the budget. All raw figures are estimates before ``factor``."""

    floor: float = 0.0
    """Raw estimate of system prompt and tools."""
    factor: float = 1.0
    """The model's tokens per estimated token, learned from usage."""
    answers: int = 0
    """Usages believed so far."""
    billed: int | None = None
    """Total of the last believed usage, or None before it and after a compaction."""
    billed_raw: float = 0.0
    """Raw estimate of the conversation that ``billed`` stands for."""
    last: Usage = Usage()
    """The last usage of a turn's request."""

    @property
    def floor_tokens(self) -> int:
        """Tokens of system prompt and tools, which no compaction can shrink."""
        return round(self.floor * self.factor)

    def used(self, raw: float) -> int:
        """Return the tokens of the next request, whose conversation has the raw estimate ``raw``."""
        if self.billed is None:
            return max(1, round((self.floor + raw) * self.factor))
        return max(1, round(self.billed + (raw - self.billed_raw) * self.factor))

    def reach(self, raw: float) -> int:
        """Return the most that the next request is likely to be billed: with a margin on what came since a usage."""
        if self.billed is None:
            return self.used(raw)
        return self.used(raw) + round(ESTIMATE_MARGIN * self.estimated(raw))

    def estimated(self, raw: float) -> int:
        """Return how many of the next request's tokens the endpoint has not counted itself."""
        if self.billed is None:
            return self.used(raw)
        return max(0, self.used(raw) - self.billed)

    def trusts(self, counted: int, sent: float) -> bool:
        """Whether the endpoint's count of a request's input can be believed, whose raw estimate is ``sent``."""
        # A factor above 1 may come from what the endpoint adds to a short prompt: it is no reason for distrust.
        return counted >= DISTRUSTED_SHARE * (self.floor + sent) * min(1.0, self.factor)

    def is_measured(self, raw: float) -> bool:
        """Whether nothing was added or removed since the last usage."""
        return self.billed is not None and abs(raw - self.billed_raw) < 0.5

    def measure(self, usage: Usage, *, sent: float, now: float) -> Meter:
        """Return the meter after an answer.

        Args:
            usage: What the endpoint billed.
            sent: Raw estimate of the conversation that the request carried.
            now: Raw estimate of the conversation with the answer in it.
        """
        if not self.trusts(usage.prompt, sent):
            return replace(self, last=usage, billed=None)
        low, high = FACTOR_RANGE
        factor = usage.prompt / max(1.0, self.floor + sent)
        return replace(
            self,
            factor=min(high, max(low, factor)),
            answers=self.answers + 1,
            billed=usage.total,
            billed_raw=now,
            last=usage,
        )

    def restart(self) -> Meter:
        """Return the meter after the view was replaced: the old usage stands for nothing any more."""
        return replace(self, billed=None, billed_raw=0.0)

    def parts(
        self, used: int, *, summary: float, words: float, other: float, results: float
    ) -> Parts:
        """Return ``used`` split in proportion to the raw estimates."""
        total = self.floor + summary + words + other + results
        scale = used / total if total > 0 else 0.0
        whole = [round(x * scale) for x in (self.floor, summary, words, results)]
        return Parts(
            floor=whole[0],
            summary=whole[1],
            words=whole[2],
            results=whole[3],
            conversation=max(0, used - sum(whole)),
        )
