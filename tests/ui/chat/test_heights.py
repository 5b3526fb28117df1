from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from app.ui.chat import heights
from app.ui.chat.heights import Extent, Heights

EXTENTS = st.tuples(st.integers(0, 9), st.integers(0, 400))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heights, "BLOCK", 4)


def with_rows(values: list[int]) -> Heights:
    found = Heights(80)
    for value in values:
        found.append((value, 0))
    return found


class HeightsAgainstList(RuleBasedStateMachine):
    """The blocks and a plain list are told the same and must say the same."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = Heights(80)
        self.plain: list[int] = []
        self.width = 80

    def height(self, extent: Extent) -> int:
        return extent[0] + extent[1] // self.width

    @rule(extent=EXTENTS)
    def append(self, extent: Extent) -> None:
        self.blocks.append(extent)
        self.plain.append(self.height(extent))

    @rule(extents=st.lists(EXTENTS, max_size=9))
    def prepend(self, extents: list[Extent]) -> None:
        self.blocks.prepend(extents)
        self.plain[:0] = [self.height(extent) for extent in extents]

    @rule()
    def pop(self) -> None:
        if self.plain:
            self.blocks.pop()
            self.plain.pop()

    @rule(at=st.integers(0, 1_000), value=st.integers(0, 50))
    def measure(self, at: int, value: int) -> None:
        if self.plain:
            self.blocks[at % len(self.plain)] = value
            self.plain[at % len(self.plain)] = value

    @rule(at=st.integers(0, 1_000), extent=EXTENTS)
    def change(self, at: int, extent: Extent) -> None:
        if self.plain:
            self.blocks.estimate(at % len(self.plain), extent)
            self.plain[at % len(self.plain)] = self.height(extent)

    @rule(step=st.integers(1, 4))
    def keep(self, step: int) -> None:
        self.blocks.keep(range(0, len(self.plain), step))
        self.plain = self.plain[::step]

    @rule()
    def clear(self) -> None:
        self.blocks.clear()
        self.plain = []

    @invariant()
    def sums_agree(self) -> None:
        assert self.blocks.total == sum(self.plain)
        assert list(self.blocks) == self.plain
        assert [self.blocks.before(at) for at in range(len(self.plain) + 1)] == [
            0,
            *accumulate(self.plain),
        ]


TestHeightsAgainstList = HeightsAgainstList.TestCase
TestHeightsAgainstList.settings = settings(max_examples=30, stateful_step_count=30)


@given(st.lists(EXTENTS, min_size=1, max_size=40), st.integers(8, 200), st.data())
def test_looking_at_a_height_after_a_new_width_moves_nothing(
    extents: list[Extent], width: int, data: st.DataObject
) -> None:
    found = Heights(80)
    for extent in extents:
        found.append(extent)
    found.resize(width)
    total, ends = found.total, [found.before(at) for at in range(0, len(extents), heights.BLOCK)]
    found[data.draw(st.integers(0, len(extents) - 1))]
    assert found.total == total == sum(found)
    assert [found.before(at) for at in range(0, len(extents), heights.BLOCK)] == ends
    assert all(
        rows <= height <= rows + cells // width + 1
        for height, (rows, cells) in zip(found, extents, strict=True)
    )


@given(st.lists(st.integers(1, 9), min_size=1, max_size=60))
def test_every_row_is_found_in_the_section_it_belongs_to(values: list[int]) -> None:
    found = with_rows(values)
    expected = [(at, row) for at, value in enumerate(values) for row in range(value)]
    assert [found.find(row) for row in range(found.total)] == expected


def test_rows_outside_give_the_first_and_the_last_row() -> None:
    found = with_rows([3, 2])
    assert found.find(-5) == (0, 0)
    assert found.find(99) == (1, 1)


def test_nothing_can_be_found_among_no_heights() -> None:
    with pytest.raises(IndexError):
        Heights(80).find(0)


def test_sections_without_rows_are_never_found() -> None:
    assert with_rows([2, 0, 0, 3]).find(2) == (3, 0)
    assert with_rows([2, 0, 0, 0, 0, 0, 3]).find(2) == (6, 0)
