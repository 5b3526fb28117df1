"""The session's account as people read it: what it took, what compactions cost, what sending everything would have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from app.core.budget import Budget, Usage
from app.core.reports import CompactionReport, Outcome
from app.core.savings import Savings
from app.ui.format import clock, cost, percent, plural, tokens
from app.ui.layer_names import NAMES, SUMMARISING
from app.ui.report_text import taken_back_at

if TYPE_CHECKING:
    from app.agent.session import Session

GROWTH_TURNS = 5
"""Turns, the newest, from which the growth of the context is taken."""


@dataclass(frozen=True, slots=True)
class Account:
    """What the panel, /cost and /status say, as values."""

    budget: Budget
    usage: Usage
    requests: int
    """All that were answered, summary calls included."""
    contexts: Sequence[int]
    """Billed input of each of the agent's requests, oldest first."""
    turn_starts: Sequence[int]
    """For each time the user spoke, how many of the agent's requests were answered before."""
    reports: Sequence[CompactionReport]
    savings: Savings


def account_of(session: Session) -> Account:
    """Return a session's account as it stands."""
    return Account(
        session.budget,
        session.usage,
        session.requests,
        session.contexts,
        session.turn_starts,
        session.reports,
        session.savings,
    )


def cost_text(account: Account) -> str:
    """Return what /cost says."""
    compactions = compaction_lines(account.reports)
    lines = [session_line(account), *compactions, saved_line(account.savings)]
    return "\n".join(lines)


def session_line(account: Account) -> str:
    """Return what the session took in one sentence."""
    usage, budget = account.usage, account.budget
    read = percent(usage.cache_read / usage.prompt) if usage.prompt else "0%"
    return (
        f"{cost(budget.cost)} in {plural(account.requests, 'request')}: {tokens(usage.prompt)} tokens in "
        f"({read} from the cache), {tokens(usage.output)} out."
    )


def compaction_lines(reports: Sequence[CompactionReport]) -> list[str]:
    """Return the sum of what compactions cost, and a line for each."""
    ran = [r for r in reports if r.layer in SUMMARISING and r.outcome is not Outcome.UNDONE]
    paid = [r for r in ran if r.outcome is Outcome.APPLIED or r.cost]
    if not paid:
        return ["No compaction was paid for yet."]
    known = [r.cost for r in paid if r.cost is not None]
    total = sum(known) if len(known) == len(paid) else None
    return [
        f"{plural(len(paid), 'compaction')} took {cost(total)} of it:",
        *(_compaction(r, taken_back=taken_back_at(r, reports) is not None) for r in paid),
    ]


def _compaction(report: CompactionReport, *, taken_back: bool) -> str:
    change = f"{tokens(report.before)} → {tokens(report.after)} tokens"
    if report.outcome is not Outcome.APPLIED:
        change = f"{report.outcome}, nothing changed"
    undone = ", taken back" if taken_back else ""
    time = clock(report.time) or "     "
    return f"  {time}  {NAMES[report.layer].title:8}  {cost(report.cost):>7}  {change}{undone}"


def saved_line(savings: Savings) -> str:
    """Return what was saved against sending everything, and how that is reckoned."""
    if savings.tokens == savings.whole == 0:
        return "Nothing was sent yet."
    size = f"{tokens(savings.whole)} tokens in"
    if savings.dollars is None or not savings.whole_cost:
        verb = "fewer" if savings.tokens >= 0 else "more"
        change = f"{tokens(abs(savings.tokens))} {verb} were sent"
        return f"Sending everything would have been about {size}: {change}.{_beyond(savings)}"
    whole = savings.whole_cost
    less = savings.dollars >= 0
    share = percent(abs(savings.dollars) / whole)
    change = f"about {cost(abs(savings.dollars))} ({share}) {'saved' if less else 'more so far'}"
    return (
        f"Sending everything would have cost about {cost(whole)} for {size}: {change}. It is reckoned from the same "
        "requests with all that was removed still in them, read from the cache where yours were, and without the "
        f"summaries.{_beyond(savings)}"
    )


def _beyond(savings: Savings) -> str:
    if not savings.beyond:
        return ""
    return f" From request {savings.beyond:,} on it would not have fitted the window."


def until_line(account: Account) -> str:
    """Return how far layer 2 is: in tokens, and at the newest turns' growth in requests and turns."""
    room = account.budget.room
    step = growth(account)
    if not room or not step:
        return f"{tokens(room)} tokens"
    requests = room // step
    turns = len(account.turn_starts)
    per_turn = max(1.0, len(account.contexts) / turns) if turns else 1.0
    also = f", {plural(max(1, round(requests / per_turn)), 'turn')}" if requests else ""
    return f"{tokens(room)} tokens: about {plural(requests, 'request')}{also}, at {tokens(step)} tokens a request"


def growth(account: Account) -> int:
    """Return by how many tokens a request grew in the newest turns; 0 while nobody can tell."""
    begin = account.turn_starts[-GROWTH_TURNS] if len(account.turn_starts) >= GROWTH_TURNS else 0
    newest = account.contexts[max(0, begin - 1) :]
    grown = [b - a for a, b in pairwise(newest) if b > a]
    return round(sum(grown) / len(grown)) if grown else 0
