"""Work that goes on to its end when whoever waits for it is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """Return what work returns; a cancellation meanwhile is raised when it is done, and not passed on to it."""
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise
            cancelled = True
        except Exception:  # raised below, or hidden by the cancellation
            break
    if cancelled:
        raise asyncio.CancelledError
    return task.result()
