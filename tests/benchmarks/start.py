"""From process start to a prompt that takes keys, beside a bare Textual app; and keys while the SDK is imported."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from tests.benchmarks.desk import BARE, BARE_SEEN, PAL, PROMPT_SEEN, Desk, warm
from tests.benchmarks.figures import Figure, median, percentile
from tests.benchmarks.terminal import Terminal

NAME = "start"
TYPED = "Ж"
"""A letter that nothing draws by itself."""
TYPING_SECONDS = 5.0
KEY_SECONDS = 0.04


@dataclass(frozen=True)
class Start:
    """One start."""

    seen: float
    """Seconds to the drawn prompt."""
    keys: float
    """Seconds to the first typed letter on the screen."""
    cpu: float
    memory: float


def run(desk: Desk, *, short: bool) -> list[Figure]:
    warm(desk)
    runs = 3 if short else 9
    pal = (*PAL, "--demo")
    start(desk, pal, PROMPT_SEEN), start(desk, BARE, BARE_SEEN)  # compiles
    pairs = [(start(desk, pal, PROMPT_SEEN), start(desk, BARE, BARE_SEEN)) for _ in range(runs)]
    ours, bare = [p[0] for p in pairs], [p[1] for p in pairs]

    def figure(what: str, name: str, unit: str, factor: float = 1.0) -> Figure:
        values = [median(getattr(s, name) for s in side) * factor for side in (ours, bare)]
        return Figure(NAME, what, values[0], unit, values[1], "bare Textual app")

    version = [_seconds(desk, (*PAL, "--version")) for _ in range(runs)]
    nothing = [_seconds(desk, (sys.executable, "-c", "pass")) for _ in range(runs)]
    echoes = typing(desk, pal)
    return [
        figure("prompt drawn", "seen", "ms", 1000),
        figure("prompt takes keys", "keys", "ms", 1000),
        figure("CPU until then", "cpu", "ms", 1000),
        figure("memory then", "memory", "MB"),
        Figure(
            NAME,
            "--version",
            median(version) * 1000,
            "ms",
            median(nothing) * 1000,
            "python -c pass",
        ),
        Figure(NAME, "key to echo while the session opens, median", median(echoes) * 1000, "ms"),
        Figure(NAME, "the same, 99 of 100", percentile(echoes, 0.99) * 1000, "ms"),
        Figure(NAME, "the same, worst", max(echoes) * 1000, "ms"),
    ]


def start(desk: Desk, command: Sequence[str], seen: str) -> Start:
    with Terminal(command, folder=desk.folder, environ=desk.environ) as terminal:
        drawn = terminal.wait_for(seen)
        terminal.write(TYPED)
        keys = terminal.wait_for(TYPED)
        return Start(
            drawn - terminal.started, keys - terminal.started, terminal.cpu(), terminal.memory()
        )


def typing(desk: Desk, command: Sequence[str]) -> list[float]:
    """Seconds from key to echo, for letters typed steadily from the first moment on."""
    echoes = []
    letters = [chr(code) for code in range(ord("А"), ord("я"))]
    with Terminal(command, folder=desk.folder, environ=desk.environ) as terminal:
        terminal.wait_for(PROMPT_SEEN)
        for at in range(int(TYPING_SECONDS / KEY_SECONDS)):
            letter = letters[at % len(letters)]
            terminal.forget()
            pressed = terminal.write(letter)
            echoes.append(terminal.wait_for(letter) - pressed)
            while time.monotonic() < pressed + KEY_SECONDS:
                terminal.read(pressed + KEY_SECONDS - time.monotonic())
    return echoes


def _seconds(desk: Desk, command: Sequence[str]) -> float:
    begin = time.monotonic()
    subprocess.run(command, cwd=desk.folder, env=desk.environ, check=True, capture_output=True)
    return time.monotonic() - begin
