"""Putting a compaction in force again that was taken back: its head from the record, and all that was said since."""

from __future__ import annotations

import dataclasses

from app.agent.channel import Tell
from app.agent.dialogue import Dialogue
from app.agent.layers import Layers
from app.compaction.thinking import thinks
from app.core.events import BudgetChanged, Compacted
from app.core.history import Commit, Undone
from app.core.ports import CommitDraft
from app.core.reports import EDITED, REDONE, CompactionReport, Outcome
from app.errors import CompactionRefused


async def redo(dialogue: Dialogue, layers: Layers, tell: Tell) -> None:
    """Bring back the compaction that was taken back last, as a new one with the same head; later messages follow it.

    Raises:
        CompactionRefused: Nothing was taken back since the newest compaction, or the view went another way.
    """
    undone = await _undone(dialogue)
    if not undone:
        raise CompactionRefused(
            "There is no undo to take back.",
            hint="/compact again makes the newest summary anew; /compact makes one now.",
        )
    made, used = undone[-1], dialogue.used
    draft = _draft(dialogue, made)
    before, transcript = dialogue.conversation, dialogue.record.transcript
    number = await dialogue.commit(draft)
    layers.restarted()
    report = CompactionReport(
        made.layer,
        Outcome.APPLIED,
        f"compaction {made.number}, which was taken back, is in force again",
        used,
        dialogue.used,
        messages=len(before.entries) - len(draft.kept),
        kept=len(draft.kept),
        summary=made.head.text,
        transcript=transcript,
        commit=number,
        method=REDONE,
    )
    tell(Compacted(await dialogue.report(report)))
    tell(BudgetChanged(dialogue.budget()))


def refuse_to_drop_edits(dialogue: Dialogue) -> None:
    """Keep a summary that the user edited from being made anew.

    Raises:
        CompactionRefused: The newest compaction has such a summary.
    """
    head = dialogue.conversation.head
    edited = (r.summary for r in dialogue.reports if r.method == EDITED and r.commit)
    if head is not None and head.text in edited:
        raise CompactionRefused(
            "The newest summary is one that you edited; making it again would throw your words away.",
            hint="To have another one all the same: /undo, then /compact.",
        )


def _draft(dialogue: Dialogue, made: Commit) -> CommitDraft:
    """Return the compaction once more: what it kept, and what came since, without thinking of the other view."""
    now = dialogue.conversation
    wanted = set(made.kept)
    kept = [entry for entry in now.entries if entry.id in wanted or entry.seq > made.seq]
    ids = tuple(entry.id for entry in kept)
    cleared = {ref.id: now.stubs[ref.id] for ref in now.results if ref.id in now.stubs}
    stubs = {**made.stubs, **cleared}
    bare = tuple(entry.id for entry in kept if thinks(entry.message))
    again = dataclasses.replace(made, kept=ids, stubs=stubs, bare=bare)
    if not wanted <= set(ids) or now.compact(again).sizes.total >= now.sizes.total:
        raise CompactionRefused(
            "The view went another way since the undo; /compact makes a new summary."
        )
    return CommitDraft(
        made.layer,
        lambda _: made.head,
        (now.entries[0].id, now.entries[-1].id),
        ids,
        stubs,
        bare,
        made.summary,
        made.facts,
    )


async def _undone(dialogue: Dialogue, before: int | None = None) -> list[Commit]:
    """Return the compactions that can be brought back, the one taken back last at the end.

    A new compaction ends that; one that was brought back leaves those that were taken back before it.
    """
    found: list[Commit] = []
    known: dict[int, Commit] = {}
    brought_back = {r.commit for r in dialogue.reports if r.method == REDONE}
    for item in await dialogue.record.history(before=before):
        if isinstance(item, Commit):
            first = not known
            known[item.number] = item
            if first and item.number in brought_back:
                found = await _undone(dialogue, item.number)
            found = found[:-1] if found and found[-1].head == item.head else []
        elif isinstance(item, Undone) and item.commit in known:
            found.append(known[item.commit])
    return found
