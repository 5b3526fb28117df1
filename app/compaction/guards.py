"""When a compaction must not run, and when its frequency is worth a word to the user."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from app.core.conversation import Conversation
from app.core.reports import CompactionReport, Layer, Outcome
from app.core.tokens import estimate_text

POOR_RUNS = 2
"""Runs in a row without progress after which layer 2 waits for the user."""
MANY_RUNS, MANY_WITHIN = 3, 20
"""So many compactions within so many requests are worth a notice."""


@dataclass(frozen=True, slots=True)
class Guards:
    """What the past compactions of a session say about the next."""

    poor: int = 0
    """Runs in a row that saved too little, failed or were refused."""
    runs: tuple[int, ...] = ()
    """Requests before which the last compactions of layer 2 were applied."""
    noticed: int | None = None
    """The request before which the user was last told of their number."""
    due: bool = False
    """Whether the last run makes a notice due."""

    def refusal(
        self,
        conversation: Conversation,
        *,
        used: int,
        floor_tokens: int,
        threshold: int,
        manual: bool,
    ) -> str | None:
        """Return why a compaction must not run now, None when it may.

        Args:
            conversation: What would be compacted.
            used: Tokens of the next request.
            floor_tokens: Tokens of system prompt and tools.
            threshold: Tokens above which layer 2 runs.
            manual: Whether the user or the model asked for it.
        """
        if not _anything_new(conversation):
            if conversation.base:
                return "nothing new since the last compaction"
            return "there is nothing to compact yet"
        if floor_tokens >= threshold:
            return (
                f"system prompt and tools alone take {floor_tokens:,} tokens, the threshold is {threshold:,}: "
                "compaction cannot get below it; raise `threshold`"
            )
        if not manual and self.poor >= POOR_RUNS:
            return (
                f"the last {self.poor} compactions brought nearly nothing ({used:,} tokens are in use); "
                "layer 2 waits for your next message"
            )
        return None

    def after(
        self, report: CompactionReport, request_number: int, *, min_gain: float = 0.2
    ) -> Guards:
        """Return the guards after a run of layer 2 or 3.

        Args:
            report: Its report.
            request_number: Requests of the session so far.
            min_gain: Fraction of the tokens that a run must save to count as progress.
        """
        if report.layer not in (Layer.AUTO, Layer.MANUAL):
            return self
        if report.outcome is not Outcome.APPLIED:
            poor = self.poor + (report.layer is Layer.AUTO)
            return replace(self, poor=poor, due=False)
        poor = self.poor + 1 if report.saved < min_gain * report.before else 0
        if report.layer is Layer.MANUAL:  # asked for: how often is known to who asked
            return replace(self, poor=poor, due=False)
        recent = (n for n in self.runs if n > request_number - MANY_WITHIN)
        runs = (*recent, request_number)
        told = self.noticed is not None and self.noticed > request_number - MANY_WITHIN
        due = len(runs) >= MANY_RUNS and not told
        return Guards(poor, runs, request_number if due else self.noticed, due)

    def spoken(self) -> Guards:
        """Return the guards after the user spoke: layer 2 may try again."""
        return replace(self, poor=0)

    def notice(self, conversation: Conversation) -> str | None:
        """Return what to tell the user after the last run, None when there is nothing to tell.

        Args:
            conversation: The conversation before that run.
        """
        if not self.due:
            return None
        source, share = largest_source(conversation)
        return (
            f"{MANY_RUNS} compactions within {MANY_WITHIN} requests. The largest source is {source} "
            f"({share:.0%}); {_advice(source)}"
        )


def largest_source(conversation: Conversation) -> tuple[str, float]:
    """Return what takes most of the view ("bash output", "your messages", …) and its share, 0 to 1."""
    sizes = conversation.sizes
    by_source: Counter[str] = Counter()
    for ref in conversation.live:
        by_source[f"{ref.tool} output"] += round(ref.tokens)
    by_source["cleared results"] += round(sum(map(estimate_text, conversation.stubs.values())))
    by_source["your messages"] += round(sizes.words)
    by_source["the assistant's own text"] += round(sizes.other)
    by_source["the summary"] += round(sizes.summary)
    source, tokens = max(by_source.items(), key=lambda item: (item[1], item[0]))
    return source, min(1.0, tokens / max(1.0, sizes.total))


def _advice(source: str) -> str:
    if source == "read_file output":
        return "lower `preserve_budget` or raise `threshold`"
    if source.endswith(" output"):
        return "lower `keep_recent` or raise `threshold`"
    return "raise `threshold`"


def _anything_new(conversation: Conversation) -> bool:
    """Whether any message is younger than the facts of the compaction in force."""
    if not conversation.entries:
        return False
    through = conversation.facts.get("through")
    return not isinstance(through, int) or conversation.entries[-1].number > through
