"""The sawtooth: context over requests as rows of block characters, compactions marked. Pure text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

BLOCKS = " ▁▂▃▄▅▆▇█"
LINE = "╌"
FALL = 0.15
"""A request this much smaller than the one before is shown as a fall, even when no report says why."""


@dataclass(frozen=True, slots=True)
class Chart:
    """The chart's rows, top first, and what each cell is."""

    rows: tuple[str, ...]
    kinds: tuple[str, ...]
    """Per row one letter a cell: ``.`` empty, ``#`` top of a bar, ``=`` its body, ``!`` bar above the threshold,
    ``-`` line, ``v`` mark."""
    first: int
    """Number of the first request drawn, from 1; 0 when there is none."""
    last: int


def chart(
    contexts: Sequence[int],
    marks: Mapping[int, str],
    *,
    threshold: int,
    width: int,
    height: int,
) -> Chart:
    """Return the newest ``width`` requests as columns.

    Args:
        contexts: Tokens of each request, oldest first.
        marks: Number of requests made when a layer ran, to the character that marks it.
        threshold: Tokens at which layer 2 runs.
        width: Columns.
        height: Rows.
    """
    start = max(0, len(contexts) - width)
    shown = contexts[start:]
    top = max([*shown, round(threshold * 1.15), 1])
    line = height - 1 - min(height - 1, int(threshold / top * height))
    columns = [_column(value, top, height) for value in shown]
    letters: list[list[str]] = []
    kinds: list[list[str]] = []
    for row in range(height):
        cells = [column[row] for column in columns]
        kind = [
            "." if cell == " " else "!" if value > threshold else "=" if below else "#"
            for cell, value, below in zip(cells, shown, _covered(columns, row), strict=True)
        ]
        cells += [" "] * (width - len(cells))
        kind += ["."] * (width - len(kind))
        if row == line and threshold > 0:
            cells = [LINE if cell == " " else cell for cell in cells]
            kind = ["-" if k == "." else k for k in kind]
        letters.append(cells)
        kinds.append(kind)
    for at, mark in falls(contexts, marks).items():
        column = at - start
        if 0 <= column < min(width, len(shown) + 1):
            letters[0][column], kinds[0][column] = mark, "v"
    return Chart(
        tuple("".join(row) for row in letters),
        tuple("".join(row) for row in kinds),
        start + 1 if shown else 0,
        len(contexts),
    )


def falls(contexts: Sequence[int], marks: Mapping[int, str]) -> dict[int, str]:
    """Return the marks and, where the context fell without a known reason, a plain one."""
    found = {
        at: "▾"
        for at in range(1, len(contexts))
        if contexts[at] < contexts[at - 1] * (1 - FALL)
        and not any(near in marks for near in (at - 1, at, at + 1))
    }
    return {**found, **marks}


def _covered(columns: Sequence[Sequence[str]], row: int) -> list[bool]:
    """Return for each column whether its bar goes on above this row."""
    return [row > 0 and column[row - 1] != " " for column in columns]


def _column(value: int, top: int, height: int) -> list[str]:
    eighths = max(1, round(value / top * height * 8)) if value > 0 else 0
    return [BLOCKS[min(8, max(0, eighths - 8 * (height - 1 - row)))] for row in range(height)]
