"""The program is ended from outside while a command runs: nothing goes on behind the user's back."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.e2e.desk import Desk, answer_question, opened, send
from tests.e2e.endpoint import Endpoint, calls, says


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM], ids=["hangup", "term"])
def test_a_command_ends_with_the_program_and_the_record_says_so(
    desk: Desk, number: signal.Signals
) -> None:
    replies = [calls("bash", "c1", command="echo pid $(echo $$); sleep 100"), says("Never.")]
    with Endpoint(lambda body: replies.pop(0)) as endpoint:
        desk.use(endpoint)
        with opened(desk.pal()) as pal:
            send(pal, "go")
            answer_question(pal, "y")
            pal.wait_for("│ pid ")
            command = int(pal.line_with("│ pid ").split("│ pid ")[1].split()[0])
            assert is_alive(command)
            os.kill(pal.process.pid, number)
            assert pal.exit_code() == 128 + number
            late = time.monotonic() + 10
            while is_alive(command) and time.monotonic() < late:
                pal.read_for(0.05)
            assert not is_alive(command)
    (result,) = desk.segments()[-1][-1]["content"]
    assert "interrupted" in result["content"]
