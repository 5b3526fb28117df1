"""What a compaction did to the view: tokens by part before and after; what went, what came, what stayed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from app.compaction.head import sections
from app.core.conversation import Conversation
from app.core.history import Entry
from app.core.messages import Text, ToolUse
from app.core.tokens import estimate_message, estimate_text
from app.core.view_parts import ResultRef, Sizes
from app.core.visible_text import one_line

WORDS = 160
"""Characters of a message that its row quotes."""


class Fate(StrEnum):
    """What became of a piece of the view."""

    WENT = "went"
    CAME = "came"
    STAYED = "stayed"


@dataclass(frozen=True, slots=True)
class Piece:
    """One message, result or part of the head."""

    fate: Fate
    id: str
    """``m<N>`` or ``r<N>``: what `recall` takes; "" for a part of the head."""
    what: str
    """One line."""
    tokens: int
    """As the session's factor has them, an estimate."""
    text: str = ""
    """In full where the record has no id for it."""


@dataclass(frozen=True, slots=True)
class PartChange:
    """One part of the view before and after, in tokens."""

    name: str
    """Field of `core.budget.Parts`."""
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class ViewChange:
    """All of it."""

    parts: tuple[PartChange, ...]
    pieces: tuple[Piece, ...]

    def of(self, fate: Fate) -> tuple[Piece, ...]:
        """Return the pieces with this fate, in the view's order."""
        return tuple(piece for piece in self.pieces if piece.fate is fate)


def view_change(before: Conversation, after: Conversation, factor: float = 1.0) -> ViewChange:
    """Return what stood in the view and stands there no more, what came, and what stayed.

    Args:
        before: The conversation right before.
        after: Right after.
        factor: The model's tokens per estimated token.
    """
    kept = {entry.id for entry in after.entries}
    left = [entry for entry in before.entries if entry.id not in kept]
    pieces: list[Piece] = []
    if before.head is not None and before.head != after.head:
        size = _count(estimate_message(before.head), factor)
        pieces.append(Piece(Fate.WENT, "", "the summary before this one", size, before.head.text))
    for entry in left:
        pieces += _pieces(Fate.WENT, entry, before, factor)
    if after.head is not None and before.head != after.head:
        pieces += _head_pieces(after.head.text, factor)
    for entry in after.entries:
        pieces += _pieces(Fate.STAYED, entry, after, factor)
    return ViewChange(_parts(before.sizes, after.sizes, factor), tuple(pieces))


def _pieces(fate: Fate, entry: Entry, conversation: Conversation, factor: float) -> Iterable[Piece]:
    """Yield a message's own words and then each result in it."""
    refs = [ref for ref in conversation.results if ref.entry == entry.id]
    own = estimate_message(entry.message) - sum(ref.tokens for ref in refs)
    said = _said(entry)
    if said:
        yield Piece(fate, entry.id, said, _count(own, factor))
    for ref in refs:
        yield _result(fate, ref, conversation.stubs, factor)


def _result(fate: Fate, ref: ResultRef, stubs: Mapping[str, str], factor: float) -> Piece:
    stub = stubs.get(ref.id)
    raw = ref.tokens if stub is None else estimate_text(stub)
    what = " ".join(filter(None, (ref.tool, ref.effects.target)))
    outcome = f" → {ref.effects.outcome}" if ref.effects.outcome else ""
    cleared = " (cleared already)" if stub is not None else ""
    return Piece(fate, ref.id, one_line(f"{what}{outcome}{cleared}", WORDS), _count(raw, factor))


def _said(entry: Entry) -> str:
    """Return who said what, in one line; "" for a message of results alone."""
    who = "you" if entry.spoken else "model" if entry.message.role == "assistant" else "note"
    texts = [b.text for b in entry.message.content if isinstance(b, Text) and b.text.strip()]
    calls = [b.name for b in entry.message.content if isinstance(b, ToolUse)]
    words = " ".join(texts) + (f" → {', '.join(calls)}" if calls else "")
    return one_line(f"{who}: {words.strip()}", WORDS) if words.strip() else ""


def _head_pieces(text: str, factor: float) -> Iterable[Piece]:
    """Yield the sections of a head, each with its size."""
    for title, section in sections(text):
        tokens = _count(estimate_text(section), factor)
        yield Piece(Fate.CAME, "", title or "Where the transcript is", tokens, section)


def _parts(before: Sizes, after: Sizes, factor: float) -> tuple[PartChange, ...]:
    rows = (
        ("summary", before.summary, after.summary),
        ("words", before.words, after.words),
        ("conversation", before.other, after.other),
        ("results", before.results, after.results),
    )
    return tuple(
        PartChange(name, _count(one, factor), _count(two, factor)) for name, one, two in rows
    )


def _count(raw: float, factor: float) -> int:
    return max(0, round(raw * factor))
