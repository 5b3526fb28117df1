"""A network that goes away for minutes and comes back: the turn waits in sight and goes on; a wrong address does not wait."""

from __future__ import annotations

import asyncio
import errno
import socket
from pathlib import Path

import httpx2
import pytest

from app.core.events import ErrorRaised, RetryWaiting, TurnEnd
from tests.agent.rig import ended, of
from tests.fakes.fast_time import run_fast
from tests.wire.bench import AGAIN, TASK, Brain, bench, waits

LONGEST = [1.0, 2.0, 4.0, 8.0, 16.0, *[32.0] * 6]
"""The pauses before a lost endpoint is given up: somewhat less than four minutes."""


class Cable(httpx2.AsyncHTTPTransport):
    """Real sockets, until it is pulled out."""

    def __init__(self, why: OSError) -> None:
        super().__init__(verify=False)
        self.why = why
        self.back_at = 0.0
        """Time of the loop at which it is put in again."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if asyncio.get_running_loop().time() < self.back_at:
            raise httpx2.ConnectError("All connection attempts failed") from self.why
        return await super().handle_async_request(request)


GONE = {
    "no name": (socket.gaierror(socket.EAI_AGAIN, "Temporary failure"), "is not known"),
    "no route": (OSError(errno.ENETUNREACH, "Network is unreachable"), "Network is unreachable"),
    "refused": (ConnectionRefusedError(errno.ECONNREFUSED, "refused"), "refused"),
}


@pytest.mark.parametrize(("why", "words"), GONE.values(), ids=GONE)
def test_a_network_that_comes_back_after_three_minutes_is_waited_for(
    why: OSError, words: str, tmp_path: Path
) -> None:
    async def check() -> None:
        cable, loop = Cable(why), asyncio.get_running_loop()
        async with bench(tmp_path, Brain(), transport=cable) as desk:
            await desk.run("hello")
            cable.back_at = loop.time() + 180
            events = await desk.run(TASK)
            assert ended(events).end is TurnEnd.DONE, of(events, ErrorRaised)
            assert waits(events) == LONGEST[: len(waits(events))]
            assert sum(waits(events)) >= 180
            assert all(words in event.reason for event in of(events, RetryWaiting))
            assert desk.ran == ["step"]

    run_fast(check())


@pytest.mark.parametrize(("why", "words"), GONE.values(), ids=GONE)
def test_a_network_that_stays_away_is_told_and_the_session_works_when_it_is_back(
    why: OSError, words: str, tmp_path: Path
) -> None:
    async def check() -> None:
        cable, loop = Cable(why), asyncio.get_running_loop()
        async with bench(tmp_path, Brain(), transport=cable) as desk:
            await desk.run("hello")
            cable.back_at = loop.time() + 3_600
            events = await desk.run(TASK)
            assert ended(events).end is TurnEnd.FAILED
            assert waits(events) == LONGEST
            (error,) = of(events, ErrorRaised)
            assert words in error.message
            assert "ANTHROPIC_BASE_URL" in error.hint
            cable.back_at = 0.0
            events = await desk.run(AGAIN)
            assert ended(events).end is TurnEnd.DONE
            assert any(TASK in text for text in desk.said(desk.brain.bodies[-1]))
            assert desk.brain.problems == []

    run_fast(check())


@pytest.mark.parametrize(("why", "words"), GONE.values(), ids=GONE)
def test_an_address_that_never_answered_is_given_up_after_a_second(
    why: OSError, words: str, tmp_path: Path
) -> None:
    async def check() -> None:
        cable = Cable(why)
        cable.back_at = float("inf")
        async with bench(tmp_path, Brain(), transport=cable) as desk:
            events = await desk.run(TASK)
            assert ended(events).end is TurnEnd.FAILED
            assert waits(events) == [1.0]
            (error,) = of(events, ErrorRaised)
            assert words in error.message

    run_fast(check())
