"""Heights of many sections in a Fenwick tree: the sum before one, and the one at a row, in logarithmic time."""

from __future__ import annotations

from collections.abc import Iterable


class Heights:
    """A growing list of heights in rows, none of them negative."""

    __slots__ = ("_tree", "_values", "total")

    def __init__(self, values: Iterable[int] = ()) -> None:
        self._values: list[int] = []
        self._tree: list[int] = [0]
        self.total = 0
        """Sum of all heights."""
        self.refill(values)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: int) -> int:
        return self._values[index]

    def refill(self, values: Iterable[int]) -> None:
        """Replace all heights, in linear time."""
        self._values = list(values)
        tree = [0, *self._values]
        for at in range(1, len(tree)):
            above = at + (at & -at)
            if above < len(tree):
                tree[above] += tree[at]
        self._tree = tree
        self.total = sum(self._values)

    def append(self, value: int) -> None:
        """Add a height at the end."""
        self._values.append(value)
        at = len(self._tree)
        node, below = value, at - 1
        stop = at - (at & -at)
        while below > stop:
            node += self._tree[below]
            below -= below & -below
        self._tree.append(node)
        self.total += value

    def pop(self) -> int:
        """Take the last height away and return it."""
        value = self._values.pop()
        self._tree.pop()
        self.total -= value
        return value

    def __setitem__(self, index: int, value: int) -> None:
        change = value - self._values[index]
        if not change:
            return
        self._values[index] = value
        self.total += change
        at = index + 1
        while at < len(self._tree):
            self._tree[at] += change
            at += at & -at

    def before(self, index: int) -> int:
        """Return the sum of the heights in front of ``index``; ``len`` gives the total."""
        total = 0
        while index > 0:
            total += self._tree[index]
            index -= index & -index
        return total

    def find(self, row: int) -> tuple[int, int]:
        """Return (index, row in it) of a row of the whole; rows outside give the first or the last one.

        Raises:
            IndexError: There are no heights.
        """
        if not self._values:
            raise IndexError("no heights")
        if row >= self.total:
            return len(self._values) - 1, max(0, self._values[-1] - 1)
        rest, at = max(0, row), 0
        step = 1 << (len(self._values).bit_length() - 1)
        while step:
            after = at + step
            if after < len(self._tree) and self._tree[after] <= rest:
                at = after
                rest -= self._tree[at]
            step >>= 1
        return at, rest
