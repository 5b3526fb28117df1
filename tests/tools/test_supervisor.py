from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.errors import ToolError
from app.tools.descendants import process_table
from app.tools.process import Job
from tests.tools.conftest import Bench, until
from tests.tools.test_bash import marker, running

OWNER = """
import asyncio, sys
from pathlib import Path
from app.tools.process import Processes

async def main():
    folder = Path(sys.argv[1])
    processes = Processes(folder, {"PATH": "/usr/local/bin:/usr/bin:/bin"})
    for command in sys.argv[2:]:
        await processes.start(("/bin/bash", "-c", command), command, None)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.parametrize(
    "command",
    [
        "sleep {n}",
        'trap "" TERM HUP INT; sleep {n}; sleep {n}',
        "setsid sleep {n} & wait",
        "(setsid env -i /bin/sleep {n} >/dev/null 2>&1 &) ; sleep {n}",
        "bash -c 'bash -c \"sleep {n} | cat\"'",
    ],
)
async def test_nothing_outlives_a_program_that_is_killed_outright(
    tmp_path: Path, command: str
) -> None:
    seconds = marker(tmp_path)
    owner = subprocess.Popen(  # noqa: ASYNC220 - it starts at once
        [sys.executable, "-c", OWNER, str(tmp_path), command.format(n=seconds)],
        cwd=Path(__file__).parents[2],
    )
    try:
        await until(lambda: running(seconds))
    finally:
        owner.send_signal(signal.SIGKILL)
        owner.wait()
    await until(lambda: not running(seconds))


def supervisor_of(command: str) -> int:
    """The process above the one whose command line holds a text."""
    at = running(command)[0]
    parents = {p.pid: p.parent for p in process_table()}
    while parents[at] != os.getpid():
        at = parents[at]
    return at


async def test_a_command_that_ends_the_program_above_it_is_told_and_the_next_one_runs(
    bench: Bench, tmp_path: Path
) -> None:
    seconds = marker(tmp_path)
    call = asyncio.create_task(bench.call("bash", command=f"setsid sleep {seconds} & wait"))
    await until(lambda: running(seconds))
    os.kill(supervisor_of(seconds), signal.SIGKILL)
    outcome = await asyncio.wait_for(call, 10)
    assert "killed by SIGKILL" in outcome.effects.outcome
    await until(lambda: not running(seconds))
    assert await bench.text("bash", command="echo again") == "again"


async def test_a_program_above_commands_that_a_command_stopped_is_woken_for_the_next_one(
    bench: Bench,
) -> None:
    await bench.text("bash", command="true")
    os.kill(bench.processes._above().pid, signal.SIGSTOP)
    text = await asyncio.wait_for(bench.text("bash", command="echo again"), 10)
    assert text == "again"


async def test_a_program_above_commands_that_was_stopped_ends_with_its_owner(
    bench: Bench,
) -> None:
    await bench.text("bash", command="true")
    pid = bench.processes._above().pid
    os.kill(pid, signal.SIGSTOP)
    await bench.processes.close()
    assert pid not in {p.pid for p in process_table() if not p.is_dead}


async def test_a_command_that_starts_keeps_nobody_waiting_and_a_cancel_loses_none(
    bench: Bench, tmp_path: Path
) -> None:
    seconds = marker(tmp_path)
    jobs: list[Job] = []

    async def start() -> None:
        argv = ("/bin/sh", "-c", f"exec sleep {seconds}")
        jobs.append(await bench.processes.start(argv, "sleep", None))
        await asyncio.sleep(600)

    starting, turns = asyncio.create_task(start()), 0
    while not jobs:
        await asyncio.sleep(0)
        turns += 1
        if turns == 2:
            starting.cancel()
    assert turns > 2, "others ran while the program above it came up"
    with pytest.raises(asyncio.CancelledError):
        await starting
    (job,) = jobs
    await until(lambda: running(seconds))
    await bench.processes.end(job)
    assert not running(seconds)


async def test_a_program_above_commands_that_ends_before_it_starts_one_is_told(
    bench: Bench,
) -> None:
    bench.processes.prepare()
    starting = asyncio.create_task(bench.processes.start(("/bin/true",), "true", None))
    await asyncio.sleep(0)
    os.kill(bench.processes._above().pid, signal.SIGKILL)
    with pytest.raises(ToolError, match="was ended"):
        await starting
    assert await bench.text("bash", command="echo again") == "again"


async def test_the_program_above_commands_knows_no_secret_and_ends_with_its_owner(
    bench: Bench,
) -> None:
    text = await bench.text("bash", command="tr '\\0' '\\n' < /proc/$PPID/environ; echo pid=$PPID")
    assert "PATH=" in text
    assert "sk-ant-probe" not in text
    pid = int(text.rpartition("pid=")[2])
    await bench.processes.close()
    assert pid not in {p.pid for p in process_table() if not p.is_dead}


async def test_a_program_that_cannot_be_started_is_a_clean_error(bench: Bench) -> None:
    bench.wrap = lambda argv, cwd: ("/nonexistent/program", *argv)
    assert "No such file" in await bench.refusal("bash", command="true")


async def test_odd_bytes_in_commands_and_environment_arrive_as_they_are(bench: Bench) -> None:
    assert await bench.text("bash", command="printf '%s' 'ü\t€'") == "ü\t€"


async def test_signals_that_python_ignores_end_commands_as_usual(bench: Bench) -> None:
    outcome = await bench.call("bash", command="yes | true; echo ${PIPESTATUS[0]}")
    assert str(outcome.content).startswith("141")


async def test_commands_hold_no_descriptor_of_the_program_above_them(bench: Bench) -> None:
    text = await bench.text("bash", command="cd /proc/self/fd; exec ls -1 .")
    assert set(text.split()) <= {"0", "1", "2", "3"}  # the last is ls's own
