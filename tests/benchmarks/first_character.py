"""From Enter to the first character of the answer, against an endpoint on this machine that answers at once."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from tests.benchmarks.desk import BARE_SEEN, PAL, PROMPT_SEEN, Desk, warm
from tests.benchmarks.figures import Figure, median
from tests.benchmarks.terminal import Terminal
from tests.e2e.endpoint import KEY, MODEL, Body, Endpoint, Reply, says

NAME = "first_character"
CLIENT = Path(__file__).with_name("bare_client.py")
MARK = "Ж"


def run(desk: Desk, *, short: bool) -> list[Figure]:
    warm(desk)
    rounds = 3 if short else 15
    with Endpoint(_echo) as endpoint:
        place = urlsplit(endpoint.url)
        client = (sys.executable, str(CLIENT), str(place.hostname), str(place.port), MODEL, KEY)
        environ = {
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": endpoint.url,
            "MODEL_ID": MODEL,
        }
        ours = firsts(desk, PAL, environ, PROMPT_SEEN, rounds)
        bare = firsts(desk, client, {}, BARE_SEEN, rounds)
    other = "bare client and Textual app"
    return [
        Figure(
            NAME,
            "Enter to first character, median",
            median(ours[1:]) * 1000,
            "ms",
            median(bare[1:]) * 1000,
            other,
        ),
        Figure(NAME, "the same, worst", max(ours[1:]) * 1000, "ms", max(bare[1:]) * 1000, other),
        Figure(
            NAME,
            "the first turn after start, with the SDK's import",
            ours[0] * 1000,
            "ms",
            bare[0] * 1000,
            other,
        ),
    ]


def firsts(
    desk: Desk, command: Sequence[str], environ: dict[str, str], seen: str, rounds: int
) -> list[float]:
    """Seconds of each turn, the first one right after the start."""
    taken = []
    environ = {**desk.environ, **environ}
    with Terminal(command, folder=desk.folder, environ=environ) as terminal:
        terminal.wait_for(seen)
        for number in range(1, rounds + 1):
            terminal.write(f"go {number}")
            terminal.rest(0.2)
            terminal.forget()
            pressed = terminal.write("\r")
            taken.append(terminal.wait_for(f"{MARK}{number}{MARK}") - pressed)
            terminal.rest(0.5)
    return taken


def _echo(body: Body) -> Reply:
    """Answer "go 7" with a text that begins with the mark and 7."""
    content = body["messages"][-1]["content"]
    text = content if isinstance(content, str) else content[0]["text"]
    return says(f"{MARK}{text.split()[-1]}{MARK} is the answer.")
