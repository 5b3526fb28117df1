"""Notes for the model on how full its context is, so that it can compact at a good moment."""

from __future__ import annotations

from collections.abc import Collection

from app.core.policy import ManualPolicy


def due_mark(
    policy: ManualPolicy, *, used: int, threshold: int, given: Collection[float]
) -> float | None:
    """Return the highest mark that is passed, when it was not told yet since the last compaction.

    Args:
        policy: Layer 3's numbers; its marks are shares of the threshold.
        used: Tokens of the next request.
        threshold: Tokens above which layer 2 runs.
        given: Marks that were told since the last compaction.
    """
    if not policy.enabled or threshold <= 0:
        return None
    passed = [mark for mark in policy.notes_at if used >= mark * threshold]
    if not passed or any(mark >= max(passed) for mark in given):
        return None
    return max(passed)


def note(mark: float, *, used: int, threshold: int) -> str:
    """Return the text that rides in the newest user message."""
    return (
        f"[Context: {used:,} of {threshold:,} tokens, over {mark:.0%}. It is compressed at the limit. If a task is "
        "finished, a new phase begins or a large read comes next, call `compact` with a focus now; else go on.]"
    )
