"""Regular expressions in a process of their own, so that one that never ends can be ended."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core.messages import JsonObject
from app.core.originals import Texts
from app.errors import ToolError

WORKER = Path(__file__).with_name("search_worker.py")
MAX_RECORD_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Match:
    """A matching line with its surroundings."""

    path: str
    """Path of the file, or label of the text."""
    number: int
    text: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """What a search found."""

    matches: tuple[Match, ...]
    in_time: bool
    """Whether it came to its end in time."""


def require_expression(pattern: str) -> None:
    """Check a pattern.

    Raises:
        ToolError: It is no regular expression.
    """
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ToolError(f"the pattern is no regular expression: {error}") from error


async def one_text(text: str) -> AsyncGenerator[Texts, None]:
    """Yield a single text, without a label, as `find` wants it."""
    yield (("", text),)


async def find(
    request: JsonObject, seconds: float, texts: AsyncGenerator[Texts, None] | None = None
) -> Results:
    """Run the worker; it is gone when this returns, also when cancelled.

    Args:
        request: As `search_worker` describes it.
        seconds: Time limit; what was found until then is returned.
        texts: What is searched besides files, batch by batch; no more of it is taken than is needed.

    Raises:
        ToolError: The worker broke off.
    """
    worker = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-S",
        str(WORKER),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={},
        limit=MAX_RECORD_BYTES,
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    feeding = asyncio.create_task(_feed(worker.stdin, request, texts))
    matches: list[Match] = []
    in_time = False
    try:
        async with asyncio.timeout(seconds):
            async for line in worker.stdout:
                record: list[Any] = json.loads(line)
                if len(record) == 1:
                    in_time = True
                    break
                path, number, text, before, after = record
                matches.append(Match(path, number, text, tuple(before), tuple(after)))
            if feeding.done():
                feeding.result()
            if not in_time:
                raise ToolError("the search broke off: the pattern may need too much memory")
    except TimeoutError:
        pass
    finally:
        feeding.cancel()
        with suppress(ProcessLookupError):
            worker.kill()
        await asyncio.wait({feeding})
        await worker.wait()
    return Results(tuple(matches), in_time)


async def _feed(
    pipe: asyncio.StreamWriter, request: JsonObject, texts: AsyncGenerator[Texts, None] | None
) -> None:
    """Write the request and the texts; a worker that has found enough reads no more."""
    async with AsyncExitStack() as stack:
        stack.callback(pipe.close)
        with suppress(BrokenPipeError, ConnectionResetError):
            await _write(pipe, request)
            if texts is not None:
                await stack.enter_async_context(aclosing(texts))
                async for batch in texts:
                    await _write(pipe, batch)


async def _write(pipe: asyncio.StreamWriter, value: object) -> None:
    pipe.write(json.dumps(value).encode() + b"\n")
    await pipe.drain()
