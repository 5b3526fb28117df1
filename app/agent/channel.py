"""From a coroutine that tells events to an async iterator that yields them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

from app.core.events import Event

Tell = Callable[[Event], None]
"""Hands an event to the front end; never blocks."""


class Channel:
    """Runs one piece of work at a time in a task of its own and yields what it tells; a second waits for the first.

    Closing the iterator, or cancelling the task that reads it, cancels the work and waits until it has ended.
    `cancel` ends the work from outside; the reader then sees what the work still tells, and a normal end.
    """

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """Whether work is running."""
        return self._task is not None and not self._task.done()

    def cancel(self) -> None:
        """Ask the running work to stop."""
        if self._task is not None:
            self._task.cancel()

    async def stop(self) -> None:
        """Cancel the running work and wait until it has ended."""
        self.cancel()
        await self._ended()

    async def run(self, work: Callable[[Tell], Awaitable[object]]) -> AsyncGenerator[Event, None]:
        """Yield the events of ``work``; its exception is raised after the last of them."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue()

        async def body() -> None:
            try:
                await work(queue.put_nowait)
            finally:
                queue.put_nowait(None)

        await self._ended()
        task = self._task = asyncio.create_task(body())
        try:
            while (event := await queue.get()) is not None:
                yield event
            await asyncio.wait([task])
            if not task.cancelled():
                task.result()
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait([task])

    async def _ended(self) -> None:
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task])
