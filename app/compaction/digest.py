"""The digest: what stands in the summary's place when no model could write one. Made by code, it cannot fail."""

from __future__ import annotations

from app.compaction.facts import Ledger
from app.compaction.stubs import stub_line
from app.compaction.tail import units
from app.core.conversation import Conversation
from app.core.tokens import estimate_text
from app.core.visible_text import one_line

STEPS = 20
"""Last results that are named."""
SAID = 3
"""Last messages of the model that are quoted."""
SAID_CHARS = 400


def digest(conversation: Conversation, known: Ledger, *, end: int, room: float) -> str:
    """Return the text of the digest; the same conversation always gives the same text.

    Args:
        conversation: The conversation that is compacted.
        known: Its ledger, whose ``summary`` is the last one a model wrote.
        end: Position of the entries that stay verbatim.
        room: Raw tokens it may take.
    """
    head = "No summary could be made; this list was put together from the record."
    room -= estimate_text(head)
    parts = [head]
    said = _section("What the assistant said last", _said(conversation, end), room / 2)
    room -= estimate_text(said)
    steps = _section("Last steps", _steps(conversation, end), room / 2)
    room -= estimate_text(steps)
    if known.summary and estimate_text(known.summary) <= room:
        parts.append(f"Notes of an earlier compaction, as they were then:\n\n{known.summary}")
    return "\n\n".join(part for part in (*parts, steps, said) if part)


def _section(title: str, lines: list[str], room: float) -> str:
    """Return a section of the last lines that fit, in their order; "" when none does."""
    room -= estimate_text(title) + 4
    kept: list[str] = []
    for line in reversed(lines):
        room -= estimate_text(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join((f"## {title}", *reversed(kept))) if kept else ""


def _said(conversation: Conversation, end: int) -> list[str]:
    texts = [
        conversation.entries[unit.first].message.text
        for unit in units(conversation.entries[:end])
        if conversation.entries[unit.first].message.role == "assistant"
    ]
    return [f"- {one_line(text, SAID_CHARS)}" for text in texts if text.strip()][-SAID:]


def _steps(conversation: Conversation, end: int) -> list[str]:
    gone = {entry.id for entry in conversation.entries[:end]}
    refs = [ref for ref in conversation.results if ref.entry in gone]
    return [f"- {stub_line(ref)}" for ref in refs[-STEPS:]]
