"""What the next request holds, explained: one row a part, and what would free it. Pure text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.budget import Budget, Usage
from app.core.reports import CompactionReport, Layer, Outcome
from app.ui.format import cost, percent, plural, tokens
from app.ui.gauge_line import PARTS, Piece, bar_pieces

FREES = {
    "floor": "fixed: instructions and tools are sent with each request",
    "summary": "/compact redo makes it anew",
    "words": "kept verbatim; /clear begins a new session",
    "conversation": "/compact",
    "results": "c in the log clears old ones now; /compact",
}
WINDOW_SOURCES = {
    "endpoint": "the endpoint says so",
    "settings": "from your settings",
    "table": "known for this model",
    "learned": "learned from a refused request",
    "assumed": "assumed: nothing is known of this model; set context_window",
}


@dataclass(frozen=True, slots=True)
class Explained:
    """Everything the screen shows, as lines of pieces."""

    lines: tuple[tuple[Piece, ...], ...]


def explain(
    budget: Budget,
    *,
    usage: Usage,
    reports: Sequence[CompactionReport],
    contexts: Sequence[int],
    width: int,
) -> Explained:
    """Return the panel for one budget.

    Args:
        budget: What the gauge shows.
        usage: Billed in the session.
        reports: All runs of the layers, oldest first.
        contexts: Tokens of each request, oldest first.
        width: Cells of a line.
    """
    lines: list[tuple[Piece, ...]] = [bar_pieces(budget, max(20, min(width, 100))), (("", ""),)]
    total = max(1, budget.parts.total)
    for part in PARTS:
        held = getattr(budget.parts, part.name)
        lines.append(
            (
                (f" {part.glyph} ", part.style),
                (f"{part.label:9}", "bold"),
                (f"{tokens(held):>9}  {percent(held / total):>4}  ", ""),
                (f"{part.what} · {FREES[part.name]}" if width > 100 else part.what, "$text-muted"),
            )
        )
    lines.append((("", ""),))
    lines += [
        (("", ""), (f"{name:13}", "$text-muted"), (text, ""))
        for name, text in _facts(budget, usage, reports, contexts)
    ]
    return Explained(tuple(lines))


def _facts(
    budget: Budget, usage: Usage, reports: Sequence[CompactionReport], contexts: Sequence[int]
) -> list[tuple[str, str]]:
    sure = (
        "as the endpoint measured it"
        if budget.measured
        else "with an estimate in it (~), until the next answer"
    )
    facts = [("next request", f"{tokens(budget.used)} tokens, {sure}")]
    if budget.auto:
        share = percent(budget.used / max(1, budget.threshold))
        facts.append(
            ("threshold", f"{tokens(budget.threshold)}: layer 2 runs above it; {share} used")
        )
        facts.append(("room", _room(budget, contexts)))
    else:
        facts.append(("threshold", "layer 2 is off"))
    source = WINDOW_SOURCES.get(budget.window_source, budget.window_source)
    facts.append(("window", f"{tokens(budget.window)} ({source})"))
    if budget.prompt:
        facts.append(
            (
                "cache",
                f"{percent(budget.cached_share)} of the last request was read from the cache "
                f"({tokens(budget.cached)} tokens)",
            )
        )
    facts.append(
        ("session", f"{tokens(usage.prompt)} in, {tokens(usage.output)} out, {cost(budget.cost)}")
    )
    facts += _layers(reports)
    return facts


def _room(budget: Budget, contexts: Sequence[int]) -> str:
    grown = [b - a for a, b in zip(contexts[-9:], contexts[-8:], strict=False) if b > a]
    if not grown:
        return f"{tokens(budget.room)} tokens"
    step = max(1, sum(grown) // len(grown))
    left = budget.room // step
    return f"{tokens(budget.room)} tokens: about {plural(left, 'request')} at {tokens(step)} each"


def _layers(reports: Sequence[CompactionReport]) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for layer, name in (
        (Layer.MICRO, "layer 1"),
        (Layer.AUTO, "layer 2"),
        (Layer.MANUAL, "layer 3"),
    ):
        ran = [r for r in reports if r.layer is layer and r.outcome is Outcome.APPLIED]
        if not ran:
            rows.append((name, "has not run yet"))
            continue
        saved = sum(report.saved for report in ran)
        spent = sum(report.cost or 0.0 for report in ran)
        paid = f", cost {cost(spent)}" if spent else ""
        rows.append((name, f"ran {plural(len(ran), 'time')}, {tokens(saved)} tokens saved{paid}"))
    return rows
