"""Which items of a record count after rewinding: what a rewind took back is passed over, and nothing is deleted.

A rewind says "the conversation is again as it was just before item ``before``". So the state after it is the state at
that moment, with all rewinds made until then; going back to just before a rewind brings back what it took.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.core.history import HistoryItem, Rewound


@dataclass(frozen=True, slots=True)
class Live:
    """The parts of a record that count, by ``seq``."""

    spans: tuple[tuple[int, int | None], ...] = ((0, None),)
    """First ``seq`` of each part and the one behind its last, newest first; None for no end."""

    def __contains__(self, seq: int) -> bool:
        return any(first <= seq and (end is None or seq < end) for first, end in self.spans)


ALL = Live()
"""Nothing was rewound."""


def live(rewinds: Iterable[Rewound], *, before: int | None = None) -> Live:
    """Return what counts of a record.

    Args:
        rewinds: All of its rewinds.
        before: Of the record up to this ``seq``, itself excluded; None for all of it.
    """
    end = before
    spans: list[tuple[int, int | None]] = []
    for mark in sorted(rewinds, key=lambda mark: mark.seq, reverse=True):
        if end is None or mark.seq < end:
            spans.append((mark.seq, end))
            end = min(mark.before, mark.seq)
    return Live((*spans, (0, end)))


def live_items(items: Iterable[HistoryItem]) -> tuple[HistoryItem, ...]:
    """Return the items that count; doing it twice changes nothing."""
    history = tuple(items)
    rewinds = [item for item in history if isinstance(item, Rewound)]
    if not rewinds:
        return history
    counting = live(rewinds)
    return tuple(item for item in history if item.seq in counting)
