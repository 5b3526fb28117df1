from __future__ import annotations

import asyncio

import pytest

from app.core.finishing import to_its_end


class Steps:
    """Notes what was done; one step waits until it is let go."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.begun, self.go = asyncio.Event(), asyncio.Event()

    async def slow(self, name: str) -> str:
        self.begun.set()
        await self.go.wait()
        self.done.append(name)
        return name

    async def fails(self) -> None:
        await self.slow("failed")
        raise ValueError("broken")


async def cancelled_while_it_runs(task: asyncio.Task[None], steps: Steps, times: int) -> None:
    await steps.begun.wait()
    for _ in range(times):
        task.cancel("stop")
        await asyncio.sleep(0)
    assert not task.done()
    steps.go.set()
    with pytest.raises(asyncio.CancelledError, match="stop"):
        await task


@pytest.mark.parametrize("times", [1, 3])
async def test_works_in_a_row_are_all_done_before_a_cancellation_is_raised(times: int) -> None:
    steps = Steps()

    async def work() -> None:
        told = await to_its_end(steps.slow("first"))
        steps.done.append(f"told {told}")
        await to_its_end(steps.slow("second"))
        await asyncio.sleep(0)
        steps.done.append("too late")

    await cancelled_while_it_runs(asyncio.create_task(work()), steps, times)
    assert steps.done == ["first", "told first", "second"]


async def test_a_cancellation_is_raised_although_nothing_is_waited_for_afterwards() -> None:
    steps = Steps()

    async def work() -> None:
        await to_its_end(steps.slow("first"))

    await cancelled_while_it_runs(asyncio.create_task(work()), steps, 1)


async def test_what_the_work_raises_is_raised_and_a_cancellation_with_it_is_not_lost() -> None:
    steps = Steps()

    async def work() -> None:
        with pytest.raises(ValueError, match="broken"):
            await to_its_end(steps.fails())
        await asyncio.sleep(0)
        steps.done.append("too late")

    await cancelled_while_it_runs(asyncio.create_task(work()), steps, 1)
    assert steps.done == ["failed"]


async def test_a_time_limit_around_it_strikes_afterwards() -> None:
    steps = Steps()

    async def release() -> None:
        await steps.begun.wait()
        await asyncio.sleep(0)
        steps.go.set()

    releasing = asyncio.create_task(release())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            assert await to_its_end(steps.slow("first")) == "first"
            await asyncio.sleep(0)
    await releasing
    assert steps.done == ["first"]


async def test_work_that_is_cancelled_itself_says_so() -> None:
    async def work() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await to_its_end(work())
