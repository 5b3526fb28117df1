"""From a coroutine that tells events to an async iterator that yields them; the one place that knows what runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Self

from app.core.events import Event

Tell = Callable[[Event], None]
"""Hands an event to the front end; never blocks."""


class Work:
    """One piece of running work, read as an async iterator of the events it tells.

    Its exception is raised after the last event. Closing it, or cancelling the task that reads it, cancels the work and
    waits until it has ended.
    """

    def __init__(self, run: Callable[[Tell], Awaitable[object]], before: Work | None) -> None:
        self._run = run
        self._before = before
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._begun = self._unwanted = False
        self._task = asyncio.create_task(self._body())

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._task.done()

    def cancel(self) -> None:
        """Ask it to stop; a reader still sees what it tells, and a normal end."""
        self._unwanted = True
        if self._begun:
            self._task.cancel()

    async def ended(self) -> None:
        """Return when it has ended, in whatever way."""
        if not self._task.done():
            await asyncio.wait([self._task])

    async def aclose(self) -> None:
        """Cancel it and wait until it has ended."""
        self.cancel()
        await self.ended()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        try:
            event = None if self.over and self._events.empty() else await self._events.get()
            if event is None:
                await self.ended()
        except asyncio.CancelledError:
            await self.aclose()
            raise
        if event is not None:
            return event
        if not self._task.cancelled():
            self._task.result()
        raise StopAsyncIteration

    async def _body(self) -> None:
        self._begun = True
        if self._unwanted:  # cancelled from the inside, so that even now it tells how it ends
            self._task.cancel()
        try:
            if self._before is not None:
                await self._before.ended()
                self._before = None
            await self._run(self._events.put_nowait)
        finally:
            self._events.put_nowait(None)


class Channel:
    """Runs one piece of work at a time; a second waits for the first."""

    def __init__(self) -> None:
        self._works: list[Work] = []

    @property
    def busy(self) -> bool:
        """Whether work is running or waits to run."""
        return bool(self._unfinished())

    def run(self, work: Callable[[Tell], Awaitable[object]]) -> Work:
        """Begin a piece of work; from here on the channel is busy."""
        before = self._unfinished()
        begun = Work(work, before[-1] if before else None)
        self._works = [*before, begun]
        return begun

    def cancel(self) -> None:
        """Ask the running work to stop; what waits for it runs then."""
        for work in self._unfinished()[:1]:
            work.cancel()

    async def stop(self) -> None:
        """Cancel everything and wait until it has ended."""
        for work in reversed(self._unfinished()):
            await work.aclose()

    def _unfinished(self) -> list[Work]:
        return [work for work in self._works if not work.over]
