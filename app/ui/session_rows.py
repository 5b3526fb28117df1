"""One row of the session picker: when, what was said first, figures, and where the searched words were found."""

from __future__ import annotations

import re
from collections.abc import Sequence

from textual.content import Content

from app.core.figures import moment, size
from app.core.visible_text import one_line
from app.ui.format import plural
from app.ui.wiring import SessionCard, SessionHit

INDENT = 18
"""Columns of the time and the blank behind it."""
_WORD = re.compile(r'"([^"]+)"|(\S+)')


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a search, folded; several in double quotes count as one."""
    return tuple((quoted or word).casefold() for quoted, word in _WORD.findall(text))


def card_has(card: SessionCard, words: Sequence[str]) -> bool:
    """Whether all words stand in what the row itself says."""
    told = f"{card.name} {card.title} {card.first_words} {card.model}".casefold()
    return all(word in told for word in words)


def session_row(card: SessionCard, hit: SessionHit | None, words: Sequence[str]) -> Content:
    """Return the row of a session; a hit gets a line of its own with the words marked."""
    parts: list[Content] = [
        Content.assemble((f"{moment(card.time):{INDENT}}", "$text-primary"), _said(card)),
        Content.assemble(" " * INDENT, _facts(card)),
    ]
    if hit is not None:
        who = one_line(f"{hit.who} {hit.id}".strip(), 40)
        line = marked(Content(one_line(hit.line, 300)), words)
        parts.append(Content.assemble(" " * INDENT, (f"{who}: ", "$text-accent"), line))
    return Content("\n").join(parts)


def marked(text: Content, words: Sequence[str]) -> Content:
    """Return a text with each of the words marked."""
    for word in words:
        for found in re.finditer(re.escape(word), text.plain, re.IGNORECASE):
            text = text.stylize("bold underline $text-warning", *found.span())
    return text


def called(card: SessionCard) -> str:
    """Return how a session is called: its title, else its first words, else its name."""
    return one_line(card.title or card.first_words or card.name, 60)


def _said(card: SessionCard) -> Content:
    words = one_line(card.first_words, 200)
    if card.title:
        behind = f"  {words}" if words else ""
        return Content.assemble((one_line(card.title, 80), "bold"), (behind, "$text-muted"))
    return Content(words or "(no words of yours)")


def _facts(card: SessionCard) -> Content:
    if card.too_new:
        told = f"written by a newer version (format {card.too_new}) · {size(card.size)}"
        return Content.styled(told, "$text-warning")
    facts = [plural(card.messages, "message")]
    if card.compactions:
        facts.append(plural(card.compactions, "compaction"))
    if card.size:
        facts.append(size(card.size))
    if card.model:
        facts.append(one_line(card.model, 40))
    figures = Content.styled(" · ".join(facts), "$text-muted")
    if not card.holder:
        return figures
    return Content.assemble((f"● open in {card.holder}", "$text-warning"), " · ", figures)
