"""The targets of the fuzzing hold for their seeds, and for seeds that were changed at random."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.__main__ import mutated
from tests.fuzz.seeds import seeds
from tests.fuzz.targets import TARGETS, fuzz_edit, fuzz_judge, fuzz_sanitiser


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_every_target_holds_for_its_seeds_and_for_some_that_were_changed(name: str) -> None:
    begin, chance = seeds(name), random.Random(7)
    for data in begin[:200]:
        TARGETS[name](data)
    for _ in range(150):
        TARGETS[name](mutated(chance, begin))


@given(st.binary(max_size=80))
@settings(max_examples=100)
def test_any_bytes_hold(data: bytes) -> None:
    for target in (fuzz_judge, fuzz_sanitiser, fuzz_edit):
        target(data)
