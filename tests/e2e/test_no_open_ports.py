"""A session opens no port: nothing in its tree of processes can be talked to from outside."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from app.tools.descendants import process_table
from tests.e2e.desk import Desk, answer_question, opened, send
from tests.e2e.endpoint import Endpoint, calls, says

LISTENS, TAKES_CALLS = "0A", 1 << 16


def listening() -> set[str]:
    """Inodes of all sockets of the machine that wait for somebody."""
    found = set()
    for name in ("tcp", "tcp6"):
        rows = [row.split() for row in Path("/proc/net", name).read_text().splitlines()[1:]]
        found |= {row[9] for row in rows if row[3] == LISTENS}
    for name in ("udp", "udp6"):
        rows = [row.split() for row in Path("/proc/net", name).read_text().splitlines()[1:]]
        found |= {row[9] for row in rows}
    rows = [row.split() for row in Path("/proc/net/unix").read_text().splitlines()[1:]]
    return found | {row[6] for row in rows if int(row[3], 16) & TAKES_CALLS}


def tree(top: int) -> set[int]:
    found, more = {top}, True
    table = process_table()
    while more:
        more = {p.pid for p in table if p.parent in found} - found
        found |= more
    return found


def sockets(process: int) -> set[str]:
    found = set()
    with suppress(OSError):
        for name in Path("/proc", str(process), "fd").iterdir():
            with suppress(OSError):
                target = os.readlink(name)  # noqa: PTH115 - its target is no path
                found |= {target[8:-1]} if target.startswith("socket:[") else set()
    return found


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no /proc elsewhere")
@pytest.mark.parametrize("mode", ["ask", "auto"])
def test_nothing_listens_while_a_command_runs_in_a_session(desk: Desk, mode: str) -> None:
    replies = [calls("bash", "c1", command="echo begun; sleep 100"), says("Done.")]
    with Endpoint(lambda body: replies.pop(0)) as endpoint:
        desk.use(endpoint)
        with opened(desk.pal("--set", f"mode={mode}")) as pal:
            send(pal, "go")
            if mode == "ask":
                answer_question(pal, "y")
            pal.wait_for("│ begun")
            processes = tree(pal.process.pid)
            assert len(processes) >= 3, "the program, what is above its commands, and one"
            mine = set().union(*map(sockets, processes))
            assert mine, "it is connected to its endpoint"
            assert not mine & listening()
            assert listening() & sockets(os.getpid()), "the endpoint of this test is seen"
