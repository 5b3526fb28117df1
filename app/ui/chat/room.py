"""How much of a session the chat keeps: the oldest leaves it, and comes back from the record as one scrolls up."""

from __future__ import annotations

from collections.abc import Sequence

from app.ui.chat.entries import Section

MOST_SECTIONS, MOST_CHARS = 1_000, 2_000_000
"""What the chat keeps of a session that goes on; whole outputs of tools are the most of it."""
FEWEST = 100
"""Sections that stay whatever they hold: several screens of them, so that nobody sees the others leave."""


def leaving(sections: Sequence[Section]) -> int:
    """Return how many of the oldest sections leave: none while there is room, else enough to have half of it free.

    They leave up to the beginning of a message of the model, for a page of the record ends there with nothing cut
    apart: results stand in the message behind their calls, and the user's words in one of their own or with results.
    """
    if len(sections) <= MOST_SECTIONS and sum(each.weight for each in sections) <= MOST_CHARS:
        return 0
    chars = 0
    for kept, section in enumerate(reversed(sections), 1):
        chars += section.weight
        enough = kept >= MOST_SECTIONS // 2 or chars >= MOST_CHARS // 2
        if enough and kept >= FEWEST and section.begins > 1:
            return len(sections) - kept
    return 0
