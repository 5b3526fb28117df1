"""Taking the newest compaction back: the view before it holds again."""

from __future__ import annotations

from app.agent.channel import Tell
from app.agent.dialogue import Dialogue
from app.agent.layers import Layers
from app.compaction.thinking import thinks
from app.core import remarks
from app.core.conversation import Conversation, replay
from app.core.events import BudgetChanged, Compacted
from app.core.messages import without_thinking
from app.core.reports import CompactionReport, Outcome
from app.core.tokens import estimate_message
from app.errors import CompactionRefused

MUTE_FACTOR = 1.2
"""Layer 2 waits until the restored view has grown by a fifth."""


async def undo(dialogue: Dialogue, layers: Layers, tell: Tell) -> None:
    """Restore the view before the newest compaction in force.

    Restored results are pinned, and layer 2 waits: else the next request would compact again at once.

    Raises:
        CompactionRefused: There is none, or the old view no longer fits the window.
    """
    used, number = dialogue.used, dialogue.conversation.base
    made = await dialogue.record.compaction(number) if number else None
    if made is None:
        raise CompactionRefused("There is no compaction to undo.")
    old = await dialogue.record.history(before=number)
    earlier = replay(old)
    since = [entry for entry in dialogue.conversation.entries if entry.seq > made.seq]
    grown = sum(estimate_message(entry.message) for entry in since)
    restored = dialogue.meter.restart().used(earlier.sizes.total + grown)
    if restored > dialogue.frame.window:
        limit = dialogue.frame.window
        raise CompactionRefused(
            f"The compaction stays: the view before it has {restored:,} tokens, more than the window of {limit:,}."
        )
    new = [item for item in await dialogue.record.history() if item.seq > made.seq]
    changed = await dialogue.record.remarks({remarks.MODEL, remarks.PROMPT}, since=made.seq)
    bare = _unfit_thinking(earlier, replay((*old, *new)), other_prompt=bool(changed))
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
    tell(Compacted(await dialogue.report(report)))
    tell(BudgetChanged(dialogue.budget()))


def _unfit_thinking(
    earlier: Conversation, restored: Conversation, *, other_prompt: bool
) -> tuple[str, ...]:
    """Return the messages of the restored view whose thinking fits no more: something in front of it has changed.

    All that was said since stands behind another view. Of what comes back nothing fits behind another prompt or model,
    nor behind a result that was cleared or brought back meanwhile.
    """
    if other_prompt:
        return tuple(entry.id for entry in restored.entries if thinks(entry.message))
    before, view = earlier.view().messages, restored.view()
    same = 0
    for old, new in zip(before, view.messages, strict=False):
        if without_thinking(old) != without_thinking(new):
            break
        same += 1
    behind = {id_ for ids in view.origins[same:] for id_ in ids}
    return tuple(e.id for e in restored.entries if e.id in behind and thinks(e.message))
