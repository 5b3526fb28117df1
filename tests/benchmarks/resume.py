"""Going on with a long session: opening its record, a page further up, a search, beside reading all of its bytes."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

from app.adapters.clock import SystemClock
from app.adapters.journal import Journal
from app.adapters.journal_format import CommitLine, encode_commit, encode_entry, encode_remark
from app.adapters.journal_reading import segment_name
from app.adapters.session_list import latest_session
from app.adapters.session_search import search_sessions
from app.agent.dialogue import Dialogue, Frame
from app.agent.queue import TypedAhead
from app.agent.restoring import restore
from app.core.history import Commit, Entry, Remark
from app.core.messages import user
from app.core.policy import CompactionPolicy
from app.core.reports import Layer
from tests.benchmarks.desk import Desk
from tests.benchmarks.figures import Figure
from tests.benchmarks.sessions import generated
from tests.fakes.model import ScriptedModel

NAME = "resume"
MB = 1_000_000
SEGMENT = 600
"""Messages between two compactions."""
USAGE = {
    "model": "demo-1",
    "purpose": "turn",
    "input": 3_200,
    "cache_read": 28_000,
    "cache_write": 900,
    "output": 310,
    "sent": 31_000.5,
    "cost": 0.0123,
}
NOT_THERE = "zyzzyva"


def run(desk: Desk, *, short: bool) -> list[Figure]:
    del desk
    size = 3 if short else 300
    with tempfile.TemporaryDirectory(prefix="pal-benchmark-") as place:
        root = Path(place)
        whole, never = root / "compacted", root / "never"
        write_session(whole / "2026-01-01T00-00-00Z-0001", size * MB)
        everything, bare = _seconds(lambda: read_all(whole)), memory("pass", whole)
        opened = asyncio.run(opening(whole))
        searched = _seconds(lambda: list(search_sessions(whole, NOT_THERE)))
        used = memory(_OPEN, whole)
        shutil.rmtree(whole)
        write_session(never / "2026-01-01T00-00-00Z-0001", size * MB, compacted=False)
        uncompacted = asyncio.run(opening(never))
        used_then = memory(_OPEN, never)
    beside = "reading all bytes"
    return [
        Figure(
            NAME, f"open a record of {size} MB", opened[0] * 1000, "ms", everything * 1000, beside
        ),
        Figure(
            NAME,
            f"open {size} MB that were never compacted",
            uncompacted[0] * 1000,
            "ms",
            everything * 1000,
            beside,
        ),
        Figure(NAME, "a page of older messages", opened[1] * 1000, "ms", everything * 1000, beside),
        Figure(NAME, "search all of it", searched * 1000, "ms", everything * 1000, beside),
        Figure(NAME, "memory when it is open", used, "MB", bare, "MB, the imports alone"),
        Figure(NAME, "memory, never compacted", used_then, "MB", bare, "MB, the imports alone"),
    ]


async def opening(root: Path) -> tuple[float, float]:
    """Seconds until the newest session can go on and its last page is there, and for a page before."""
    begin = time.perf_counter()
    name = await asyncio.to_thread(latest_session, root)
    assert name is not None
    record = await Journal.open(root, name, clock=SystemClock())
    frame = Frame("demo-1", "", (), 8_000, 200_000, "", 50_000)
    dialogue = Dialogue(record, ScriptedModel([]), frame, CompactionPolicy())
    await restore(dialogue, TypedAhead(record))
    assert dialogue.conversation.entries
    assert dialogue.ledger.account.requests
    newest = await record.page(None, 30)
    opened = time.perf_counter() - begin
    begin = time.perf_counter()
    assert len(await record.page(newest[0].number - SEGMENT, 30)) == 30
    paged = time.perf_counter() - begin
    await record.close()
    return opened, paged


def read_all(root: Path) -> None:
    for path in root.rglob("*.jsonl"):
        with path.open("rb") as file:
            while file.read(1 << 20):
                pass


_HEAD = """
import asyncio, resource, sys
from pathlib import Path
from tests.benchmarks.resume import opening
root = Path(sys.argv[1])
"""
_OPEN = "asyncio.run(opening(root))"


def memory(code: str, root: Path) -> float:
    """Megabytes that a process of its own has held at most."""
    tell = "\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    run = subprocess.run(
        [sys.executable, "-c", _HEAD + code + tell, str(root)],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(run.stdout) / 1000


def write_session(folder: Path, size: int, *, compacted: bool = True) -> None:
    """Write a record of so many bytes without waiting for the disk, with a compaction every so often or none."""
    folder.mkdir(parents=True)
    items = entries()
    seq = number = written = 0
    segment = 1
    with (folder / "events.jsonl").open("wb") as events:
        while written < size:
            with (folder / segment_name(segment if compacted else 1)).open("ab") as file:
                if segment > 1 and compacted:
                    seq += 1
                    file.write(encode_commit(commit(seq, segment - 1, number)))
                for _ in range(SEGMENT):
                    seq, number = seq + 1, number + 1
                    entry = next(items)(seq, number)
                    written += file.write(encode_entry(entry))
                    if entry.message.role == "user":
                        continue
                    seq += 1
                    events.write(encode_remark(Remark(seq, "", "usage", USAGE)))
            segment += 1


def entries() -> Iterator[Callable[[int, int], Entry]]:
    """Makers of entries: messages of generated sessions, over and over, their results numbered on."""
    results = 0
    for message in cycle(generated(1, 300).messages):
        count, first = len(message.tool_results), results + 1
        results += count

        def make(seq: int, number: int, message=message, first=first if count else 0) -> Entry:
            time_ = f"2026-01-01T00:00:{number % 60:02}.000Z"
            return Entry(seq, number, time_, message, first_result=first)

        yield make


def commit(seq: int, number: int, last: int) -> CommitLine:
    made = Commit(
        seq=seq,
        number=number,
        time="2026-01-01T00:00:00.000Z",
        layer=Layer.AUTO,
        head=user(f"[Conversation compressed. Transcript: {number}]"),
        replaced=(f"m{last - SEGMENT + 1}", f"m{last}"),
        kept=(f"m{last}",),
        stubs={},
        bare=(),
        summary="It went on.",
        facts={},
    )
    return CommitLine(made, last + 1, 0)


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
