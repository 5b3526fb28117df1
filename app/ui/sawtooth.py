"""The sawtooth: context over requests as rows of block characters, with what changed it marked above. Pure text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from app.core.reports import CompactionReport, Layer, Outcome
from app.ui.format import short_tokens
from app.ui.layer_names import NAMES

if TYPE_CHECKING:
    from app.agent.ledger import Run

BLOCKS = " ▁▂▃▄▅▆▇█"
LINE = "╌"
FALL = 0.15
"""A request this much smaller than the one before is shown as a fall, even when no report says why."""
FELL, UNDONE, RUN = "▾", "↺", "┊"
LEGEND = f"1 2 3 layer that ran · {UNDONE} taken back · {RUN} another run · {FELL} other fall"
WEIGHT = (RUN, FELL, *(name.number for name in NAMES.values()), UNDONE)
"""The marks; where several fall into one column, the last of them here is drawn."""
MARK_ROOM = 3
"""Rows from which on the marks have one of their own."""


@dataclass(frozen=True, slots=True)
class Chart:
    """The chart's rows, top first, and what each cell is."""

    rows: tuple[str, ...]
    kinds: tuple[str, ...]
    """Per row one letter a cell: ``.`` empty, ``#`` top of a bar, ``=`` its body, ``!`` bar above the threshold,
    ``-`` line, ``v`` mark, ``r`` mark of a run. The top of a column that holds several requests begins at the
    smallest of them."""


def marks_of(reports: Iterable[CompactionReport], runs: Sequence[Run] = ()) -> dict[int, str]:
    """Return what is marked: number of requests made before it, to its character.

    Where several fall together, a compaction taken back hides a layer, a higher layer a lower one, and all hide a run.
    """
    marks = {run.requests: RUN for run in runs[1:]}
    for report in reports:
        at = report.requests
        if report.outcome is Outcome.UNDONE:
            marks[at] = UNDONE
        elif report.outcome is Outcome.APPLIED and report.layer is not Layer.ENTRY:
            number, before = NAMES[report.layer].number, marks.get(at, RUN)
            marks[at] = max(number, before) if before.isdigit() else number
    return marks


def columns_of(requests: int, width: int) -> list[range]:
    """Return which requests stand in each column, oldest first, so that all of them are drawn.

    The newest half of the columns holds one each; when the requests do not fit, the older ones share the rest evenly.
    """
    if requests <= width:
        return [range(at, at + 1) for at in range(requests)]
    shared = max(1, width // 2)
    older = requests - (width - shared)
    edges = [older * at // shared for at in range(shared + 1)]
    singles = [range(at, at + 1) for at in range(older, requests)]
    return [range(*pair) for pair in pairwise(edges)] + singles


def chart(
    contexts: Sequence[int],
    marks: Mapping[int, str],
    *,
    threshold: int,
    width: int,
    height: int,
) -> Chart:
    """Return all requests as columns, older ones compressed to the largest of each column when they do not fit.

    Args:
        contexts: Tokens of each request, oldest first.
        marks: Number of requests made when a layer ran, to the character that marks it.
        threshold: Tokens at which layer 2 runs; 0 for none.
        width: Columns.
        height: Rows.
    """
    waits = len(contexts) in marks and width > 1  # its request is still to come, and has a column
    held = columns_of(len(contexts), width - waits)
    highest = [max(contexts[at] for at in each) for each in held]
    lowest = [min(contexts[at] for at in each) for each in held]
    spare = 1 if height >= MARK_ROOM else 0
    tall = height - spare
    top = max([*highest, round(threshold * 1.05), 1])
    line = height - 1 - min(tall - 1, int(threshold / top * tall))
    columns = [[" "] * spare + _column(value, top, tall) for value in highest]
    bodies = [[" "] * spare + _column(value, top, tall) for value in lowest]
    letters: list[list[str]] = []
    kinds: list[list[str]] = []
    for row in range(height):
        cells = [column[row] for column in columns]
        kind = [
            "." if cell == " " else "!" if 0 < threshold < value else "=" if below else "#"
            for cell, value, below in zip(cells, highest, _covered(bodies, row), strict=True)
        ]
        cells += [" "] * (width - len(cells))
        kind += ["."] * (width - len(kind))
        if row == line and threshold > 0:
            cells = [LINE if cell == " " else cell for cell in cells]
            kind = ["-" if k == "." else k for k in kind]
            _label(cells, short_tokens(threshold), free=width - len(held) - waits)
        letters.append(cells)
        kinds.append(kind)
    for column, mark in _marked_columns(held, falls(contexts, marks)).items():
        if column < width:
            letters[0][column], kinds[0][column] = mark, "r" if mark == RUN else "v"
    return Chart(tuple("".join(row) for row in letters), tuple("".join(row) for row in kinds))


def _marked_columns(held: Sequence[range], marks: Mapping[int, str]) -> dict[int, str]:
    """Return the mark of each column: of several in one the one that tells most."""
    firsts = [each.start for each in held]
    found: dict[int, str] = {}
    for at, mark in marks.items():
        column = bisect_right(firsts, at) - 1 if held and at < held[-1].stop else len(held)
        found[column] = max(mark, found.get(column, mark), key=WEIGHT.index)
    return found


def falls(contexts: Sequence[int], marks: Mapping[int, str]) -> dict[int, str]:
    """Return the marks and, where the context fell without a known reason, a plain one."""
    found = {
        at: FELL
        for at in range(1, len(contexts))
        if contexts[at] < contexts[at - 1] * (1 - FALL) and marks.get(at, RUN) == RUN
    }
    return {**marks, **found}


def _label(cells: list[str], text: str, *, free: int) -> None:
    """Write the threshold's figure at the right end of its line, where no column stands."""
    if free > len(text):
        cells[-len(text) :] = text


def _covered(columns: Sequence[Sequence[str]], row: int) -> list[bool]:
    """Return for each column whether its bar goes on above this row."""
    return [row > 0 and column[row - 1] != " " for column in columns]


def _column(value: int, top: int, height: int) -> list[str]:
    eighths = max(1, round(value / top * height * 8)) if value > 0 else 0
    return [BLOCKS[min(8, max(0, eighths - 8 * (height - 1 - row)))] for row in range(height)]
