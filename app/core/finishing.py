"""Work that goes on to its end when whoever waits for it is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """Run work to its end, and return what it returns or raise what it raises.

    A cancellation meanwhile is not passed on to it and not lost: it is raised at the caller's next await. So several
    such works in a row are all done, and what the first one returned is still told.
    """
    task, caller = asyncio.create_task(work), asyncio.current_task()
    missed: list[asyncio.CancelledError] = []
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            missed.append(error)
            if caller is not None:
                caller.uncancel()
    if caller is not None:
        for cancelled in missed:
            caller.cancel(*cancelled.args)
    return task.result()
