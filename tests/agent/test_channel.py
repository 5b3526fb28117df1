"""One piece of work at a time: who waits, what a reader sees, and what cancelling leaves."""

from __future__ import annotations

import asyncio

import pytest

from app.agent.channel import Channel, Tell
from app.core.events import Notice
from app.errors import PalError


def says(text: str, hold: asyncio.Event | None = None):
    async def work(tell: Tell) -> None:
        tell(Notice(f"{text} begins"))
        try:
            await (hold.wait() if hold else asyncio.sleep(0))
        finally:
            tell(Notice(f"{text} ends"))

    return work


async def read(work) -> list[str]:
    return [event.text async for event in work]


async def test_work_is_running_from_the_moment_it_is_asked_for() -> None:
    channel = Channel()
    assert not channel.busy
    work = channel.run(says("one"))
    assert channel.busy
    assert await read(work) == ["one begins", "one ends"]
    assert not channel.busy


async def test_a_second_piece_of_work_waits_for_the_first() -> None:
    channel, hold, told = Channel(), asyncio.Event(), []
    first = channel.run(says("one", hold))
    second = channel.run(says("two"))

    async def note(work) -> None:
        told.extend(await read(work))

    readers = asyncio.gather(note(second), note(first))
    await asyncio.sleep(0)
    hold.set()
    await readers
    assert told == ["one begins", "one ends", "two begins", "two ends"]


async def test_cancelling_stops_what_runs_and_lets_what_waits_run() -> None:
    channel = Channel()
    first = channel.run(says("one", asyncio.Event()))
    second = channel.run(says("two"))
    await anext(first)
    channel.cancel()
    assert await read(first) == ["one ends"]
    assert await read(second) == ["two begins", "two ends"]


async def test_work_cancelled_before_its_first_step_still_tells_how_it_ends() -> None:
    channel = Channel()
    work = channel.run(says("one", asyncio.Event()))
    channel.cancel()
    assert await read(work) == ["one begins", "one ends"]


async def test_a_reader_that_is_cancelled_ends_the_work() -> None:
    channel = Channel()
    work = channel.run(says("one", asyncio.Event()))
    reader = asyncio.create_task(read(work))
    await asyncio.sleep(0)
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert not channel.busy


async def test_an_error_comes_after_the_last_event() -> None:
    async def fails(tell: Tell) -> None:
        tell(Notice("before"))
        raise PalError("it broke")

    work = Channel().run(fails)
    assert (await anext(work)).text == "before"
    with pytest.raises(PalError, match="it broke"):
        await anext(work)


async def test_stopping_ends_what_runs_and_what_waits() -> None:
    channel = Channel()
    first = channel.run(says("one", asyncio.Event()))
    second = channel.run(says("two", asyncio.Event()))
    await anext(first)
    await channel.stop()
    assert first.over and second.over and not channel.busy
