"""What the session would have cost if every request had carried everything: the same requests, nothing taken out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

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


def sending_everything(
    bills: Iterable[Bill], price_of: Callable[[str], Price | None], window: int
) -> Savings:
    """Return what the requests cost against what they would have cost whole.

    Requests for summaries would not have been made. What would have stood in a request and was in the one before it
    is taken as read from the cache, and the rest as written to it, unless the endpoint caches nothing or the cache was
    cold: another model, or no read although nothing had been taken out since the request before.

    Args:
        bills: All answered requests, oldest first.
        price_of: Price of a model by its id.
        window: Tokens that the model accepts.
    """
    asked = tuple(bills)
    turns = [bill for bill in asked if bill.purpose is Purpose.TURN]
    caches = any(bill.usage.cache_read or bill.usage.cache_write for bill in asked)
    whole_cost: float | None = 0.0
    whole = beyond = 0
    before: Bill | None = None
    for number, bill in enumerate(turns, 1):
        size = bill.usage.prompt + bill.removed
        whole += size
        beyond = beyond or (number if size > window else 0)
        price = price_of(bill.model)
        if price is None or whole_cost is None:
            whole_cost = None
        elif not caches:
            whole_cost += price.of(Usage(input=size, output=bill.usage.output))
        else:
            known = 0 if before is None or _is_cold(before, bill) else _carried(before)
            read = min(size, known)
            usage = Usage(0, read, size - read, bill.usage.output)
            whole_cost += price.of(usage)
        before = bill
    costs = [bill.cost for bill in asked]
    known_costs = [cost for cost in costs if cost is not None]
    return Savings(
        sent=sum(bill.usage.prompt for bill in asked),
        whole=whole,
        cost=sum(known_costs) if len(known_costs) == len(costs) else None,
        whole_cost=whole_cost,
        beyond=beyond,
    )


def _carried(bill: Bill) -> int:
    """Return what the next whole request would have in common with this one: its input and its answer."""
    return bill.usage.total + bill.removed


def _is_cold(before: Bill, bill: Bill) -> bool:
    untouched = bill.removed == before.removed
    return bill.model != before.model or (untouched and not bill.usage.cache_read)
