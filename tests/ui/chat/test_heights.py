from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from app.ui.chat.heights import Heights


class HeightsAgainstList(RuleBasedStateMachine):
    """The tree and a plain list are told the same and must say the same."""

    def __init__(self) -> None:
        super().__init__()
        self.tree = Heights()
        self.plain: list[int] = []

    @rule(value=st.integers(0, 50))
    def append(self, value: int) -> None:
        self.tree.append(value)
        self.plain.append(value)

    @rule()
    def pop(self) -> None:
        if self.plain:
            assert self.tree.pop() == self.plain.pop()

    @rule(at=st.integers(0, 1_000), value=st.integers(0, 50))
    def change(self, at: int, value: int) -> None:
        if self.plain:
            self.tree[at % len(self.plain)] = value
            self.plain[at % len(self.plain)] = value

    @rule(values=st.lists(st.integers(0, 50), max_size=20))
    def refill(self, values: list[int]) -> None:
        self.tree.refill(values)
        self.plain = list(values)

    @invariant()
    def sums_agree(self) -> None:
        assert self.tree.total == sum(self.plain)
        assert [self.tree.before(at) for at in range(len(self.plain) + 1)] == [
            0,
            *accumulate(self.plain),
        ]


TestHeightsAgainstList = HeightsAgainstList.TestCase
TestHeightsAgainstList.settings = settings(max_examples=30, stateful_step_count=30)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=60))
def test_every_row_is_found_in_the_section_it_belongs_to(values: list[int]) -> None:
    heights = Heights(values)
    expected = [(at, row) for at, value in enumerate(values) for row in range(value)]
    assert [heights.find(row) for row in range(heights.total)] == expected


def test_rows_outside_give_the_first_and_the_last_row() -> None:
    heights = Heights([3, 2])
    assert heights.find(-5) == (0, 0)
    assert heights.find(99) == (1, 1)


def test_nothing_can_be_found_among_no_heights() -> None:
    with pytest.raises(IndexError):
        Heights().find(0)


def test_sections_without_rows_are_never_found() -> None:
    assert Heights([2, 0, 0, 3]).find(2) == (3, 0)
