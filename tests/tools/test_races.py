"""Links swapped in while tools read and write: no race is ever won, however often it is run."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools import racing
from tests.tools.racing import ACTS, PATHS, Act, Arena, reading

pytestmark = pytest.mark.skipif(not racing.POSSIBLE, reason="names cannot be exchanged here")


@pytest.fixture
def arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Arena]:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # a busy disk would hold thousands up
    with racing.arena(tmp_path) as made:
        yield made
    assert made.is_whole


def race(arena: Arena, act: Act, path: str, least: int) -> None:
    """Try something often, and longer until it went through at times, and at other times met the link.

    Not for ever: with little luck on a busy machine it never meets it.
    """
    attempt = act(arena.root, path)
    seen: Counter[str] = Counter()
    while (done := sum(seen.values())) < least or (
        done < 20 * least and not (seen["through"] and seen["outside"])
    ):
        seen[racing.tried(attempt)] += 1
        arena.renew()
    assert not seen["won"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("act", ACTS)
def test_no_link_that_is_swapped_in_is_followed(arena: Arena, act: Act, path: str) -> None:
    race(arena, act, path, 60)


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("act", ACTS)
def test_thousands_of_swaps_win_no_race(arena: Arena, act: Act, path: str) -> None:
    race(arena, act, path, 10_000 if act is reading else 600)
