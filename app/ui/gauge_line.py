"""The gauge as pieces of styled text: pure, so that each width and state can be tested without a screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.budget import Budget, Zone
from app.ui.format import cost, percent, short_tokens, tokens

Piece = tuple[str, str]
"""Text and the name of its style (a Content style, "" for plain)."""

THRESHOLD_AT = 0.8
"""Where on the bar the threshold stands; the rest of it is the way to the window, drawn shorter."""


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of content in the next request and how the gauge draws it: shape first, colour second."""

    name: str
    glyph: str
    style: str
    label: str
    what: str


PARTS = (
    Part("floor", "█", "$foreground-disabled", "floor", "system prompt, tools, instructions"),
    Part("summary", "▓", "$text-accent", "summary", "what compactions left of earlier work"),
    Part("words", "▚", "$text-success", "words", "what you wrote"),
    Part("conversation", "▒", "$text-primary", "talk", "the model's own messages"),
    Part("results", "░", "$text-warning", "results", "tool results"),
)
FREE = "·"
THRESHOLD = "┃"
WINDOW = "▏"

ZONES = {
    Zone.CALM: ("○", "$text-success"),
    Zone.WARM: ("◐", "$text-primary"),
    Zone.NEAR: ("◕", "$text-warning"),
    Zone.OVER: ("●", "bold $text-error"),
}
"""Each zone has a shape of its own, so that it can be read without colour."""


def zone_word(budget: Budget) -> str:
    """Return what the zone means, in words; "" while there is nothing to say."""
    if budget.zone is Zone.OVER:
        return "compacts next" if budget.auto else "over the window"
    if budget.zone is Zone.NEAR:
        return f"{short_tokens(_limit(budget) - budget.used)} left"
    return ""


def zone_name(budget: Budget) -> str:
    """Return the zone in words, also while there is nothing to say on the gauge."""
    limit = "the threshold" if budget.auto else "the window"
    match budget.zone:
        case Zone.CALM:
            return f"calm: less than half of {limit}"
        case Zone.WARM:
            return f"over half of {limit}"
        case Zone.NEAR:
            return f"near {limit}: {tokens(_limit(budget) - budget.used)} tokens left"
        case Zone.OVER:
            return "over the threshold: compacts next" if budget.auto else "over the window"


def used_text(budget: Budget, *, short: bool = False) -> str:
    """Return ``~18,240 / 50,000``; the tilde says that an estimate is in it.

    As wide as the limit at least, so that a growing figure moves nothing beside it.
    """
    write = short_tokens if short else tokens
    limit = write(_limit(budget))
    tilde = "" if budget.measured else "~"
    return f"{f'{tilde}{write(budget.used)}':>{len(limit) + 1}} / {limit}"


def gauge_line(budget: Budget, width: int) -> tuple[Piece, ...]:
    """Return the gauge in at most ``width`` cells: what matters most stays longest as the width shrinks."""
    zone_glyph, zone_style = ZONES[budget.zone]
    share = budget.used / max(1, _limit(budget))
    head: list[Piece] = [(f"{zone_glyph} ", zone_style)]
    figures: list[Piece] = [(used_text(budget, short=width < 56), "bold")]
    figures.append((f" {percent(share):>3}", zone_style))
    if word := zone_word(budget):
        figures.append((f" {word}", zone_style))
    extras = _extras(budget)
    legend = _legend(budget)
    room = width - _length(head) - _length(figures) - 1
    bar_room = min(48, max(20, width // 4))
    tail: list[Piece] = []
    for extra in (*extras, legend):
        if _length(tail) + _length(extra) + bar_room <= room:
            tail.extend(extra)
    bar_width = room - _length(tail)
    if bar_width < 8:
        return tuple(_cut([*head, *figures], width))
    bar = bar_pieces(budget, min(bar_width, 64))
    return (*head, *bar, (" ", ""), *figures, *tail)


def bar_pieces(budget: Budget, width: int) -> tuple[Piece, ...]:
    """Return the bar in ``width`` cells: parts by shape, the threshold mark, free room, the window's end."""
    inner = max(1, width - 1)
    cells: list[Piece] = []
    edges = _edges(budget, inner)
    start = 0
    for part, end in zip(PARTS, edges, strict=True):
        if end > start:
            cells.extend([(part.glyph, part.style)] * (end - start))
            start = end
    cells.extend([(FREE, "$text-muted")] * (inner - len(cells)))
    mark = _mark(budget, inner)
    if mark is not None:
        cells[mark] = (THRESHOLD, ZONES[budget.zone][1])
    cells.append((WINDOW, "$text-muted"))
    return _joined(cells)


def _edges(budget: Budget, inner: int) -> list[int]:
    """Where each part ends, in cells; a part that holds anything has at least one while there is room."""
    sizes = [getattr(budget.parts, part.name) for part in PARTS]
    if not sum(sizes):
        sizes = [0, 0, 0, budget.used, 0]
    total, edges, last = 0, [], 0
    for held in sizes:
        total += held
        at = round(_place(budget, total) * inner)
        if held:
            at = max(at, last + 1)
        last = min(inner, max(at, last))
        edges.append(last)
    return edges


def _place(budget: Budget, count: int) -> float:
    """Return where a token count stands on the bar, 0 to 1: one scale to the threshold, a shorter one beyond."""
    threshold, window = budget.threshold, budget.window
    if not budget.auto or threshold <= 0 or threshold >= window:
        return min(1.0, count / max(1, window if not budget.auto else threshold))
    if count <= threshold:
        return THRESHOLD_AT * count / threshold
    return min(1.0, THRESHOLD_AT + (1 - THRESHOLD_AT) * (count - threshold) / (window - threshold))


def _mark(budget: Budget, inner: int) -> int | None:
    if not budget.auto or budget.threshold <= 0 or budget.threshold >= budget.window:
        return None
    return min(inner - 1, round(THRESHOLD_AT * inner))


def _limit(budget: Budget) -> int:
    return budget.threshold if budget.auto else budget.window


def _extras(budget: Budget) -> list[list[Piece]]:
    assumed = f" {budget.window_source}" if budget.window_source == "assumed" else ""
    window = f" · window {short_tokens(budget.window)}{assumed}"
    extras: list[list[Piece]] = []
    if not budget.auto:
        extras.append([(" · auto off", "$text-warning")])
    extras.append([(f" · {cost(budget.cost)}", "")])
    if budget.prompt:
        extras.append([(f" · cache {percent(budget.cached_share)}", "")])
    extras.append([(window, "$text-warning" if assumed else "$text-muted")])
    return extras


def _legend(budget: Budget) -> list[Piece]:
    pieces: list[Piece] = [("  ", "")]
    for part in PARTS:
        held = getattr(budget.parts, part.name)
        if held:
            pieces.append((f" {part.glyph}", part.style))
            pieces.append((f" {part.label} {short_tokens(held):<4}", "$text-muted"))
    return pieces


def _length(pieces: Sequence[Piece]) -> int:
    return sum(len(text) for text, _ in pieces)


def _joined(cells: Sequence[Piece]) -> tuple[Piece, ...]:
    joined: list[Piece] = []
    for text, style in cells:
        if joined and joined[-1][1] == style:
            joined[-1] = (joined[-1][0] + text, style)
        else:
            joined.append((text, style))
    return tuple(joined)


def _cut(pieces: Sequence[Piece], width: int) -> list[Piece]:
    cut: list[Piece] = []
    for text, style in pieces:
        room = width - _length(cut)
        if room <= 0:
            break
        cut.append((text[:room], style))
    return cut
