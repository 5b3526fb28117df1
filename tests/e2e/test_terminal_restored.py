"""Whatever ends the program, the terminal is as it was: every mode that was switched on is off again."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

import pytest

from tests.e2e.desk import Desk, environment, opened
from tests.e2e.terminal import Terminal

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
DEFAULT_ON = {"7", "25"}
"""Modes that a terminal begins with: lines wrap, the cursor is seen."""
_MODE = re.compile(rb"\x1b\[\?([\d;]+)([hl])")
_KITTY = re.compile(rb"\x1b\[([<>])\d*u")
_TITLE = re.compile(rb"\x1b\[(22|23);0t")


def left_on(raw: bytes) -> set[str]:
    """Modes that are not as a terminal begins, after all that was written to it."""
    on = set(DEFAULT_ON)
    for numbers, switch in _MODE.findall(raw):
        for number in numbers.decode().split(";"):
            (on.add if switch == b"h" else on.discard)(number)
    return on ^ DEFAULT_ON


def is_as_it_was(pal: Terminal) -> bool:
    raw = bytes(pal.raw)
    keys = [1 if mark == b">" else -1 for mark in _KITTY.findall(raw)]
    titles = [1 if number == b"22" else -1 for number in _TITLE.findall(raw)]
    assert keys, "the keyboard protocol was asked for"
    assert titles, "the title was kept"
    return not left_on(raw) and sum(keys) == sum(titles) == 0 and pal.is_restored


def state(process: int) -> str:
    """The letter that says what a process does, ``T`` for stopped."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.parametrize(
    "how",
    [
        "ctrl+q",
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, marks=pytest.mark.slow),
    ],
)
def test_after_quitting_and_after_a_signal(desk: Desk, how: str | signal.Signals) -> None:
    with opened(desk.pal("--demo")) as pal:
        assert left_on(bytes(pal.raw)) >= {"1049", "1000", "1006", "2004", "1004"}
        if isinstance(how, signal.Signals):
            os.kill(pal.process.pid, how)
        else:
            pal.press(how)
        pal.exit_code()
        assert is_as_it_was(pal), left_on(bytes(pal.raw))


@pytest.mark.slow
def test_after_a_failure_of_the_program(desk: Desk) -> None:
    broken = (
        "from app.ui.screens.pair import PairScreen\n"
        "PairScreen.action_help = lambda self: 1 / 0\n"
        "import sys; from app.cli import main; sys.argv[1:] = ['--demo']; sys.exit(main())"
    )
    with Terminal(
        [sys.executable, "-c", broken], cwd=desk.project, env=environment(desk.home), columns=110
    ) as pal:
        opened(pal)
        pal.press("f1")
        assert pal.exit_code() != 0
        assert is_as_it_was(pal), left_on(bytes(pal.raw))


@pytest.mark.slow
def test_stopped_with_ctrl_z_and_gone_on_with_fg(desk: Desk) -> None:
    with opened(desk.pal("--demo")) as pal:
        pal.type("half a text")
        pal.wait_for("half a text")
        pal.press("ctrl+z")
        pal.until(lambda: state(pal.process.pid) == "T", "the program to stop")
        pal.read_for(0.2)
        assert is_as_it_was(pal), left_on(bytes(pal.raw))
        pal.screen.reset()
        os.kill(pal.process.pid, signal.SIGCONT)
        pal.wait_for("half a text")
        pal.type(" goes on")
        pal.wait_for("half a text goes on")
        pal.press("ctrl+q")
        pal.exit_code()
        assert is_as_it_was(pal), left_on(bytes(pal.raw))


@pytest.mark.slow
def test_stopped_without_notice_and_gone_on(desk: Desk) -> None:
    with opened(desk.pal("--demo")) as pal:
        for _ in range(8):  # wherever the program stands just then, also in the midst of a write
            os.kill(pal.process.pid, signal.SIGSTOP)
            pal.until(lambda: state(pal.process.pid) == "T", "the program to stop")
            os.kill(pal.process.pid, signal.SIGCONT)
            pal.read_for(0.05)

        def is_typed_into() -> bool:
            pal.type("x")  # what comes before the terminal is in order again may be dropped
            pal.read_for(0.3)
            return " x" in pal.text

        pal.until(is_typed_into, "the prompt to take a key")
        pal.press("ctrl+q")
        pal.exit_code()
        assert is_as_it_was(pal), left_on(bytes(pal.raw))


@pytest.mark.slow
def test_after_a_kill_the_next_start_mends_the_terminal_and_brings_the_draft_back(
    desk: Desk,
) -> None:
    program = f"{sys.executable} -m app --demo"
    twice = ["sh", "-c", f"{program}; {program}"]
    with Terminal(twice, cwd=desk.project, env=environment(desk.home), columns=110) as shell:
        opened(shell)
        shell.type("not yet sent")
        shell.wait_for("not yet sent")
        drafts = desk.home / ".local" / "state" / "palimpsest" / "drafts"
        shell.until(
            lambda: any("not yet sent" in file.read_text() for file in drafts.glob("*.json")),
            "the draft on disk",
        )
        (first,) = children(shell.process.pid)
        os.kill(first, signal.SIGKILL)
        shell.until(lambda: children(shell.process.pid) not in ([], [first]), "the second start")
        shell.screen.reset()
        shell.wait_for("not yet sent")
        shell.press("ctrl+q")
        shell.exit_code()
        assert left_on(bytes(shell.raw)) == set()
        assert shell.is_restored


def children(process: int) -> list[int]:
    path = Path(f"/proc/{process}/task/{process}/children")
    return [int(word) for word in path.read_text().split()]


STRAY = (
    b"\x1b]11;rgb:1616/1717/1a1a\x1b\\",
    b"\x1b[?62;22c",
    b"\x1b[<35;;M",
    b"\x1b[M\xff\xfe\x80",
    b"[<35;40;12M",
    b"\x1b[8;40;120t",
    b"\x1b[1114112;1u",
    b"\xff\xfe",
    b"\x1b[48;0;0;0;0t\x1b[<0;500;500M",
)


@pytest.mark.slow
def test_stray_reports_of_the_terminal_are_not_typed(desk: Desk) -> None:
    with opened(desk.pal("--demo")) as pal:
        for letter, report in zip("abcdefghi", STRAY, strict=True):
            pal.type(letter)
            pal._write(report)
            pal.read_for(0.02)
        pal.type("\x1b]10;rgb:dc")
        pal.read_for(0.3)
        pal.type("dc/d7d7/cbcb\x07.")
        pal.wait_for("abcdefg")
        pal.until(lambda: "." in pal.line_with("abcdefg"), "the last letter")
        typed = pal.line_with("abcdefg").split()[0]
        assert typed == "abcdefghi."
        pal.press("ctrl+q")
        pal.exit_code()
        assert is_as_it_was(pal), left_on(bytes(pal.raw))


@pytest.mark.slow
def test_a_megabyte_is_pasted_as_one_chip_that_one_key_removes(desk: Desk) -> None:
    with opened(desk.pal("--demo")) as pal:
        pal.type("\x1b[200~" + "a line of pasted text\r" * 48_000 + "\x1b[201~")
        pal.wait_for("[Pasted text #1 +48,000 lines]")
        pal.press("backspace")
        pal.wait_for("Ask, or / for commands")
