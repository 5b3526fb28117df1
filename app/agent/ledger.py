"""The session's account: what was billed, how large each request was, and how much the layers had taken out."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass, field

from app.core.budget import Usage
from app.core.prices import Price
from app.core.requests import Purpose
from app.core.savings import Account, Bill


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the program that worked on the session."""

    time: str
    """When it began its work, UTC, ISO 8601."""
    requests: int
    """The agent's requests that were answered before it."""


@dataclass(slots=True)
class Ledger:
    """Kept in the order of the record, so that a resumed session has the same account."""

    account: Account = field(default_factory=Account)
    contexts: array[int] = field(default_factory=lambda: array("Q"))
    """Billed input of each of the agent's requests, oldest first."""
    turns: array[int] = field(default_factory=lambda: array("Q"))
    """For each time the user spoke, how many of the agent's requests were answered before."""
    runs: list[Run] = field(default_factory=list)
    """Oldest first."""
    _seqs: list[int] = field(default_factory=list)
    _removed: list[int] = field(default_factory=list)
    """Tokens taken out of the view from each of these items of the record on."""

    @property
    def removed(self) -> int:
        """Tokens that the layers have taken out of the view, less what came back."""
        return self._removed[-1] if self._removed else 0

    def bill(
        self, usage: Usage, purpose: Purpose, model: str, cost: float | None, price: Price | None
    ) -> None:
        """Add an answered request.

        Args:
            usage: What was billed.
            purpose: What it was for.
            model: Who answered.
            cost: US dollars billed; None when the price was unknown.
            price: Price of the model, to reckon what the whole request would have cost.
        """
        self.account.add(Bill(purpose, model, usage, cost, self.removed), price)
        if purpose is Purpose.TURN:
            self.contexts.append(usage.prompt)

    def spoken(self) -> None:
        """Note that the user spoke."""
        self.turns.append(len(self.contexts))

    def begin_run(self, time: str) -> None:
        """Note that another run of the program goes on from here."""
        self.runs.append(Run(time, len(self.contexts)))

    def took(self, seq: int, tokens: int) -> None:
        """Note that a layer took tokens out of the view, or brought some back when negative."""
        self._seqs.append(seq)
        self._removed.append(self.removed + tokens)

    def went_back(self, seq: int, before: int) -> None:
        """Note that the view is again as it was just before an item of the record."""
        at = bisect_left(self._seqs, before)
        self._seqs.append(seq)
        self._removed.append(self._removed[at - 1] if at else 0)
