"""What the next request holds, explained: one row a part, what would free it, and what the session took. Pure text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.budget import Budget
from app.core.reports import CompactionReport, Outcome
from app.ui.account_text import Account, compaction_lines, saved_line, session_line, until_line
from app.ui.format import hanging, percent, plural, tokens
from app.ui.gauge_line import PARTS, ZONES, Piece, bar_pieces, zone_name
from app.ui.layer_names import NAMES

FREES = {
    "floor": "fixed: sent with each request",
    "summary": "/compact again makes it anew",
    "words": "kept verbatim",
    "conversation": "/compact",
    "results": "c in the log clears old ones now",
}
WINDOW_SOURCES = {
    "endpoint": "the endpoint says so",
    "settings": "from your settings",
    "table": "known for this model",
    "learned": "learned from a refused request",
    "assumed": "assumed: nothing is known of this model; set context_window",
}
NAME = 14
"""Cells of the column with names."""


@dataclass(frozen=True, slots=True)
class Explained:
    """Everything the screen shows, as lines of pieces."""

    lines: tuple[tuple[Piece, ...], ...]


def explain(account: Account, width: int) -> Explained:
    """Return the panel for a session's account in lines of ``width`` cells."""
    budget = account.budget
    lines: list[tuple[Piece, ...]] = [bar_pieces(budget, max(20, min(width, 100))), (("", ""),)]
    total = max(1, budget.parts.total)
    for part in PARTS:
        held = getattr(budget.parts, part.name)
        figures = f"{tokens(held):>9}  {percent(held / total):>4}  "
        what = f"{part.what} · {FREES[part.name]}" if width > 84 else part.what
        lines.append(
            (
                (f" {part.glyph} ", part.style),
                (f"{part.label:{NAME - 3}}", "bold"),
                (figures, ""),
                (what[: max(0, width - NAME - len(figures))], "$text-muted"),
            )
        )
    lines.append((("", ""),))
    for name, text in _facts(account):
        for column, line in hanging(name, text, indent=NAME, width=width):
            lines.append(((column, "$text-muted"), (line, "")))
    return Explained(tuple(lines))


def _facts(account: Account) -> list[tuple[str, str]]:
    budget = account.budget
    zone = f"{ZONES[budget.zone][0]} {zone_name(budget)}"
    facts = [("state", zone), ("next request", _next(budget))]
    if budget.auto:
        share = percent(budget.used / max(1, budget.threshold))
        facts.append(("threshold", f"{tokens(budget.threshold)} tokens, {share} of it used"))
        facts.append(("layer 2 in", until_line(account)))
    else:
        facts.append(("threshold", "layer 2 is off"))
    source = WINDOW_SOURCES.get(budget.window_source, budget.window_source)
    facts.append(("window", f"{tokens(budget.window)} tokens ({source})"))
    if budget.prompt:
        facts.append(
            (
                "cache",
                f"{percent(budget.cached_share)} of the last request was read from the cache "
                f"({tokens(budget.cached)} of {tokens(budget.prompt)} tokens)",
            )
        )
    facts += [
        ("session", session_line(account)),
        ("compactions", "\n".join(compaction_lines(account.reports))),
        ("saved", saved_line(account.savings)),
    ]
    return facts + _layers(account.reports)


def _next(budget: Budget) -> str:
    """Return the size of the next request and how sure it is."""
    if not budget.estimated:
        return f"{tokens(budget.used)} tokens, as the endpoint counts"
    if budget.estimated >= budget.used:
        return f"~{tokens(budget.used)} tokens, all estimated until the endpoint counts the next request"
    counted = tokens(budget.used - budget.estimated)
    return f"~{tokens(budget.used)} tokens: {counted} as the endpoint counted, {tokens(budget.estimated)} estimated"


def _layers(reports: Sequence[CompactionReport]) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for layer, name in NAMES.items():
        mine = [r for r in reports if r.layer is layer]
        ran = [r for r in mine if r.outcome is Outcome.APPLIED]
        saved = sum(report.saved for report in ran)
        said = f"{plural(len(ran), 'run')}, {tokens(saved)} tokens less" if ran else "has not run"
        others = [
            f"{sum(r.outcome is outcome for r in mine)} {outcome}"
            for outcome in (Outcome.HELD, Outcome.REFUSED, Outcome.FAILED, Outcome.UNDONE)
            if any(r.outcome is outcome for r in mine)
        ]
        rows.append((name.title, ", ".join([said, *others])))
    return rows
