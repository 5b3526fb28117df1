"""How much text a tool may return in one call, from the policy in force."""

from __future__ import annotations

from collections.abc import Callable

from app.core.policy import CompactionPolicy

Policy = Callable[[], CompactionPolicy]
"""The policy in force now."""
READ_SHARE = 0.24
"""Most of the threshold that one page of a file takes, for thresholds below the usual one."""
RECALL_SHARE = 0.7
"""Part of layer 0's limit that a recall takes, so that it is not shortened in turn."""


def page_tokens(policy: CompactionPolicy) -> float:
    """Return the room of a page of ``read_file``, in estimated tokens."""
    return min(policy.entry.read_tokens, READ_SHARE * policy.auto.threshold)


def recall_tokens(policy: CompactionPolicy) -> float:
    """Return the room of a page of ``recall``, in estimated tokens."""
    entry = policy.entry
    return RECALL_SHARE * min(entry.max_tokens, entry.max_share * policy.auto.threshold)
