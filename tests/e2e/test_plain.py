"""A terminal that draws no screen: the same agent, line by line, without one control sequence."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.e2e.desk import Desk
from tests.e2e.endpoint import Endpoint, Held, calls, says
from tests.e2e.terminal import Terminal

DUMB = {"TERM": "dumb"}


def say(pal: Terminal, text: str, *wanted: str) -> None:
    """Type a line and read until what is wanted came after it and the prompt stands again."""
    mark = len(pal.raw)
    pal.type(f"{text}\r")

    def came() -> bool:
        after = bytes(pal.raw[mark:]).decode(errors="replace")
        return all(word in after for word in wanted) and after.endswith("> ")

    pal.until(came, str(wanted))


@pytest.mark.slow
def test_one_can_talk_answer_questions_and_leave(desk: Desk, endpoint: Endpoint) -> None:
    desk.use(endpoint)
    with desk.pal(env=DUMB) as pal:
        pal.wait_for("/help says how", "pal>")
        say(pal, "/help", "/compact [focus]")
        say(pal, "read config.yaml", "currency: EUR")
        say(pal, "in config.yaml replace 500 with 750", "-limit: 500", "y yes")
        say(pal, "y", "pal> ")
        assert "750" in (desk.project / "config.yaml").read_text()
        say(pal, "!echo told; exit 3", "told", "[exit 3, 1 line · goes with your next message]")
        say(pal, "/status", "tokens before it compacts")
        say(pal, "/theme", "not known here")
        pal.type("quit\r")
        assert pal.exit_code() == 0
        assert b"\x1b" not in pal.raw
        assert pal.is_restored
    assert endpoint.invalid == []


@pytest.mark.slow
def test_ctrl_c_cancels_a_turn_and_leaves_at_the_prompt(desk: Desk) -> None:
    slow = Held(says("word " * 50))
    with Endpoint(lambda body: slow) as endpoint:
        desk.use(endpoint)
        with desk.pal(env=DUMB) as pal:
            pal.wait_for("pal>")
            pal.type("tell me a lot\r")
            pal.wait_for("word")
            mark = len(pal.raw)
            os.kill(pal.process.pid, signal.SIGINT)
            pal.until(lambda: bytes(pal.raw[mark:]).endswith(b"pal> "), "the prompt")
            slow.release.set()
            os.kill(pal.process.pid, signal.SIGINT)
            assert pal.exit_code() == 130
            assert b"\x1b" not in pal.raw


@pytest.mark.slow
def test_what_was_typed_before_a_question_does_not_answer_it(desk: Desk) -> None:
    replies = [calls("bash", "c1", command="touch made"), says("Done."), says("Again.")]
    with Endpoint(lambda body: replies.pop(0)) as endpoint:
        desk.use(endpoint)
        with desk.pal(env=DUMB) as pal:
            pal.wait_for("pal>")
            pal.type("go\ry\r")
            pal.wait_for("y yes")
            say(pal, "n", "Done.", "Again.")  # the early "y" became a message of its own
            assert not Path(desk.project, "made").exists()
            pal.type("\x04")
            assert pal.exit_code() == 0
