"""Results that the user brings back into the conversation: the original goes along with their next message."""

from __future__ import annotations

from collections.abc import Iterable

from app.agent.dialogue import Dialogue
from app.agent.own_commands import shortened
from app.core import remarks
from app.core.history import Entry, Remark
from app.core.originals import find_original
from app.core.record_ids import read_id
from app.errors import PalError


async def bring_back(dialogue: Dialogue, result: str) -> None:
    """Let the model have the original of a tool result with the user's next message.

    It is said anew at the end, so that nothing before it changes and the prompt cache stays good.

    Raises:
        PalError: There is no such result, or the view holds it whole.
    """
    if any(ref.id == result for ref in dialogue.conversation.live):
        raise PalError(f"{result} stands in the view whole already.")
    wanted = read_id(result)
    original = await find_original(dialogue.record, *wanted) if wanted else None
    if original is None:
        raise PalError(f"There is no {result} in this session.")
    note = f"[The user brought {original.title} back]\n{shortened(original.text)}"
    await dialogue.record.remark(remarks.BROUGHT_BACK, {"result": result, "note": note})
    dialogue.overheard.append(note)


def restore_brought_back(
    dialogue: Dialogue, kept: Iterable[Remark], entries: Iterable[Entry]
) -> None:
    """Take up what was brought back and not yet told when the session was left."""
    told = max((entry.seq for entry in entries if entry.spoken), default=0)
    dialogue.overheard += [
        str(remark.data["note"]) for remark in kept if remark.seq > told and "note" in remark.data
    ]
