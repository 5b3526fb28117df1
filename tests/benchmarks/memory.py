"""Resident memory over long sessions: many long answers, and a review of many files with and without compaction."""

from __future__ import annotations

import re
from pathlib import Path

from app.compaction.summary import HEADINGS
from app.core.messages import Text, ToolResult, ToolUse
from tests.benchmarks.desk import PAL, PROMPT_SEEN, Desk
from tests.benchmarks.figures import Figure
from tests.benchmarks.sessions import generated, markdown
from tests.benchmarks.terminal import Terminal
from tests.e2e.endpoint import KEY, MODEL, Body, Endpoint, Reply, calls, says

NAME = "memory"
ANSWER_CHARS = 20_000
IDLE_SECONDS = 5.0
_NUMBER = re.compile(r"turn (\d+)")


def run(desk: Desk, *, short: bool) -> list[Figure]:
    turns = 3 if short else 50
    with Endpoint(_long_answer) as endpoint:
        first, last, cpu, idle = session(
            desk, endpoint, turns, {"PAL_CONTEXT_WINDOW": "1000000", "PAL_THRESHOLD": "900000"}
        )
    figures = [
        Figure(
            NAME,
            f"after {turns} answers of {ANSWER_CHARS // 1000} kB",
            last,
            "MB",
            first,
            "MB after the first",
        ),
        Figure(NAME, "CPU of such an answer", cpu * 1000, "ms"),
        Figure(NAME, "CPU while idle after them", idle * 100, "% of a core"),
    ]
    write_files(desk.folder)
    with Endpoint(_review) as endpoint:
        _, without, _, _ = session(
            desk, endpoint, turns, {"PAL_MICRO_POLICY": "off", "PAL_AUTO_COMPACT": "false"}
        )
    with Endpoint(_review) as endpoint:
        _, ours, _, _ = session(desk, endpoint, turns, {})
    return [
        *figures,
        Figure(
            NAME, f"after a review of {turns} turns", ours, "MB", without, "MB without compaction"
        ),
    ]


def session(
    desk: Desk, endpoint: Endpoint, turns: int, settings: dict[str, str]
) -> tuple[float, float, float, float]:
    """Memory after the first and the last turn, CPU seconds of a turn, and the share of a core while idle."""
    environ = {
        **desk.environ,
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": endpoint.url,
        "MODEL_ID": MODEL,
        **settings,
    }
    first = cpu = 0.0
    with Terminal(PAL, folder=desk.folder, environ=environ) as terminal:
        terminal.wait_for(PROMPT_SEEN)
        for number in range(1, turns + 1):
            terminal.write(f"turn {number}")
            terminal.rest(0.1)
            terminal.forget()
            terminal.write("\r")
            terminal.wait_for(_end(number), 60)
            terminal.rest(0.3)
            if number == 1:
                first, cpu = terminal.memory(), terminal.cpu()
        spent = (terminal.cpu() - cpu) / max(1, turns - 1)
        terminal.rest(1.0)
        before = terminal.cpu()
        terminal.rest(IDLE_SECONDS, IDLE_SECONDS)
        return first, terminal.memory(), spent, (terminal.cpu() - before) / IDLE_SECONDS


def _end(number: int) -> str:
    return f"Ж{number}Ж"


def _number(body: Body) -> int:
    """Number of the newest turn that the request tells of."""
    return int(_NUMBER.findall(str(body["messages"]))[-1])


def _long_answer(body: Body) -> Reply:
    number = _number(body)
    return says(f"{markdown(number, ANSWER_CHARS)}\n\n{_end(number)}")


def _review(body: Body) -> Reply:
    """Read one more file in each turn and say a little about it."""
    last = body["messages"][-1]["content"]
    if "about to be compressed" in str(last):
        return says("\n\n".join(f"## {heading}\nThe review goes on." for heading in HEADINGS))
    number = _number(body)
    if isinstance(last, list) and any(block["type"] == "tool_result" for block in last):
        return says(f"{markdown(number, 1_500)}\n\n{_end(number)}")
    return calls("read_file", f"toolu_{number}", path=f"review_{number}.py")


def write_files(folder: Path) -> None:
    """Files whose sizes are those of the reads in generated sessions."""
    reads: list[str] = []
    for seed in range(1, 40):
        names: dict[str, str] = {}
        for message in generated(seed, 30).messages:
            for block in message.content:
                if isinstance(block, ToolUse):
                    names[block.id] = block.name
                elif isinstance(block, ToolResult) and names[block.tool_use_id] == "read_file":
                    reads.append(block.text)
                elif isinstance(block, Text):
                    continue
        if len(reads) > 60:
            break
    for number, text in enumerate(reads[:60], 1):
        (folder / f"review_{number}.py").write_text(text, encoding="utf-8")
