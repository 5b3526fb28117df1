"""An event loop whose clock jumps: nothing waits for a timer while nothing else happens, so minutes take milliseconds.

Sockets and threads are real. Time stands still while a thread of the executor works or bytes are on their way, and
jumps to the next timer only when the loop has been idle for a moment. So a busy machine can make a test slow, but it
cannot make a time-out fire that the script did not ask for.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
MOMENT = 0.01
"""Real seconds without any event after which a short wait is over."""
LONG_MOMENT = 0.1
"""The same for a wait so long that it may be a time-out."""
LONG = 45.0


class _JumpingSelector(selectors.DefaultSelector):
    """Waits for sockets, and moves the clock where the loop would only wait for a timer."""

    jumped = 0.0
    working = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        idle = 0.0
        moment = LONG_MOMENT if timeout > LONG else MOMENT
        while idle < moment:
            found = super().select(MOMENT)
            if found:
                return found
            idle = 0.0 if self.working else idle + MOMENT
        self.jumped += timeout
        return []


class FastLoop(asyncio.SelectorEventLoop):
    """A loop on such a selector; `time` counts the jumps alone."""

    def __init__(self) -> None:
        self._jumps = _JumpingSelector()
        super().__init__(self._jumps)

    def time(self) -> float:
        return 1_000.0 + self._jumps.jumped

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts
    ) -> asyncio.Future[T]:
        future = super().run_in_executor(executor, func, *args)
        self._jumps.working += 1
        future.add_done_callback(self._worked)
        return future

    def _worked(self, _: asyncio.Future[Any]) -> None:
        self._jumps.working -= 1


def run_fast(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on such a loop."""
    with asyncio.Runner(loop_factory=FastLoop) as runner:
        return runner.run(work)
