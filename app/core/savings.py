"""What the session would have cost if every request had carried everything: the same requests, nothing taken out."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass, field

from app.core.budget import Usage
from app.core.prices import Price
from app.core.requests import Purpose


@dataclass(frozen=True, slots=True)
class Bill:
    """One answered request and what it was billed."""

    purpose: Purpose
    model: str
    usage: Usage
    cost: float | None
    """US dollars; None when the price is unknown."""
    removed: int = 0
    """Tokens that the layers had taken out of what it would have carried, less what undo had brought back."""


@dataclass(frozen=True, slots=True)
class Savings:
    """What the layers saved. All of it is an estimate but what was billed."""

    sent: int
    """Input tokens of all requests, those for summaries included, as billed."""
    whole: int
    """Input tokens of the same requests with everything in them, and none for summaries."""
    cost: float | None
    """US dollars billed; None when a price is unknown."""
    whole_cost: float | None
    """US dollars that the whole requests would have cost, read from the cache where the real ones were."""
    beyond: int = 0
    """Number, from 1, of the first of the agent's requests that would not have fitted the window; 0 when all would."""

    @property
    def tokens(self) -> int:
        """Input tokens that were not sent; negative while the summaries took more."""
        return self.whole - self.sent

    @property
    def dollars(self) -> float | None:
        """US dollars saved; negative while the compactions cost more than they earned."""
        if self.cost is None or self.whole_cost is None:
            return None
        return self.whole_cost - self.cost


@dataclass(slots=True)
class Account:
    """All that was billed, and what the same requests would have cost whole; added up as they are answered.

    Requests for summaries would not have been made. What would have stood in a request and was in the one before it
    is taken as read from the cache, and the rest as written to it, unless the endpoint caches nothing or the cache was
    cold: another model, or no read although nothing had been taken out since the request before.
    """

    requests: int = 0
    usage: Usage = Usage()
    cost: float | None = 0.0
    """US dollars in all; None when a price is unknown."""
    _whole: int = 0
    _cached_cost: float | None = 0.0
    _uncached_cost: float | None = 0.0
    """What the whole requests would have cost at an endpoint that caches, and at one that does not."""
    _caches: bool = False
    _before: Bill | None = None
    _largest: array[int] = field(default_factory=lambda: array("Q"))
    """For each of the agent's requests the size of the largest whole one up to it."""

    def add(self, bill: Bill, price: Price | None) -> None:
        """Add an answered request, with the price of its model."""
        self.requests += 1
        self.usage += bill.usage
        self.cost = _sum(self.cost, bill.cost)
        self._caches = self._caches or bool(bill.usage.cache_read or bill.usage.cache_write)
        if bill.purpose is not Purpose.TURN:
            return
        size = bill.usage.prompt + bill.removed
        known = (
            0 if self._before is None or _is_cold(self._before, bill) else _carried(self._before)
        )
        read = min(size, known)
        cached = Usage(0, read, size - read, bill.usage.output)
        uncached = Usage(input=size, output=bill.usage.output)
        self._whole += size
        self._cached_cost = _sum(self._cached_cost, price.of(cached) if price else None)
        self._uncached_cost = _sum(self._uncached_cost, price.of(uncached) if price else None)
        self._largest.append(max(size, self._largest[-1] if self._largest else 0))
        self._before = bill

    def savings(self, window: int) -> Savings:
        """Return what the layers saved at a model that accepts so many tokens."""
        beyond = bisect_right(self._largest, window)
        return Savings(
            sent=self.usage.prompt,
            whole=self._whole,
            cost=self.cost,
            whole_cost=self._cached_cost if self._caches else self._uncached_cost,
            beyond=beyond + 1 if beyond < len(self._largest) else 0,
        )


def _sum(known: float | None, more: float | None) -> float | None:
    return None if known is None or more is None else known + more


def _carried(bill: Bill) -> int:
    """Return what the next whole request would have in common with this one: its input and its answer."""
    return bill.usage.total + bill.removed


def _is_cold(before: Bill, bill: Bill) -> bool:
    untouched = bill.removed == before.removed
    return bill.model != before.model or (untouched and not bill.usage.cache_read)
