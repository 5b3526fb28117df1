"""Tables fitted to a width: columns shrink and their cells wrap; where even that fails, rows become records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from app.ui.chat.lines import Line, Run, part_of, wrap

BETWEEN = " │ "
NARROWEST_COLUMN = 6
"""Cells a column needs on average; below it the table is written as records."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell."""

    runs: list[Run]
    align: str = ""
    """"left", "center", "right" or ""."""

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.runs)


def table_lines(rows: Sequence[Sequence[Cell]], width: int, drawn: int = 0) -> list[Line]:
    """Return the lines of a table whose first row is its head; each is at most ``width`` cells.

    Args:
        rows: All rows.
        width: Cells of a line.
        drawn: First rows that only set the widths, for they were drawn before; 0 draws all.
    """
    measured = rows[:drawn] if drawn else rows
    columns = max((len(row) for row in rows), default=0)
    if not columns:
        return []
    natural = [
        max([1, *(cell_len(row[at].text) for row in measured if at < len(row))])
        for at in range(columns)
    ]
    room = width - len(BETWEEN) * (columns - 1)
    if sum(natural) > room and room < NARROWEST_COLUMN * columns:
        return _records(rows[0], rows[max(1, drawn) :])
    widths = column_widths(natural, room)
    wrapped = sum(natural) > room
    rule = Line([("─┼─".join("─" * each for each in widths), ("table-rule",))])
    lines: list[Line] = []
    for number, row in enumerate(rows[drawn:], start=drawn):
        if number == 1 or (wrapped and number > 1):
            lines.append(rule)
        lines += _row_lines(row, widths)
    if len(rows) == 1:
        lines.append(rule)
    return lines


def column_widths(natural: Sequence[int], room: int) -> list[int]:
    """Return widths that add up to at most ``room``: narrow columns keep theirs, wide ones share the rest."""
    if sum(natural) <= room:
        return list(natural)
    widths = [0] * len(natural)
    left, open_columns = room, sorted(range(len(natural)), key=lambda at: natural[at])
    while open_columns:
        share = left // len(open_columns)
        at = open_columns.pop(0)
        widths[at] = max(1, min(natural[at], share))
        left -= widths[at]
    return widths


def _row_lines(row: Sequence[Cell], widths: Sequence[int]) -> list[Line]:
    """Return the lines of one row, as many as its highest cell has."""
    cells = [*row, *[Cell([])] * (len(widths) - len(row))]
    columns = [
        [part_of(cell.runs, start, end) for start, end in wrap(cell.text, max(2, width))]
        for cell, width in zip(cells, widths, strict=False)
    ]
    lines = []
    for at in range(max(len(column) for column in columns)):
        runs: list[Run] = []
        for number, (cell, column, width) in enumerate(zip(cells, columns, widths, strict=False)):
            if number:
                runs.append((BETWEEN, ("table-rule",)))
            part = column[at] if at < len(column) else []
            runs += _aligned(part, cell.align, width, last=number == len(widths) - 1)
        lines.append(Line(runs, by_cells=True))
    return lines


def _aligned(runs: list[Run], align: str, width: int, *, last: bool) -> list[Run]:
    blank = max(0, width - sum(cell_len(text) for text, _ in runs))
    left = blank if align == "right" else blank // 2 if align == "center" else 0
    before: list[Run] = [(" " * left, ())] if left else []
    after: list[Run] = [(" " * (blank - left), ())] if blank > left and not last else []
    return [*before, *runs, *after]


def _records(heads: Sequence[Cell], rows: Sequence[Sequence[Cell]]) -> list[Line]:
    """Return each row as lines of ``head: value``."""
    lines: list[Line] = []
    for number, row in enumerate(rows):
        if number:
            lines.append(Line())
        for head, cell in zip(heads, row, strict=False):
            label: list[Run] = [*head.runs, (": ", ("muted",))] if head.runs else []
            lines.append(Line([*label, *cell.runs]))
    return lines
