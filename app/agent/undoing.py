"""Taking the newest compaction back: the view before it holds again."""

from __future__ import annotations

from app.agent.channel import Tell
from app.agent.dialogue import Dialogue
from app.agent.layers import Layers
from app.core.conversation import replay
from app.core.events import BudgetChanged, Compacted
from app.core.reports import CompactionReport, Layer, Outcome
from app.core.tokens import estimate_message

MUTE_FACTOR = 1.2
"""Layer 2 waits until the restored view has grown by a fifth."""


async def undo(dialogue: Dialogue, layers: Layers, tell: Tell) -> bool:
    """Restore the view before the newest compaction in force; return whether that was done.

    Restored results are pinned, and layer 2 waits: else the next request would compact again at once. Refused when
    the old view no longer fits the window.
    """
    used, number = dialogue.used, dialogue.conversation.base
    made = await dialogue.record.compaction(number) if number else None
    if made is None:
        await _tell(dialogue, _refused("there is no compaction to undo", used), tell)
        return False
    earlier = replay(await dialogue.record.history(before=number))
    since = [entry for entry in dialogue.conversation.entries if entry.seq > made.seq]
    grown = sum(estimate_message(entry.message) for entry in since)
    restored = dialogue.meter.restart().used(earlier.sizes.total + grown)
    if restored > dialogue.frame.window:
        limit = dialogue.frame.window
        reason = f"the old view has {restored:,} tokens, more than the window of {limit:,}"
        await _tell(dialogue, _refused(reason, used), tell)
        return False
    bare = [entry.id for entry in since if entry.message.role == "assistant"]
    # Before the undo itself: else a crash in between would leave a view that is compacted again at once.
    await dialogue.mute(max(dialogue.frame.threshold, round(restored * MUTE_FACTOR)))
    await dialogue.undo(number, bare=bare)
    layers.restarted()
    stubs = dialogue.conversation.stubs
    back = tuple(ref.id for ref in dialogue.conversation.results if ref.id not in stubs)
    if back:
        await dialogue.pin(back)
    report = CompactionReport(
        made.layer,
        Outcome.UNDONE,
        f"compaction {number} was taken back; layer 2 waits until {dialogue.muted_until:,} tokens",
        used,
        dialogue.used,
        results=back,
        messages=len(dialogue.conversation.entries),
        commit=number,
    )
    await _tell(dialogue, report, tell)
    return True


def _refused(reason: str, used: int) -> CompactionReport:
    return CompactionReport(Layer.MANUAL, Outcome.REFUSED, reason, used, used)


async def _tell(dialogue: Dialogue, report: CompactionReport, tell: Tell) -> None:
    tell(Compacted(await dialogue.report(report)))
    tell(BudgetChanged(dialogue.budget()))
