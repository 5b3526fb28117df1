"""Where the cache breakpoints of a request stand, so that an edit by layer 1 finds an entry in front of it.

The endpoint looks back only 20 blocks from a breakpoint, and finds only places where one stood before. So the previous
end is marked again: a step with many parallel results is longer than that.
"""

from __future__ import annotations

from app.core.conversation import View
from app.core.messages import Text, Thinking
from app.core.requests import CachePoint

Place = tuple[int, int]


def cache_points(
    view: View,
    *,
    previous_end: Place | None,
    frontier: str | None,
    edited: str | None,
) -> tuple[CachePoint, ...]:
    """Return at most three breakpoints, in order of place.

    Args:
        view: What the request sends.
        previous_end: (message, block) at which the previous request ended, None after a compaction.
        frontier: The next result that layer 1 would clear.
        edited: The first result that was cleared since the previous request; None when none was.
    """
    end = end_of(view)
    if end is None:
        return ()
    places = {end}
    before_frontier = _in_front_of(view, frontier)
    middle = _in_front_of(view, edited) if edited is not None else _known(view, previous_end)
    for place in (middle, before_frontier):
        if place is not None and place < end:
            places.add(place)
    return tuple(CachePoint(message, block) for message, block in sorted(places))


def end_of(view: View) -> Place | None:
    """Return the last block of a view that can carry a breakpoint."""
    if not view.messages:
        return None
    return _at_or_before(view, len(view.messages) - 1, len(view.messages[-1].content) - 1)


def _known(view: View, place: Place | None) -> Place | None:
    """Return a place of the previous request in this view, None when it is not there any more."""
    if place is None or place[0] >= len(view.messages):
        return None
    message, block = place
    if block >= len(view.messages[message].content):
        return None
    return _at_or_before(view, message, block)


def _in_front_of(view: View, result: str | None) -> Place | None:
    place = view.place(result) if result is not None else None
    if place is None:
        return None
    return _at_or_before(view, place[0], place[1] - 1)


def _at_or_before(view: View, message: int, block: int) -> Place | None:
    """Return the nearest block from there backwards that is neither thinking nor empty."""
    while message >= 0:
        content = view.messages[message].content
        while block >= 0:
            candidate = content[block]
            empty = isinstance(candidate, Text) and not candidate.text.strip()
            if not empty and not isinstance(candidate, Thinking):
                return message, block
            block -= 1
        message -= 1
        block = len(view.messages[message].content) - 1 if message >= 0 else -1
    return None
