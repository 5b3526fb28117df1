"""Every fault of an endpoint at every point of a turn: it is waited out, mended or told, and the session goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from app.agent.queue import Typed
from app.core.events import ErrorRaised, RetryWaiting, TextArrived, TurnEnd
from app.core.reports import Outcome
from tests.agent.rig import ended, of, small
from tests.fakes.fast_time import run_fast
from tests.wire.bench import AGAIN, TASK, Bench, Brain, bench, compactions, waits
from tests.wire.faults import CELLS, ENDING, HALF, INSIDE, Fault, Point, Then

SUMMARIES = (Point.SUMMARY, Point.HALF_SUMMARY)
TURN_CELLS = [cell for cell in CELLS if cell[1] not in SUMMARIES]
WAITED_OUT = [cell for cell in TURN_CELLS if cell[0].then is Then.AGAIN]
SUMMARY_CELLS = [cell for cell in CELLS if cell[1] in SUMMARIES]
ALWAYS = 1_000
QUICK = ("429", "529", "a reset", "a clean end without message_stop", "a web page with 200")
"""Faults that are tried everywhere in each run of the tests; the whole table takes more than a minute."""


def name(value: object) -> str:
    return value.name if isinstance(value, Fault) else str(value).replace(" ", "-")


def cells(wanted: list[tuple[Fault, Point]], quick: tuple[str, ...] = QUICK) -> list[Any]:
    """The cells as parameters, all but the quick ones marked as slow."""
    return [
        pytest.param(f, p, marks=() if f.name in quick else pytest.mark.slow) for f, p in wanted
    ]


ONCE = tuple(fault.name for fault, _ in TURN_CELLS if not fault.silence)


def backoff(fault: Fault) -> list[float]:
    """The pauses before the second, third … attempt."""
    if fault.pause != 1.0:
        return [float(fault.pause or 0)] * (fault.attempts - 1)
    return [2.0**n for n in range(fault.attempts - 1)]


async def still_works(bench: Bench) -> None:
    """After whatever happened: the next message is answered, and nothing that was sent or said went wrong."""
    bench.brain.times = 0
    events = await bench.run(AGAIN)
    assert ended(events).end is TurnEnd.DONE, of(events, ErrorRaised)
    said = bench.said(bench.brain.bodies[-1])
    assert any(TASK in text for text in said) and AGAIN in said
    assert bench.brain.problems == []
    assert HALF not in str(bench.brain.bodies[-1])
    assert "ghost" not in bench.ran or bench.brain.point in ENDING
    assert len(bench.ran) == len(set(bench.ran))


def told(events: list[object], fault: Fault) -> None:
    """The message says what happened and the hint what to do."""
    (error,) = of(events, ErrorRaised)  # type: ignore[arg-type]
    assert fault.says in error.message
    assert fault.todo in error.hint
    assert "Traceback" not in error.message and "sk-test-1" not in error.message


@pytest.mark.parametrize(("fault", "point"), cells(TURN_CELLS, ONCE), ids=name)
def test_a_fault_that_passes(fault: Fault, point: Point, tmp_path: Path) -> None:
    async def check() -> None:
        brain = Brain(lambda: fault.reply(point), point, times=1)
        async with bench(tmp_path, brain) as desk:
            started = asyncio.get_running_loop().time()
            events = await desk.run(TASK)
            took = asyncio.get_running_loop().time() - started
            good = {Then.AGAIN: 3, Then.COUNTS: 2, Then.FAILS: 1 + (point is Point.AFTER_TOOL)}
            assert desk.posts() == good[fault.then]
            if fault.then is Then.FAILS:
                told(events, fault)
                assert ended(events).end is TurnEnd.FAILED
                assert waits(events) == []
                assert desk.ran == (["step"] if point is Point.AFTER_TOOL else [])
            else:
                assert ended(events).end is TurnEnd.DONE, of(events, ErrorRaised)
                assert ended(events).text == "Done."
                assert desk.ran == ["ghost" if fault.then is Then.COUNTS else "step"]
            if fault.then is Then.AGAIN:
                (wait,) = of(events, RetryWaiting)
                assert fault.says in wait.reason
                assert (wait.attempt, wait.attempts, wait.seconds) == (
                    1,
                    fault.attempts,
                    fault.pause,
                )
                assert took == pytest.approx(fault.silence + wait.seconds, abs=41)
            if fault.then is not Then.COUNTS:
                await desk.check_bills(cut=point in (*INSIDE, *ENDING))
            await still_works(desk)

    run_fast(check())


@pytest.mark.parametrize(("fault", "point"), cells(WAITED_OUT), ids=name)
def test_a_fault_that_stays(fault: Fault, point: Point, tmp_path: Path) -> None:
    async def check() -> None:
        brain = Brain(lambda: fault.reply(point), point, times=ALWAYS)
        async with bench(tmp_path, brain) as desk:
            events = await desk.run(TASK)
            assert ended(events).end is TurnEnd.FAILED
            told(events, fault)
            assert waits(events) == backoff(fault)
            assert desk.posts() == fault.attempts + (point is Point.AFTER_TOOL)
            assert desk.ran == (["step"] if point is Point.AFTER_TOOL else [])
            await still_works(desk)

    run_fast(check())


@pytest.mark.parametrize(("fault", "point"), cells(WAITED_OUT), ids=name)
def test_a_wait_that_is_cancelled(fault: Fault, point: Point, tmp_path: Path) -> None:
    """Esc ends the pause at once; a message typed during it is not lost."""

    async def check() -> None:
        brain = Brain(lambda: fault.reply(point), point, times=ALWAYS)
        async with bench(tmp_path, brain) as desk:
            loop, events = asyncio.get_running_loop(), []
            pressed = 0.0
            async for event in desk.session.submit(TASK):
                events.append(event)
                if isinstance(event, RetryWaiting):
                    await desk.session.enqueue("typed ahead")
                    pressed = loop.time()
                    desk.session.cancel()
            assert loop.time() - pressed < 0.5
            assert ended(events).end is TurnEnd.CANCELLED
            assert desk.posts() == 1 + (point is Point.AFTER_TOOL)
            assert await desk.session.take_back() == Typed("typed ahead")
            await still_works(desk)

    run_fast(check())


@pytest.mark.parametrize(("fault", "point"), cells(SUMMARY_CELLS), ids=name)
@pytest.mark.parametrize("times", [1, ALWAYS], ids=["passes", "stays"])
def test_a_fault_of_the_summary_call(
    fault: Fault, point: Point, times: int, tmp_path: Path
) -> None:
    async def check() -> None:
        brain = Brain(lambda: fault.reply(point), point)
        async with bench(tmp_path, brain, policy=small(5_000)) as desk:
            for text in ("one", "two", "three"):
                assert ended(await desk.run(text)).end is TurnEnd.DONE
            brain.times = times
            events = await desk.run(TASK)
            assert ended(events).end is TurnEnd.DONE, of(events, ErrorRaised)
            assert desk.ran == ["step"]
            reports = compactions(events)
            assert reports
            last = reports[0]
            if fault.then is Then.AGAIN and times == 1:
                assert last.outcome is Outcome.APPLIED
                assert last.method == "summary"
                assert waits(events) == [fault.pause]
            elif fault.then is Then.FAILS:
                assert last.outcome is Outcome.FAILED
                assert fault.says in last.reason
                assert waits(events) == []
            else:
                assert last.outcome is not Outcome.HELD
                assert fault.says in last.reason or last.method == "digest"
            begun = point is Point.HALF_SUMMARY
            await desk.check_bills(cut=begun * (len(brain.bodies) - brain.answered))
            await still_works(desk)

    run_fast(check())


def test_nothing_of_a_void_answer_is_shown_twice_but_it_is_counted(tmp_path: Path) -> None:
    fault, point = next(cell for cell in WAITED_OUT if cell[1] is Point.TEXT)

    async def check() -> None:
        brain = Brain(lambda: fault.reply(point), point, times=2)
        async with bench(tmp_path, brain) as desk:
            shown = ""
            for event in await desk.run(AGAIN):
                if isinstance(event, RetryWaiting):
                    shown = ""
                elif isinstance(event, TextArrived):
                    shown += event.text
            assert shown == "Still here."
            assert await desk.check_bills(cut=2) == 2, "what came of them was paid for"

    run_fast(check())
