"""Numbers of the layers for short lives: small, so that every layer is seen."""

from __future__ import annotations

from app.core.policy import (
    AfterCompact,
    AutoPolicy,
    CompactionPolicy,
    EntryPolicy,
    ManualPolicy,
    MicroPolicy,
    MicroRule,
)

WISHES = "Mind \ud83d the tests."


def auto(threshold: int, room: float = 0.1, *, on: bool = True, wishes: str = "") -> AutoPolicy:
    return AutoPolicy(
        enabled=on,
        threshold=threshold,
        words_share=room,
        tail_share=room,
        summary_instructions=wishes,
    )


POLICIES = {
    "roomy": CompactionPolicy(auto=auto(30_000)),
    "tight": CompactionPolicy(
        micro=MicroPolicy(MicroRule.EVERY_TURN, 0, min_chars=0, preserve_tools=frozenset()),
        auto=auto(2_500),
    ),
    "tighter": CompactionPolicy(
        micro=MicroPolicy(MicroRule.EVERY_TURN, keep_recent=1), auto=auto(1_500, 0.3)
    ),
    "payback": CompactionPolicy(
        micro=MicroPolicy(MicroRule.PAYBACK, batch_tokens=0, preserve_tokens=500, bare_stubs=True),
        auto=auto(4_000),
    ),
    "no layer 1": CompactionPolicy(
        micro=MicroPolicy(MicroRule.OFF),
        auto=auto(4_000, 0.05),
        manual=ManualPolicy(notes_at=()),
    ),
    "no layer 2": CompactionPolicy(
        micro=MicroPolicy(MicroRule.EVERY_TURN),
        auto=auto(4_000, on=False),
        manual=ManualPolicy(after_compact=AfterCompact.WAIT),
    ),
    "no layer 3": CompactionPolicy(auto=auto(4_000), manual=ManualPolicy(enabled=False)),
    "short entries": CompactionPolicy(
        entry=EntryPolicy(max_tokens=200, shown_tokens=100), auto=auto(8_000)
    ),
    "own wishes": CompactionPolicy(
        micro=MicroPolicy(preserve_tokens=0), auto=auto(2_500, wishes=WISHES)
    ),
}
