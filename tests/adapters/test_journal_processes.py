"""The record and other processes: one writer, a lock that dies with it, and kills at any moment."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.adapters.journal import Journal
from app.adapters.journal_reading import SessionReader
from app.adapters.session_changes import fork_session
from app.core.conversation import replay
from app.core.messages import user
from app.errors import SessionBusy
from tests.fakes.clock import FakeClock

ROOT = Path(__file__).parents[2]

HOLDER = """
import asyncio, subprocess, sys
from pathlib import Path
from app.adapters.journal import Journal
from app.adapters.clock import SystemClock

async def main(root, session):
    journal = await Journal.open(root, session, clock=SystemClock())
    null = subprocess.DEVNULL
    child = subprocess.Popen(["sleep", "60"], close_fds=False, stdin=null, stdout=null, stderr=null)
    print(child.pid, flush=True)
    sys.stdin.read()

asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
"""

WRITER = """
import asyncio, random, sys
from pathlib import Path
from app.adapters.journal import Journal
from app.adapters.clock import SystemClock
from app.core.conversation import replay
from app.core.messages import user
from app.core.ports import CommitDraft
from app.core.reports import Layer

async def main(root, session, seed):
    rng = random.Random(seed)
    journal = await Journal.open(root, session, clock=SystemClock())
    view = replay(await journal.history())
    while True:
        match rng.randrange(12):
            case 0:
                ids = [entry.id for entry in view.entries] or ["m1"]
                draft = CommitDraft(Layer.AUTO, lambda path: user("sum " * 500), (ids[0], ids[-1]), tuple(ids[-2:]))
                item = await journal.commit(draft)
                view = view.compact(item)
            case 1:
                item = await journal.remark("usage", {"x": "y" * rng.randrange(5000)})
            case _:
                item = await journal.append(user("z" * rng.choice((10, 700, 9000, 60000))), spoken=(0,))
                view = view.append(item)
        print(item.seq, flush=True)

asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
"""


def start(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(process):
    process.kill()
    process.communicate()


@pytest.fixture
async def folder(tmp_path):
    journal = await Journal.create(tmp_path / ".transcripts", clock=FakeClock())
    await journal.append(user("hello"), spoken=(0,))
    await journal.close()
    return journal.folder


async def test_one_process_holds_a_session_and_its_death_frees_it_though_its_child_lives_on(folder):
    holder = start(HOLDER, folder.parent, folder.name)
    child = int(holder.stdout.readline())
    try:
        with pytest.raises(SessionBusy, match=f"open in process {holder.pid} since ") as caught:
            await Journal.open(folder.parent, folder.name, clock=FakeClock())
        assert "fork" in caught.value.hint
        fork = fork_session(folder.parent, folder.name)
        journal = await Journal.open(folder.parent, fork, clock=FakeClock())
        assert (await journal.append(user("in the fork"))).number == 2
        await journal.close()
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
        os.kill(child, 0)
        journal = await Journal.open(folder.parent, folder.name, clock=FakeClock())
        assert (await journal.append(user("again"))).number == 2
        await journal.close()
    finally:
        end(holder)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


async def test_a_session_is_opened_once_within_one_process_too(folder):
    journal = await Journal.open(folder.parent, folder.name, clock=FakeClock())
    with pytest.raises(SessionBusy):
        await Journal.open(folder.parent, folder.name, clock=FakeClock())
    await journal.close()
    journal = await Journal.open(folder.parent, folder.name, clock=FakeClock())
    await journal.close()


ONE_OF_SEVERAL = """
import asyncio, sys
from pathlib import Path
from app.adapters.journal import Journal
from app.adapters.clock import SystemClock
from app.adapters.session_changes import fork_session
from app.adapters.session_list import latest_session
from app.core.messages import user
from app.errors import SessionBusy

async def main(root, how):
    sys.stdin.readline()
    if how == "new":
        journal = await Journal.create(root, clock=SystemClock())
    else:
        name = latest_session(root)
        try:
            journal = await Journal.open(root, name, clock=SystemClock())
        except SessionBusy:
            print("busy", flush=True)
            journal = await Journal.open(root, fork_session(root, name), clock=SystemClock())
    print(journal.session, flush=True)
    for n in range(20):
        await journal.append(user(f"{journal.session} {n}"), spoken=(0,))
    sys.stdin.readline()
    await journal.close()

asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
"""


@pytest.mark.parametrize("how", ["new", "go on"])
def test_four_processes_at_once_in_one_folder_never_share_a_session(tmp_path, folder, how):
    root = tmp_path / "fresh" / ".transcripts" if how == "new" else folder.parent
    started = [start(ONE_OF_SEVERAL, root, how) for _ in range(4)]
    try:
        for process in started:
            process.stdin.write("go\n")
            process.stdin.flush()
        names = []
        for process in started:
            line = process.stdout.readline().strip()
            names.append(process.stdout.readline().strip() if line == "busy" else line)
        for process in started:
            assert process.communicate("end\n")[1] == ""
    finally:
        for process in started:
            end(process)
    assert len(set(names)) == 4
    for name in names:
        said = [entry.words for entry in SessionReader(root / name).walk() if entry.number > 1]
        mine = [f"{name} {n}" for n in range(20)]
        assert said[-len(mine[1:]) :] == mine[1:]


def kill_while_it_writes(folder: Path, kills: int) -> None:
    rng = random.Random(7)
    acked = 1
    for kill in range(kills):
        writer = start(WRITER, folder.parent, folder.name, kill)
        read = [writer.stdout.readline() for _ in range(rng.randrange(1, 25))]
        writer.kill()
        with writer:  # communicate() would lose what readline has buffered
            rest, problems = writer.stdout.read(), writer.stderr.read()
        assert problems == "", problems
        acks = [int(line) for line in "".join([*read, rest]).split("\n")[:-1]]
        assert acks[0] == acked + 1, "the record did not go on where it ended"
        acked = acks[-1]
        reader = SessionReader(folder)
        seqs = [item.seq for item in reader.walk()] + [r.seq for r in reader.remarks({"usage"})]
        assert set(range(1, acked + 1)) <= set(seqs)
        assert len(seqs) == len(set(seqs)) and len(seqs) <= acked + 1
        acked = max(seqs)
        replay(reader.history())
        for notice in reader.notices:
            assert "was cut off" in notice


def test_twenty_kills_lose_nothing_that_was_acknowledged(folder):
    kill_while_it_writes(folder, 20)
