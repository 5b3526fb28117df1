"""A session of ten thousand calls: it opens without being parsed whole and in bounded memory, and its oldest words can be recalled."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.adapters.journal_format import CommitLine, encode_commit, encode_entry
from app.core.history import Commit, Entry
from app.core.messages import Message, Text, ToolResult, ToolUse, user
from app.core.reports import Layer

ROOT = Path(__file__).parents[2]
TURNS = 10_000
SEGMENT = 100
"""Turns between two compactions."""
OPEN = """
import asyncio, json, re, sys, time
from pathlib import Path
from app.adapters.journal import Journal
from app.core.conversation import replay
from app.core.originals import find_original
from tests.fakes.clock import FakeClock

async def main(root, name):
    begun = time.process_time()
    journal = await Journal.open(Path(root), name, clock=FakeClock())
    conversation = replay(await journal.history())
    view = conversation.view().messages
    opened = time.process_time() - begun
    page = await journal.page(None, 60)
    first = await find_original(journal, "m", 1)
    old = await find_original(journal, "r", 1)
    await journal.close()
    begun = time.process_time()
    for path in Path(root, name).glob("transcript_*.jsonl"):
        for line in path.open("rb"):
            json.loads(line)
    parsed = time.process_time() - begun
    print(json.dumps({
        "share": opened / parsed, "notices": journal.notices, "view": len(view), "page": len(page),
        "first": first.text, "old": old.text[:20],
        # getrusage would tell the largest of this process and of the one it was started by
        "megabytes": int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024,
    }))

asyncio.run(main(sys.argv[1], sys.argv[2]))
"""


def write_record(folder: Path) -> None:
    """Write the session as the journal would, without waiting for the disk at each line."""
    seq = number = result = 0
    folder.mkdir(parents=True)
    (folder / "events.jsonl").touch()
    time = "2026-11-29T22:16:40.000Z"
    for segment in range(TURNS // SEGMENT):
        with (folder / f"transcript_{segment + 1:04}.jsonl").open("wb") as file:
            if segment:
                seq += 1
                replaced = (f"m{number - 3}", f"m{number}")
                commit = Commit(seq, segment, time, Layer.AUTO, user("Summary so far."), replaced)
                file.write(encode_commit(CommitLine(commit, number + 1, result + 1)))
            for turn in range(SEGMENT):
                at = segment * SEGMENT + turn
                messages = (
                    user(f"question {at}"),
                    Message("assistant", (ToolUse(f"t{at}", "bash", {"command": f"echo {at}"}),)),
                    Message(
                        "user", (ToolResult(f"t{at}", f"result {at} " + "line of text\n" * 200),)
                    ),
                    Message("assistant", (Text(f"answer {at}"),)),
                )
                for message in messages:
                    seq, number = seq + 1, number + 1
                    first = 0
                    if message.tool_results:
                        result += 1
                        first = result
                    spoken = (0,) if message.role == "user" and not first else ()
                    entry = Entry(seq, number, time, message, spoken, {}, first)
                    file.write(encode_entry(entry))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_session_of_ten_thousand_calls_resumes_in_bounded_memory_and_less_than_it_takes_to_parse_it(
    tmp_path: Path,
) -> None:
    name = "2026-11-29T22-16-40Z-0001"
    write_record(tmp_path / name)
    size = sum(path.stat().st_size for path in (tmp_path / name).iterdir())
    assert size > 25_000_000
    done = subprocess.run(
        [sys.executable, "-c", OPEN, str(tmp_path), name],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["notices"] == [] and seen["page"] == 60
    assert 2 <= seen["view"] <= 4 * SEGMENT + 2
    assert seen["first"] == "question 0" and seen["old"].startswith("result 0 ")
    assert seen["megabytes"] < 300
    assert seen["share"] < 1, seen
