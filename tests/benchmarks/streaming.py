"""CPU of drawing a streamed Markdown answer, beside Textual's own Markdown stream in one widget."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.desk import Desk
from tests.benchmarks.figures import Figure, median, percentile
from tests.benchmarks.terminal import Terminal

NAME = "streaming"
ANSWER_CHARS = 8_000
"""About 2,000 tokens."""
APP = Path(__file__).with_name("stream_app.py")


def run(desk: Desk, *, short: bool) -> list[Figure]:
    chars, rounds = (1_600, 1) if short else (ANSWER_CHARS, 3)
    pairs = [
        (stream(desk, "pane", seed, chars), stream(desk, "textual", seed, chars))
        for seed in range(1, rounds + 1)
    ]
    ours, textual = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    late = [moment for one in ours for moment in one["late"]]
    textual_late = [moment for one in textual for moment in one["late"]]
    small, large = (1_600, 4_800) if short else (20_000, 60_000)
    long_one, short_one = stream(desk, "pane", 9, large), stream(desk, "pane", 9, small)

    def figure(what: str, name: str) -> Figure:
        values = [median(one[name] for one in side) for side in (ours, textual)]
        return Figure(NAME, what, values[0], "s", values[1], "MarkdownStream")

    return [
        figure(f"CPU of an answer of {chars:,} characters", "cpu"),
        figure("wall time of it", "wall"),
        Figure(
            NAME,
            "event loop late, 99 of 100",
            percentile(late, 0.99) * 1000,
            "ms",
            percentile(textual_late, 0.99) * 1000,
            "MarkdownStream",
        ),
        Figure(
            NAME,
            "the same, worst",
            max(late) * 1000,
            "ms",
            max(textual_late) * 1000,
            "MarkdownStream",
        ),
        Figure(
            NAME,
            f"CPU per 1,000 characters at {large:,}",
            long_one["cpu"] / large * 1e6,
            "ms",
            short_one["cpu"] / small * 1e6,
            f"at {small:,}",
        ),
    ]


def stream(desk: Desk, kind: str, seed: int, chars: int) -> dict[str, Any]:
    """What the app wrote down about one answer."""
    result = desk.home / f"stream-{kind}-{seed}-{chars}.json"
    command = (sys.executable, str(APP), kind, str(seed), str(chars), str(result))
    with Terminal(command, folder=desk.folder, environ=desk.environ) as terminal:
        end = time.monotonic() + 300
        while not result.exists() or not result.stat().st_size:
            if time.monotonic() > end:
                raise TimeoutError(f"no end of the answer in {command}")
            try:
                terminal.read(0.1)
            except EOFError:
                if not result.exists():
                    raise
                break
    found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return found
