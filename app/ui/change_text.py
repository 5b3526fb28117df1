"""The change of a view as rows: a table of its parts, and one row for each message that went, came or stayed."""

from __future__ import annotations

from collections.abc import Mapping

from textual.content import Content
from textual.widgets.option_list import Option

from app.core.visible_text import one_line
from app.ui.format import plural, tokens
from app.ui.gauge_line import PARTS
from app.ui.view_change import Fate, Piece, ViewChange

FATES: Mapping[Fate, tuple[str, str, str]] = {
    Fate.CAME: ("+", "$text-success", "came"),
    Fate.WENT: ("−", "$text-error", "went"),
    Fate.STAYED: ("=", "$text-muted", "stayed"),
}
"""Sign, style and word."""
PIECE = "piece:"
"""Begins the id of a row that the record has no id for."""


def parts_table(change: ViewChange) -> Content:
    """Return the tokens of each part before and after."""
    glyphs = {part.name: part for part in PARTS}
    head = f"{'':14}{'before':>9}{'after':>10}{'change':>11}"
    rows = [Content.styled(head, "$text-muted")]
    for part in change.parts:
        known = glyphs[part.name]
        figures = f"{tokens(part.before):>9}{tokens(part.after):>10}"
        rows.append(
            Content.assemble(
                (f" {known.glyph} ", known.style),
                (f"{known.label:11}", "bold"),
                figures,
                _difference(part.after - part.before),
            )
        )
    before, after = sum(p.before for p in change.parts), sum(p.after for p in change.parts)
    total = f"   {'together':11}{tokens(before):>9}{tokens(after):>10}"
    rows.append(Content.assemble((total, "bold"), _difference(after - before)))
    return Content("\n").join(rows)


def change_options(change: ViewChange) -> list[Option]:
    """Return the rows; the newest come first among what went, since they are looked for most."""
    options: list[Option] = []
    for fate, (sign, style, word) in FATES.items():
        pieces = change.of(fate)
        if not pieces:
            continue
        size = sum(piece.tokens for piece in pieces)
        heading = f"{word}: {plural(len(pieces), 'piece')}, ~{tokens(size)} tokens"
        options.append(Option(Content.styled(heading, f"bold {style}"), disabled=True))
        for at, piece in enumerate(pieces):
            options.append(Option(_row(piece, sign, style), id=piece.id or f"{PIECE}{word}:{at}"))
    return options


def full_text(change: ViewChange, id: str) -> str | None:
    """Return the text of a row that the record has no id for; None for the others."""
    if not id.startswith(PIECE):
        return None
    _, word, at = id.split(":")
    fate = next(fate for fate, row in FATES.items() if row[2] == word)
    return change.of(fate)[int(at)].text


def _row(piece: Piece, sign: str, style: str) -> Content:
    return Content.assemble(
        (f"{sign} ", style),
        (f"{piece.tokens:>7,} ", "$text-muted"),
        (f"{piece.id:6}", "bold"),
        one_line(piece.what, 200),
    )


def _difference(count: int) -> tuple[str, str]:
    sign = "+" if count > 0 else "−" if count < 0 else " "
    style = "$text-warning" if count > 0 else "$text-success" if count < 0 else "$text-muted"
    return f"{sign + tokens(abs(count)):>11}", style
