"""Heights of many sections in blocks; those of a block are made out when it is looked at: a new width costs little."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

BLOCK = 256
"""Sections of a block. All others are only a sum, and sums of this many numbers are quick."""
Extent = tuple[int, int]
"""Rows at any width, and cells that make further rows of a width each."""


class Heights:
    """A growing list of heights in rows: estimates from extents until they are set.

    Args:
        width: Cells of a row.
    """

    __slots__ = ("_blocks", "_cells", "_known", "_rows", "_width", "total")

    def __init__(self, width: int) -> None:
        self._width = width
        self.clear()

    def clear(self) -> None:
        """Forget all sections."""
        self._rows, self._cells = array("q"), array("q")
        self._blocks: list[int] = []
        """Sum of each block."""
        self._known: list[list[int] | None] = []
        """Heights of each block, or None when only their sum was made out."""
        self.total = 0
        """Sum of all heights."""

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[int]:
        for block in range(len(self._blocks)):
            yield from self._open(block)

    def __getitem__(self, index: int) -> int:
        return self._open(index // BLOCK)[index % BLOCK]

    def __setitem__(self, index: int, value: int) -> None:
        block, at = divmod(index, BLOCK)
        known = self._open(block)
        change = value - known[at]
        known[at] = value
        self._blocks[block] += change
        self.total += change

    def resize(self, width: int) -> None:
        """Take another width: all heights are estimates again."""
        self._width = width
        self._blocks = [
            sum(self._rows[at : at + BLOCK]) + sum(self._cells[at : at + BLOCK]) // width
            for at in range(0, len(self._rows), BLOCK)
        ]
        self._known = [None] * len(self._blocks)
        self.total = sum(self._blocks)

    def estimate(self, index: int, extent: Extent) -> None:
        """Give a section another extent, and the height that follows from it."""
        self[index] = self._height(extent)
        self._rows[index], self._cells[index] = extent

    def append(self, extent: Extent) -> None:
        """Add a section at the end."""
        known = self._open(len(self._blocks) - 1) if len(self._rows) % BLOCK else self._begin()
        value = self._height(extent)
        self._rows.append(extent[0])
        self._cells.append(extent[1])
        known.append(value)
        self._blocks[-1] += value
        self.total += value

    def pop(self) -> None:
        """Take the last section away."""
        known = self._open(len(self._blocks) - 1)
        value = known.pop()
        self._rows.pop()
        self._cells.pop()
        self._blocks[-1] -= value
        self.total -= value
        if not known:
            self._blocks.pop()
            self._known.pop()

    def prepend(self, extents: Sequence[Extent]) -> None:
        """Put sections in front of all others, which keep their heights."""
        values = [*map(self._height, extents), *self]
        self._rows = array("q", [rows for rows, _ in extents]) + self._rows
        self._cells = array("q", [cells for _, cells in extents]) + self._cells
        self._divide(values)

    def keep(self, indexes: Sequence[int]) -> None:
        """Take all sections away but these."""
        values = list(self)
        self._rows = array("q", [self._rows[at] for at in indexes])
        self._cells = array("q", [self._cells[at] for at in indexes])
        self._divide([values[at] for at in indexes])

    def before(self, index: int) -> int:
        """Return the sum of the heights in front of ``index``; ``len`` gives the total."""
        block, at = divmod(index, BLOCK)
        inside = sum(self._open(block)[:at]) if at else 0
        return sum(self._blocks[:block]) + inside

    def find(self, row: int) -> tuple[int, int]:
        """Return (index, row in it) of a row of the whole; rows outside give the first or the last one.

        Raises:
            IndexError: There are no heights.
        """
        if not len(self):
            raise IndexError("no heights")
        if row >= self.total:
            last = len(self) - 1
            return last, max(0, self[last] - 1)
        block, rest = _place(self._blocks, max(0, row))
        at, rest = _place(self._open(block), rest)
        return block * BLOCK + at, rest

    def _height(self, extent: Extent) -> int:
        return extent[0] + extent[1] // self._width

    def _begin(self) -> list[int]:
        known: list[int] = []
        self._known.append(known)
        self._blocks.append(0)
        return known

    def _open(self, block: int) -> list[int]:
        """Return the heights of a block. They add up to what its sum was: nothing moves because it was looked at."""
        known = self._known[block]
        if known is None:
            here = slice(block * BLOCK, (block + 1) * BLOCK)
            wraps = [cells // self._width for cells in accumulate(self._cells[here])]
            earlier = [0, *wraps]
            known = self._known[block] = [
                rows + wrap - before
                for rows, wrap, before in zip(self._rows[here], wraps, earlier, strict=False)
            ]
        return known

    def _divide(self, values: Sequence[int]) -> None:
        self._known = [list(values[at : at + BLOCK]) for at in range(0, len(values), BLOCK)]
        self._blocks = [sum(known or ()) for known in self._known]
        self.total = sum(self._blocks)


def _place(heights: Iterable[int], row: int) -> tuple[int, int]:
    """Return (index, row in it) of a row among heights that reach beyond it."""
    ends = list(accumulate(heights))
    at = bisect_right(ends, row)
    return at, row - (ends[at - 1] if at else 0)
