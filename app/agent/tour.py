"""The tour's own numbers: small enough that all three layers show within a minute, and nothing is written."""

from __future__ import annotations

from dataclasses import replace

from app.core.permission import Mode
from app.core.policy import CompactionPolicy, MicroRule

ROOM_TOKENS = 6_000
"""What the tour's threshold leaves above system prompt and tools."""
MODE = Mode.READ_ONLY


def tour_policy(policy: CompactionPolicy, floor: int) -> CompactionPolicy:
    """Return the policy of the tour.

    Args:
        policy: The policy in force; what the tour does not need stays.
        floor: Tokens of system prompt and tools.
    """
    threshold = floor + ROOM_TOKENS
    return replace(
        policy,
        micro=replace(policy.micro, rule=MicroRule.EVERY_TURN, preserve_tools=frozenset()),
        auto=replace(policy.auto, enabled=True, threshold=threshold, threshold_share=None),
        manual=replace(policy.manual, enabled=True),
    )


def announcement(threshold: int) -> str:
    """Return what the user is told when the tour begins."""
    return (
        f"The tour works with a threshold of {threshold:,} tokens, clears old results at every turn and runs "
        "read-only tools. Your own settings come back when it ends."
    )
