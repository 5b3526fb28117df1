"""A day of work in one session: turns with reads and commands, cancelled ones, compactions and new sizes of the window."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.compaction.summary import HEADINGS
from tests.benchmarks.desk import PROMPT_SEEN, Desk
from tests.benchmarks.figures import Figure
from tests.benchmarks.memory import write_files
from tests.benchmarks.sessions import markdown
from tests.benchmarks.terminal import Terminal, descendants
from tests.e2e.endpoint import KEY, MODEL, Body, Endpoint, Held, Reaction, calls, says

NAME = "soak"
TURNS = 2_000
SHORT_TURNS = 28
THRESHOLD = 12_000
"""Low, so that a compaction comes every few turns."""
CANCELLED, RESIZED = 7, 5
"""Every so manieth turn is cancelled, and finds the window in another size."""
HELD = ("tasks", "timers", "widgets", "handlers")
"""What the program counts of itself."""
SIZES = ((120, 40), (80, 24), (200, 60), (100, 30))
GLANCES = 3
IDLE_SECONDS = 5.0
_NUMBER = re.compile(r"turn (\d+)\b")


@dataclass(frozen=True)
class Look:
    """What the process holds."""

    memory: float
    """Resident megabytes."""
    descriptors: int
    threads: int
    record: int
    """Bytes of the session's folder."""
    held: Mapping[str, int]
    """How many of each of `HELD`."""


def run(desk: Desk, *, short: bool) -> list[Figure]:
    turns = SHORT_TURNS if short else TURNS
    write_files(desk.folder)
    with Endpoint() as endpoint:
        endpoint.brain = _Brain(endpoint)
        environ = {
            **desk.environ,
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": endpoint.url,
            "MODEL_ID": MODEL,
            "PAL_THRESHOLD": str(THRESHOLD),
        }
        held = desk.home / "held.json"
        command = (sys.executable, str(Path(__file__).with_name("soak_app.py")), str(held))
        with Terminal(command, folder=desk.folder, environ=environ) as terminal:
            terminal.wait_for(PROMPT_SEEN, 120)
            looks = []
            for number in range(1, turns + 1):
                _turn(terminal, number)
                if number in (turns // 4, turns // 2, turns):
                    terminal.resize(*SIZES[0])  # what is held depends on what has room
                    looks.append(_look(terminal, desk.folder, held))
            terminal.rest(1.0)
            before = terminal.cpu()
            terminal.rest(IDLE_SECONDS, IDLE_SECONDS)
            idle = (terminal.cpu() - before) / IDLE_SECONDS
        invalid = len(endpoint.invalid)
    quarter, half, whole = looks
    when = f"after {turns:,} turns"
    return [
        Figure(NAME, f"memory {when}", whole.memory, "MB", quarter.memory, "MB at a quarter"),
        Figure(
            NAME, f"descriptors {when}", whole.descriptors, "", quarter.descriptors, "at a quarter"
        ),
        Figure(NAME, f"threads {when}", whole.threads, "", quarter.threads, "at a quarter"),
        *(
            Figure(NAME, f"{what} {when}", whole.held[what], "", quarter.held[what], "at a quarter")
            for what in HELD
        ),
        Figure(NAME, f"record {when}", whole.record / 1e6, "MB", half.record / 1e6, "MB at half"),
        Figure(NAME, "CPU while idle after them", idle * 100, "% of a core"),
        Figure(NAME, "invalid requests", invalid, ""),
    ]


def _turn(terminal: Terminal, number: int) -> None:
    if number % RESIZED == 0:
        terminal.resize(*SIZES[number // RESIZED % len(SIZES)])
    terminal.write(f"turn {number}")
    terminal.wait_for(f"turn {number}", 120)
    terminal.forget()
    terminal.write("\r")
    if number % CANCELLED == 0:
        terminal.wait_for(_begin(number), 120)
        terminal.write("\x1b")
        terminal.wait_for("ancelled", 120)
    else:
        terminal.wait_for(_end(number), 120)
    terminal.rest(0.1, 2.0)
    terminal.forget()


def _look(terminal: Terminal, folder: Path, held: Path) -> Look:
    """Look a few times and take the least: what ends by itself in a moment is no growth."""
    memory = terminal.memory()
    record = sum(file.stat().st_size for file in folder.glob(".transcripts/**/*") if file.is_file())
    counts = [_counts(terminal, held) for _ in range(GLANCES)]
    least = {what: min(count[what] for count in counts) for what in counts[0]}
    return Look(memory, least.pop("descriptors"), least.pop("threads"), record, least)


def _counts(terminal: Terminal, held: Path) -> dict[str, int]:
    terminal.rest(0.5)
    counts = dict.fromkeys(("descriptors", "threads"), 0)
    for pid in descendants(terminal.pid):
        with suppress(OSError):
            counts["descriptors"] += sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
            counts["threads"] += sum(1 for _ in Path(f"/proc/{pid}/task").iterdir())
    held.unlink(missing_ok=True)
    os.kill(terminal.pid, signal.SIGUSR2)
    end = time.monotonic() + 120
    while not held.exists():
        if time.monotonic() > end:
            raise TimeoutError("the program did not say what it holds")
        terminal.read(0.05)
    return counts | json.loads(held.read_text())


def _begin(number: int) -> str:
    return f"Ш{number}Ш"


def _end(number: int) -> str:
    return f"Ж{number}Ж"


class _Brain:
    """Reads a file and runs a command in each turn, then says a little; holds back answers that will be cancelled."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def __call__(self, body: Body) -> Reaction:
        self._endpoint.sent.clear()  # thousands of requests would be this program's memory, not the other's
        last = body["messages"][-1]["content"]
        if "about to be compressed" in str(last):
            return says("\n\n".join(f"## {heading}\nThe work goes on." for heading in HEADINGS))
        number = int(_NUMBER.findall(str(body["messages"]))[-1])
        if number % CANCELLED == 0:
            return Held(says(f"{_begin(number)} {markdown(number, 4_000)}"), pieces=20)
        results = (
            sum(block["type"] == "tool_result" for block in last) if isinstance(last, list) else 0
        )
        if not results:
            return calls("read_file", f"toolu_{number}_r", path=f"review_{number % 50 + 1}.py")
        if results and f"toolu_{number}_b" not in str(body["messages"][-2:]):
            return calls("bash", f"toolu_{number}_b", command="ls; head -n 40 review_1.py")
        return says(f"{markdown(number, 1_000)}\n\n{_end(number)}")
