from __future__ import annotations

import asyncio
import os
import resource
import time
from pathlib import Path

import pytest

from app.core.effects import Span
from app.tools.descendants import process_table
from app.tools.environment import child_environment
from tests.tools.conftest import Bench, until


def marker(tmp_path: Path) -> str:
    """A number of seconds that no other test sleeps, to find the sleeper by."""
    return f"3{abs(hash(str(tmp_path))) % 10**7}"


def running(seconds: str) -> list[int]:
    found = []
    for process in process_table():
        try:
            line = Path(f"/proc/{process.pid}/cmdline").read_bytes()
        except OSError:
            continue
        if b"sleep" in line and seconds.encode() in line:
            found.append(process.pid)
    return found


async def test_output_and_exit_code_are_told(bench: Bench) -> None:
    outcome = await bench.call("bash", command="echo out; echo err >&2; exit 3")
    assert outcome.content == "out\nerr\n[exit 3]"
    assert outcome.effects.outcome == "exit 3, 2 lines"
    assert outcome.effects.exit_code == 3
    assert outcome.ok


async def test_no_output_is_said(bench: Bench) -> None:
    outcome = await bench.call("bash", command="true")
    assert outcome.content == "(no output)"
    assert outcome.effects.outcome == "exit 0, no output"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("kill -9 $$", "killed by SIGKILL"),
        ("exit 300", "exit 44"),
        ("no-such-program", "exit 127"),
        ("sh -c 'kill -TERM $$'; exit $?", "exit 143, which usually means SIGTERM"),
    ],
)
async def test_odd_ends_are_told_truthfully(bench: Bench, command: str, expected: str) -> None:
    outcome = await bench.call("bash", command=command)
    assert f"[{expected}]" in str(outcome.content)


async def test_a_command_too_long_for_the_system_is_a_clean_error(bench: Bench) -> None:
    assert "too long" in await bench.refusal("bash", command=": " + "x" * 200_000)


@pytest.mark.parametrize("command", ["", "  ", "a\0b"])
async def test_no_command_at_all_is_refused(bench: Bench, command: str) -> None:
    assert "command" in await bench.refusal("bash", command=command)


@pytest.mark.parametrize(
    "command",
    [
        "sleep {n} & echo hi",
        "setsid sleep {n} & echo hi",
        "(sleep {n} & disown) ; echo hi",
        "(setsid env -i sleep {n} >/dev/null 2>&1 &); echo hi",
    ],
)
async def test_a_background_child_neither_holds_the_call_nor_survives_it(
    bench: Bench, tmp_path: Path, command: str
) -> None:
    seconds = marker(tmp_path)
    outcome = await asyncio.wait_for(bench.call("bash", command=command.format(n=seconds)), 5)
    assert str(outcome.content).startswith(
        "hi\n[still ran in the background and was ended with the call: "
    )
    assert running(seconds) == []


async def test_a_child_that_writes_for_ever_in_the_background_is_ended(bench: Bench) -> None:
    outcome = await asyncio.wait_for(bench.call("bash", command="yes & echo started"), 5)
    assert "was ended with the call: yes" in str(outcome.content)


async def test_what_ignores_term_is_killed_at_the_time_limit(bench: Bench, tmp_path: Path) -> None:
    seconds = marker(tmp_path)
    outcome = await asyncio.wait_for(
        bench.call(
            "bash", command=f'trap "" TERM; echo a; sleep {seconds}; sleep {seconds}', timeout=1
        ),
        5,
    )
    assert outcome.effects.outcome == "timed out after 1 s, 1 line"
    assert not outcome.ok
    assert "standard input is closed" in str(outcome.content)
    assert running(seconds) == []


async def test_a_stopped_child_is_ended_at_the_time_limit(bench: Bench) -> None:
    outcome = await asyncio.wait_for(bench.call("bash", command="kill -STOP $$", timeout=1), 5)
    assert outcome.effects.outcome.startswith("timed out")


@pytest.mark.parametrize(
    "command", ["sleep {n} | cat", "setsid sleep {n} & wait", "(sleep {n}; touch late) & wait"]
)
async def test_cancelling_ends_the_whole_tree(bench: Bench, tmp_path: Path, command: str) -> None:
    seconds = marker(tmp_path)
    task = asyncio.create_task(bench.call("bash", command="echo up; " + command.format(n=seconds)))
    await until(lambda: running(seconds))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 5)
    assert running(seconds) == []
    assert not (bench.root / "late").exists()


async def test_an_impatient_second_cancel_does_not_leave_anything_running(
    bench: Bench, tmp_path: Path
) -> None:
    seconds = marker(tmp_path)
    task = asyncio.create_task(bench.call("bash", command=f'trap "" TERM; sleep {seconds}'))
    await until(lambda: running(seconds))
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 5)
    assert running(seconds) == []


async def test_programs_that_wait_for_a_person_end_at_once(bench: Bench) -> None:
    text = await bench.text(
        "bash",
        command="cat; read x || echo closed; tty; git commit --allow-empty -m x -e 2>&1 | head -1",
        timeout=20,
    )
    assert "closed" in text
    assert "not a tty" in text


async def test_a_flood_is_bounded_and_the_dropped_part_counted(bench: Bench) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = await bench.call("bash", command="yes | head -c 200M; echo end")
    text = str(outcome.content)
    assert text.startswith("y\n")
    assert text.endswith("y\nend")
    assert outcome.effects.outcome == f"exit 0, {100 * 1024 * 1024 + 1:,} lines"
    dropped = 200 * 1024 * 1024 + 4 - 2_000_000
    assert f"[… {dropped:,} bytes with {dropped // 2:,} line ends dropped here …]" in text
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000
    assert max(map(len, bench.emitted), default=0) < 20_000


async def test_one_very_long_line_is_no_error(bench: Bench) -> None:
    outcome = await bench.call("bash", command="head -c 5000000 /dev/zero | tr '\\0' x")
    assert "3,000,000 bytes" in str(outcome.content)
    assert outcome.effects.outcome == "exit 0, 1 line"


async def test_binary_output_is_replaced_and_counted(bench: Bench) -> None:
    text = await bench.text("bash", command=r"printf 'a\377\0b\303\251'")
    assert text == "a\ufffd\u2400bé\n[bytes that are no UTF-8 and were replaced: 1]"


async def test_escape_sequences_and_overwritten_progress_do_not_reach_the_model(
    bench: Bench,
) -> None:
    text = await bench.text(
        "bash", command=r"printf '\033[31mred\033[0m \033]0;t\007x\n10%%\r50%%\r100%%\r\n'"
    )
    assert text == "red x\n100%"


async def test_output_is_shown_while_the_command_runs(bench: Bench) -> None:
    task = asyncio.create_task(
        bench.call("bash", command="echo first; while [ ! -e go ]; do sleep 0.02; done; echo last")
    )
    await until(lambda: "first" in "".join(bench.emitted))
    assert not task.done()
    bench.write("go", "")
    await task
    assert "".join(bench.emitted) == "first\nlast\n"


async def test_the_event_loop_stays_free_during_a_flood(bench: Bench) -> None:
    gaps = [0.0]

    async def heartbeat() -> None:
        # Time of this thread alone: how busy the machine is does not count.
        last = time.thread_time()
        while True:
            await asyncio.sleep(0.01)
            gaps.append(time.thread_time() - last)
            last = time.thread_time()

    beat = asyncio.create_task(heartbeat())
    await bench.call("bash", command="yes | head -c 50M")
    beat.cancel()
    assert max(gaps) < 0.3


async def test_the_model_sees_which_files_a_command_changed(bench: Bench) -> None:
    bench.write("kept", "k")
    bench.write("changed", "a")
    bench.write("gone", "a")
    bench.write(".gitignore", "*.log\n")
    outcome = await bench.call(
        "bash",
        command="echo new > made; echo bb >> changed; rm gone; echo l > x.log; mkdir -p node_modules && touch node_modules/m",
    )
    assert outcome.effects.modified == ("changed", "gone", "made")


async def test_what_a_command_shows_of_a_file_counts_as_read(bench: Bench) -> None:
    bench.write("a.py", "x\n" * 50)
    shown = await bench.call("bash", command="sed -n '10,20p' a.py")
    missing = await bench.call("bash", command="cat gone.py")
    outside = await bench.call("bash", command="cat /etc/hostname")
    assert shown.effects.read == (Span("a.py", 10, 20),)
    assert missing.effects.read == outside.effects.read == ()


async def test_the_key_is_not_in_the_environment(bench: Bench) -> None:
    text = await bench.text("bash", command="env; cat /proc/self/environ | tr '\\0' '\\n'")
    assert "PATH=" in text
    assert "sk-ant-probe" not in text


async def test_each_call_is_a_new_shell_in_the_project_folder(bench: Bench) -> None:
    await bench.call("bash", command="cd /; export X=1; alias ls=false")
    assert await bench.text("bash", command="pwd; echo ${X:-unset}; ls") == f"{bench.root}\nunset"


async def test_what_was_approved_is_byte_for_byte_what_runs(bench: Bench) -> None:
    command = "printf '%s|' ~ '~'\t'a\r\nb'  \"$0\" # end "
    proposal = await bench.tools["bash"].propose({"command": command})
    assert proposal.detail == command
    seen: list[str] = []
    bench.wrap = lambda argv, cwd: seen.extend(argv) or argv
    await bench.call("bash", command=command)
    assert seen[-1] == command


async def test_a_background_job_is_started_read_and_stopped(bench: Bench, tmp_path: Path) -> None:
    seconds = marker(tmp_path)
    await bench.call("bash", command=f"echo one; touch up; sleep {seconds}", background=True)
    (job,) = bench.processes.background
    await until(lambda: (bench.root / "up").exists())
    assert "one\n" in await bench.text("bash", job=job.name)
    assert "(no output)" in await bench.text("bash", job=job.name)
    await until(lambda: running(seconds))
    assert f"job {job.name} stopped" in await bench.text("bash", job=job.name, stop=True)
    assert running(seconds) == []
    assert "no background job" in await bench.refusal("bash", job=job.name)


async def test_a_background_job_that_ended_tells_its_code_once(bench: Bench) -> None:
    await bench.call("bash", command="echo done; exit 5", background=True)
    (job,) = bench.processes.background
    await asyncio.wait({job.code})
    outcome = await bench.call("bash", job=job.name)
    assert outcome.content == f"done\n[job {job.name} ended: exit 5]"
    assert outcome.effects.exit_code == 5
    assert bench.processes.background == ()


async def test_a_foreground_call_leaves_background_jobs_alone(bench: Bench, tmp_path: Path) -> None:
    seconds = marker(tmp_path)
    await bench.call("bash", command=f"setsid sleep {seconds} & wait", background=True)
    await until(lambda: running(seconds))
    await bench.call("bash", command="setsid sleep 399 & echo hi")
    assert running(seconds)
    await bench.processes.close()
    assert running(seconds) == []


async def test_ended_children_are_not_left_as_zombies(bench: Bench) -> None:
    before = {p.pid for p in process_table()}  # other tests' processes may wait here too
    for _ in range(3):
        await bench.call("bash", command="(setsid true &); setsid sleep 398 & true")
    dead = {p.pid for p in process_table() if p.parent == os.getpid() and p.is_dead}
    assert len(dead - before) <= 1


def test_our_own_virtual_environment_is_not_the_childs(tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "bin").mkdir(parents=True)
    project = tmp_path / "project"
    environment = {
        "PATH": f"{own}/bin:/usr/bin",
        "VIRTUAL_ENV": str(own),
        "PAL_THRESHOLD": "1",
        "MODEL_ID": "m",
        "BASH_ENV": "f",
        "LANG": "C",
    }
    child = child_environment(environment, project=project, own=own)
    assert child["PATH"] == "/usr/bin"
    assert not {"VIRTUAL_ENV", "PAL_THRESHOLD", "MODEL_ID", "BASH_ENV"} & child.keys()
    assert child["LANG"] == "C"
    assert child["GIT_EDITOR"] == "true"


def test_a_virtual_environment_inside_the_project_stays(tmp_path: Path) -> None:
    own = tmp_path / ".venv"
    environment = {"PATH": f"{own}/bin:/usr/bin", "VIRTUAL_ENV": str(own)}
    child = child_environment(environment, project=tmp_path, own=own)
    assert child["PATH"] == environment["PATH"]
    assert child["VIRTUAL_ENV"] == str(own)
