"""What a turn costs before its request: budget and layer 1 beside the textbook way; appending beside a bare write."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import cycle
from pathlib import Path

from app.adapters.clock import SystemClock
from app.adapters.journal import Journal
from app.compaction.micro import CacheState, plan_clearing
from app.core.budget import Meter
from app.core.conversation import Conversation, replay
from app.core.history import Cleared, Entry
from app.core.messages import Message, message_to_json
from app.core.policy import MicroPolicy
from tests.benchmarks import textbook
from tests.benchmarks.desk import Desk
from tests.benchmarks.figures import Figure, median
from tests.benchmarks.sessions import generated

NAME = "engine"
THRESHOLD = 50_000


def run(desk: Desk, *, short: bool) -> list[Figure]:
    figures: list[Figure] = []
    for count in (200, 1_000) if short else (1_000, 10_000):
        messages = _messages(count)
        conversation = _conversation(messages)
        raw = [message_to_json(message) for message in messages]
        textbook.clear_old_results(raw)
        figures += [
            _figure(
                f"budget and layer 1, {count:,} messages",
                lambda c=conversation: turn(c),
                lambda r=raw: textbook_turn(r),
                "textbook",
            ),
            Figure(NAME, f"view of {count:,} messages", _seconds(conversation.view) * 1000, "ms"),
            Figure(
                NAME,
                f"replay of {count:,} messages",
                _seconds(lambda m=messages: _conversation(m), 3) * 1000,
                "ms",
            ),
        ]
    ours, bare, threaded = asyncio.run(appends(_messages(60 if short else 400)))
    append, both = "append to the record", "write and fdatasync"
    return [
        *figures,
        Figure(NAME, append, ours * 1000, "ms", bare * 1000, both),
        Figure(NAME, append, ours * 1000, "ms", threaded * 1000, f"{both}, beside the event loop"),
    ]


def turn(conversation: Conversation) -> int:
    """What runs before each request."""
    used = Meter(floor=6_000).used(conversation.sizes.total)
    plan_clearing(
        conversation,
        MicroPolicy(),
        threshold=THRESHOLD,
        factor=1.0,
        cache=CacheState(reads_seen=True, cold=False),
    )
    return used


def textbook_turn(raw: textbook.Messages) -> int:
    textbook.clear_old_results(raw)
    return textbook.estimate(raw)


async def appends(messages: list[Message]) -> tuple[float, float, float]:
    """Median seconds of an append to the record, and of writing as many bytes and syncing them, here and in a thread."""
    ours, bare, threaded = [], [], []
    loop, worker = asyncio.get_running_loop(), ThreadPoolExecutor(1)
    with tempfile.TemporaryDirectory(prefix="pal-benchmark-") as folder:
        record = await Journal.create(Path(folder), clock=SystemClock())
        handle = os.open(Path(folder) / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for message in messages:
            begin = time.perf_counter()
            await record.append(message)
            ours.append(time.perf_counter() - begin)
            write = partial(_write_and_sync, handle, str(message_to_json(message)).encode())
            begin = time.perf_counter()
            write()
            bare.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            await loop.run_in_executor(worker, write)
            threaded.append(time.perf_counter() - begin)
        os.close(handle)
        worker.shutdown()
        await record.close()
    return median(ours), median(bare), median(threaded)


def _write_and_sync(handle: int, data: bytes) -> None:
    os.write(handle, data)
    os.fdatasync(handle)


def _messages(count: int) -> list[Message]:
    """Messages of generated sessions, repeated."""
    source = cycle(generated(1, 300).messages)
    return [next(source) for _ in range(count)]


def _conversation(messages: list[Message]) -> Conversation:
    """A session in which layer 1 has cleared all but the newest results, as it does over time."""
    entries: list[Entry] = []
    results = 0
    for number, message in enumerate(messages, 1):
        count = len(message.tool_results)
        entries.append(Entry(number, number, "", message, first_result=results + 1 if count else 0))
        results += count
    stubs = {
        f"r{n}": "[Previous: used bash: pytest -> 3 lines; recall it]"
        for n in range(1, results - 20)
    }
    return replay([*entries, Cleared(len(messages) + 1, stubs)])


def _figure(
    what: str, ours: Callable[[], object], other: Callable[[], object], other_name: str
) -> Figure:
    return Figure(NAME, what, _seconds(ours) * 1000, "ms", _seconds(other) * 1000, other_name)


def _seconds(work: Callable[[], object], rounds: int = 7) -> float:
    """Median CPU seconds of one call."""
    taken = []
    for _ in range(rounds):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return median(taken)
