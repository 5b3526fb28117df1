"""The user's own words in the head: oldest and newest verbatim up to a room, the rest named by its message id."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from app.compaction.facts import Words
from app.core.tokens import estimate_text

LABEL_TOKENS = 6.0
"""What the id in front of a message's words takes."""
NOTE_TOKENS = 30.0
MIN_PIECE = 60.0
"""Raw tokens below which a piece of a long message is not worth showing."""
NAMED = 12
"""Left-out messages that are named one by one."""


def render(
    words: Sequence[Words],
    room: float,
    *,
    oldest_share: float,
    skip: Collection[int] = (),
    dropped: int = 0,
) -> str:
    """Return the words, oldest first, with a note where some were left out; "" when there is nothing to show.

    Args:
        words: What the user wrote, oldest first.
        room: Raw tokens it may take.
        oldest_share: Part of the room that goes to the oldest.
        skip: Messages that stand in the view anyway.
        dropped: Messages whose words only the record has.
    """
    wanted = [word for word in words if word.number not in skip]
    if not wanted or room < MIN_PIECE:
        return ""
    first, last, pieces = _choose(wanted, room - NOTE_TOKENS, oldest_share)
    shown = [pieces.get(at, wanted[at].text) for at in (*range(first), *range(last, len(wanted)))]
    numbers = [wanted[at].number for at in (*range(first), *range(last, len(wanted)))]
    blocks = [f"[m{n}] {text}" for n, text in zip(numbers, shown, strict=True)]
    gone = [word.number for word in wanted[first:last]]
    if gone or dropped:
        blocks.insert(first, _note(gone, dropped))
    return "\n\n".join(blocks)


def shortened(text: str, room: float) -> str:
    """Return a text cut in the middle to about ``room`` raw tokens, with a note that says so."""
    size = estimate_text(text)
    if size <= room:
        return text
    keep = int(len(text) * max(0.0, room - 10) / size)
    head, tail = text[: keep * 2 // 3], text[len(text) - keep // 3 :]
    return f"{head}\n[… {len(text) - len(head) - len(tail):,} characters left out …]\n{tail}"


def _choose(
    wanted: Sequence[Words], room: float, oldest_share: float
) -> tuple[int, int, dict[int, str]]:
    """Return how many of the oldest and from where on the newest are shown, and those shown in part."""
    pieces: dict[int, str] = {}
    oldest = room * oldest_share
    first = 0
    while first < len(wanted):
        size = estimate_text(wanted[first].text) + LABEL_TOKENS
        if size > oldest:
            break
        oldest -= size
        first += 1
    if first == 0 and oldest >= MIN_PIECE and len(wanted) > 1:
        pieces[0] = shortened(wanted[0].text, oldest - LABEL_TOKENS)
        first, oldest = 1, 0.0
    newest = room * (1 - oldest_share) + oldest
    last = len(wanted)
    while last > first:
        size = estimate_text(wanted[last - 1].text) + LABEL_TOKENS
        if size > newest:
            break
        newest -= size
        last -= 1
    if last > first and newest >= MIN_PIECE:
        last -= 1
        pieces[last] = shortened(wanted[last].text, newest - LABEL_TOKENS)
    return first, last, pieces


def _note(gone: Sequence[int], dropped: int) -> str:
    named = ", ".join(f"m{number}" for number in gone[-NAMED:])
    count = len(gone) + dropped
    messages = "1 message" if count == 1 else f"{count} messages"
    where = f"recall {named}" if named else "recall searches the record"
    return f"[… {messages} of the user left out here; {where} …]"
