"""How much text a tool may return in one call, from the policy in force."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.core.policy import CompactionPolicy

READ_SHARE = 0.24
"""Most of the threshold that one page of a file takes, for thresholds below the usual one."""
RECALL_SHARE = 0.7
"""Part of layer 0's limit that a recall takes, so that it is not shortened in turn."""


@dataclass(frozen=True, slots=True)
class Room:
    """The layers' numbers that hold now, and the room of a page by them: that in raw tokens, as texts are estimated."""

    policy: CompactionPolicy
    factor: float = 1.0
    """The model's tokens per raw token."""

    @property
    def page(self) -> float:
        """The room of a page of ``read_file``, in raw tokens."""
        policy = self.policy
        return min(policy.entry.read_tokens, READ_SHARE * policy.auto.threshold) / self.factor

    @property
    def recall(self) -> float:
        """The room of a page of ``recall``, in raw tokens."""
        entry, threshold = self.policy.entry, self.policy.auto.threshold
        return RECALL_SHARE * min(entry.max_tokens, entry.max_share * threshold) / self.factor


RoomNow = Callable[[], Room]
"""Returns the room in force, asked at each call."""
