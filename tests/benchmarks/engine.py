"""What a turn costs before its request: budget and layer 1 beside the textbook way; appending beside a bare write."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable
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
    ours, bare = asyncio.run(appends(_messages(60 if short else 400)))
    return [
        *figures,
        Figure(NAME, "append to the record", ours * 1000, "ms", bare * 1000, "write and fdatasync"),
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


async def appends(messages: list[Message]) -> tuple[float, float]:
    """Median seconds of an append to the record, and of writing the same bytes and syncing them."""
    ours, bare = [], []
    with tempfile.TemporaryDirectory(prefix="pal-benchmark-") as folder:
        record = await Journal.create(Path(folder), clock=SystemClock())
        handle = os.open(Path(folder) / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for message in messages:
            begin = time.perf_counter()
            await record.append(message)
            ours.append(time.perf_counter() - begin)
            data = str(message_to_json(message)).encode()
            begin = time.perf_counter()
            os.write(handle, data)
            os.fdatasync(handle)
            bare.append(time.perf_counter() - begin)
        os.close(handle)
        await record.close()
    return median(ours), median(bare)


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
