"""Killed at any instant, a session goes on: nothing lost, nothing twice, every request valid. The long form: README."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.campaign import Figures, every_operation, random_kills
from tests.crash.faults import FAILS
from tests.crash.ledger import Ledger
from tests.crash.record_check import judge
from tests.crash.spawner import Spawner
from tests.crash.work import Place

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.xdist_group("crash")]


def end_of(runs: Iterator[Figures]) -> Figures:
    *_, figures = runs
    assert figures.told == []
    return figures


def test_a_kill_at_any_operation_of_a_turn_loses_nothing(tmp_path: Path, spawner: Spawner) -> None:
    figures = end_of(every_operation("print", tmp_path, spawner, stride=97, offset=17))
    assert figures.kills == figures.resumed > 4


def test_a_kill_at_any_operation_in_the_app_loses_nothing(tmp_path: Path, spawner: Spawner) -> None:
    figures = end_of(every_operation("app", tmp_path, spawner, stride=139, offset=57))
    assert figures.kills == figures.resumed > 1


def test_a_kill_at_any_instant_loses_nothing(tmp_path: Path, spawner: Spawner) -> None:
    figures = end_of(random_kills("print", 6, tmp_path, spawner, seed=1))
    assert figures.resumed == figures.kills


def test_a_failure_of_any_operation_stops_the_turn_with_a_word_and_loses_nothing(
    tmp_path: Path, spawner: Spawner
) -> None:
    runs = every_operation("print", tmp_path, spawner, strikes=FAILS, stride=71, offset=11)
    figures = end_of(runs)
    assert figures.failures == figures.resumed > 3


def test_the_judge_sees_each_kind_of_damage(place: Place) -> None:
    """A judge that finds nothing proves nothing: each kind of damage is made here and must be found."""
    place.print(place.text())
    assert place.look(resumed=True).problems == []
    session, ledger = place.session, place.ledger
    assert session is not None
    path = session / "transcript_0001.jsonl"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)

    def told(data: bytes, ledger: Ledger = ledger) -> str:
        path.write_bytes(data)
        return " ".join(judge(session, ledger, {}, resumed=True).problems)

    assert "half a line" in told(whole + b'{"v":1')
    assert "follows message" in told(b"".join(lines[:-1] + lines[-2:]))
    assert "the answer" in told(b"".join(lines[:-1]))
    assert "is missing" in told(b"".join(lines[:2] + lines[3:]))
    assert "is damaged" in told(b"".join([*lines[:2], b"half" + lines[2], *lines[3:]]))
    assert "does not hold the words" in told(whole.replace(b"one by one", b"all at once"))
    assert "the finished result" in told(whole.replace(b"def settle", b"def kettle"))
    assert "does not begin with what it held" in " ".join(
        judge(session, ledger, place.before, resumed=True).problems
    )
    assert "was left behind" in (
        (session / "x.tmp").touch() or told(whole)  # type: ignore[func-returns-value]
    )
