"""The program's own key stays in its memory: whatever happens, no file, no terminal and no child gets it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.desk import Desk, ask, environment, opened, send
from tests.e2e.endpoint import Body, Endpoint, Refusal, calls, says
from tests.e2e.terminal import Terminal

pytestmark = pytest.mark.slow

KEY = "marked-key-7f3a9c1e5b"
"""As no vendor would form it, so that only knowledge of it can hide it."""
SNOOP = """
env; printenv ANTHROPIC_API_KEY; ulimit -c unlimited
tr '\\0' '\\n' < /proc/$PPID/environ; cat /proc/$PPID/cmdline; ps eww
env > child.txt
for at in /proc/[0-9]*; do cat $at/environ $at/cmdline >> all.txt 2>/dev/null; done
python3 -c 'import os; print(dict(os.environ))'
cat key.txt
echo snooped
"""


@pytest.fixture
def marked(desk: Desk) -> Iterator[Endpoint]:
    """An endpoint that makes the agent look for the key, and says it itself in an error."""

    def brain(body: Body):
        text = str(body["messages"][-1])
        if "tool_result" in text:
            return says("looked" if "snooped" in text else text[-300:])
        if "refuse" in text:
            return Refusal(400, "invalid_request_error", f"not with {KEY}")
        if "busy" in text:
            return Refusal(529, "overloaded_error", f"{KEY} must wait")
        return calls("bash", f"toolu_{len(body['messages'])}", command="sh snoop.sh")

    with Endpoint(brain, key=KEY) as endpoint:
        (desk.project / "snoop.sh").write_text(SNOOP)
        (desk.project / "key.txt").write_text(f"{KEY}\n")
        desk.use(endpoint, ANTHROPIC_API_KEY=KEY, PAL_ATTEMPTS="2")
        yield endpoint


def run(desk: Desk, *arguments: str, code: str = "") -> subprocess.CompletedProcess[str]:
    start = f"{code}\nimport sys; from app.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-P", "-c", start, *arguments],
        cwd=desk.project,
        env=environment(desk.home, **desk.env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
    )


def leaks(desk: Desk) -> list[str]:
    """Files of home, project and temporary folder that hold the key, but for the one that the user made."""
    return [
        str(path)
        for root in (desk.home, desk.project)
        for path in Path(root).rglob("*")
        if path.is_file() and path.name != "key.txt" and KEY.encode() in path.read_bytes()
    ]


def test_no_command_and_no_file_gets_it_in_a_run_without_a_screen(
    desk: Desk, marked: Endpoint
) -> None:
    done = [
        run(desk, "-p", "look around", "--allow", "bash: sh snoop.sh", "--output", "stream-json"),
        run(desk, "-p", f"my key is {KEY}; refuse", "--output", "text"),
        run(desk, "-p", "busy", "--continue", "--output", "json"),
        run(desk, "doctor"),
        run(desk, "sessions", "show"),
        run(desk, "sessions", "export", "--format", "jsonl"),
    ]
    assert "snooped" in done[0].stdout and "looked" in done[0].stdout
    assert (desk.project / "all.txt").stat().st_size and (desk.project / "child.txt").read_text()
    for one in done:
        assert KEY not in one.stdout + one.stderr, one.args
    assert not leaks(desk)
    assert any(
        KEY in sent.text for sent in marked.sent
    )  # the user's words go to the model as they are


CRASH = """
import app.headless as h
async def broken(*_, **__):
    secret = {key!r}
    raise RuntimeError("broke with " + secret)
h.run_headless = broken
"""


def test_a_crash_without_a_screen_is_told_in_two_lines_and_kept_without_it(
    desk: Desk, marked: Endpoint
) -> None:
    done = run(desk, "-p", "hello", code=CRASH.format(key=KEY))
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == (
        "pal: this program failed: RuntimeError: broke with [this program's key]"
    )
    assert "Traceback" not in done.stdout + done.stderr
    report = desk.home / ".local" / "state" / "palimpsest" / "crash.txt"
    assert "in broken" in report.read_text() and report.stat().st_mode & 0o777 == 0o600
    assert KEY not in done.stderr and not leaks(desk)


FAULTY_TOOL = """
from app.tools.bash import BashTool
async def broken(self, arguments, emit):
    raise LookupError("\\x1b]0;title\\x07 broke with " + {key!r})
BashTool.run = broken
"""


def test_a_tool_with_a_fault_in_it_tells_it_without_the_key_or_control_characters(
    desk: Desk, marked: Endpoint
) -> None:
    done = run(desk, "-p", "look", "--allow", "bash", code=FAULTY_TOOL.format(key=KEY))
    told = str(marked.sent[-1].body["messages"][-1])
    assert "a fault of this program: LookupError" in told and "[this program's key]" in told
    for text in (told, done.stdout, done.stderr):
        assert KEY not in text and "\x1b" not in text and "\x07" not in text
    assert "Traceback" not in done.stdout + done.stderr
    assert not leaks(desk)


CRASH_ON_SCREEN = """
from app.ui.screens.pair import PairScreen
submit = PairScreen.submit
def broken(self, text):
    secret = {key!r}
    if text == "/cost":
        raise RuntimeError("broke with " + secret)
    return submit(self, text)
PairScreen.submit = broken
"""


def test_the_terminal_never_gets_it_not_even_from_a_crash(desk: Desk, marked: Endpoint) -> None:
    start = (
        CRASH_ON_SCREEN.format(key=KEY) + "\nimport sys; from app.cli import main; sys.exit(main())"
    )
    with Terminal(
        [sys.executable, "-P", "-c", start, "--set", "allow=bash: sh snoop.sh"],
        cwd=desk.project,
        env=environment(desk.home, **desk.env),
        columns=110,
        rows=46,
    ) as pal:
        opened(pal)
        ask(pal, "look around")
        pal.wait_for("looked")
        ask(pal, "/copy")
        ask(pal, "/export out.md")
        ask(pal, "refuse")
        send(pal, "/settings")
        pal.wait_for("Esc back", "api_key")
        pal.press("escape")
        pal.wait_gone("Esc back")
        pal.say("/cost")
        assert pal.exit_code() == 1
        raw = bytes(pal.raw)
        assert pal.is_restored
    assert b"this program failed" in raw
    assert KEY.encode() not in raw
    assert (desk.project / "out.md").exists() and not leaks(desk)
