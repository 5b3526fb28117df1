"""Other terminal programs beside ours: the same terminal, the same endpoint on this machine, the same answers.

Always measured: ours, a bare Textual app, and the literal design as a program (`textbook_app`). Others are measured
where they are found on the search path, or are named by ``--peer NAME=COMMAND``; the names that are known get a home of
their own in which they are set up for the endpoint. No program gets a credential or another address.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import StatisticsError

import pyte

from tests.benchmarks.desk import BARE, BARE_SEEN, PAL, PROMPT_SEEN, Desk, warm
from tests.benchmarks.figures import Figure, median
from tests.benchmarks.peer_endpoint import MODEL, PeerEndpoint, begin, end
from tests.benchmarks.terminal import Terminal

NAME = "peers"
KEY = "dummy"
TEXTBOOK = Path(__file__).with_name("textbook_app.py")
SIZES = ((30, 10), (80, 24), (200, 50), (120, 40))
STARTS, FIRSTS, STREAMS, ANSWERS = 5, 9, 3, 50
PATIENCE = 90.0
LOOK_SECONDS = 0.1
_UNKNOWN_TO_PYTE = re.compile(
    rb"\x1b\[[<=>][0-?]*[ -/]*[@-~]|\x1b[\]PX^_].*?(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/][@-~]|\x1b\[\?[0-9]*u",
    re.S,
)
LONGEST = 150.0
"""Seconds for all long answers; a program that needs more gets no figure for its memory after them."""
COLUMNS = (
    ("prompt", "ms"),
    ("first character", "ms"),
    ("stream CPU", "s"),
    ("stream wall", "s"),
    ("memory at the prompt", "MB"),
    ("memory after the answers", "MB"),
    ("resize until quiet", "ms"),
)


@dataclass(frozen=True)
class Program:
    """A program under measurement."""

    name: str
    command: Sequence[str]
    seen: str
    """Drawn when the prompt is there."""
    environ: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """Files of its home."""
    talks: bool = True
    """Whether it answers at all."""


class PeerTerminal(Terminal):
    """A program whose daemons count and end with it: all that have its home.

    Some programs write only the cells that changed, so a text is looked for on the screen too, now and then.
    """

    def __init__(self, program: Program, desk: Desk) -> None:
        home = desk.home / program.name.replace(" ", "-")
        home.mkdir(exist_ok=True)
        for name, text in program.files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text, encoding="utf-8")
        environ = {**desk.environ, "HOME": str(home), **program.environ}
        self._home = b"HOME=%s\0" % str(home).encode()
        self._screen = pyte.Screen(120, 40)
        self._stream = pyte.ByteStream(self._screen)
        self._unseen = b""
        self._next_look = 0.0
        super().__init__(program.command, folder=desk.folder, environ=environ)

    def take(self, data: bytes) -> None:
        self._unseen += data

    def resize(self, columns: int, rows: int) -> None:
        self._look()
        self._screen.resize(rows, columns)
        super().resize(columns, rows)

    def shows(self, text: bytes) -> bool:
        if super().shows(text):
            return True
        if time.monotonic() < self._next_look:
            return False
        self._next_look = time.monotonic() + LOOK_SECONDS
        self._look()
        return text.decode() in "\n".join(self._screen.display)

    def _look(self) -> None:
        data, self._unseen = _UNKNOWN_TO_PYTE.sub(b"", self._unseen), b""
        self._stream.feed(data)

    def processes(self) -> list[int]:
        known = super().processes()
        return [*known, *(pid for pid in self._daemons() if pid not in known)]

    def _daemons(self) -> Iterator[int]:
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                if entry.name.isdecimal() and self._home in (entry / "environ").read_bytes():
                    yield int(entry.name)


def run(desk: Desk, *, short: bool) -> list[Figure]:
    warm(desk)
    figures: list[Figure] = []
    with PeerEndpoint() as endpoint:
        *first, last = own(desk, endpoint.url)
        programs = [*first, *others(desk, endpoint.url), last]
        found: dict[str, dict[str, float]] = {program.name: {} for program in programs}
        starts: dict[str, list[float]] = {program.name: [] for program in programs}
        for _ in range(2 if short else STARTS + 1):  # in turn, so that all meet the same machine
            for program in programs:
                with _told(program):
                    starts[program.name].append(start(desk, program))
        for program in programs:
            with _told(program):
                found[program.name] = {
                    "prompt": median(starts[program.name][1:]) * 1000,
                    **measured(desk, program, short=short),
                }
    ours = found["palimpsest"]
    for name, values in found.items():
        figures += [
            Figure(NAME, f"{what}, {name}", ours[what], unit, values[what], name)
            for what, unit in COLUMNS
            if what in values and what in ours
        ]
    return figures


def own(desk: Desk, url: str) -> list[Program]:
    """Ours, and the two that every machine has; the slowest last."""
    settings = {"PAL_CONTEXT_WINDOW": "1000000", "PAL_THRESHOLD": "900000"}
    endpoint = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url, "MODEL_ID": MODEL}
    textbook = (sys.executable, str(TEXTBOOK), url, MODEL, KEY)
    return [
        Program("palimpsest", PAL, PROMPT_SEEN, {**endpoint, **settings}),
        Program("bare Textual app", BARE, BARE_SEEN, talks=False),
        Program("textbook", textbook, BARE_SEEN),
    ]


def others(desk: Desk, url: str) -> list[Program]:
    """Known programs that are installed, and those that the command names."""
    named = dict(peer.split("=", 1) for peer in desk.peers)
    for name, program in KNOWN.items():
        if (path := shutil.which(program)) is not None:
            named.setdefault(name, path)
    programs = []
    for name, command in named.items():
        program, *arguments = shlex.split(command)
        found = (shutil.which(program) or program, *arguments)
        programs.append(SETUPS.get(name.split(" ")[0], _unknown)(name, found, desk, url))
    return programs


@contextmanager
def _told(program: Program) -> Iterator[None]:
    """Go on with the next program when one fails."""
    try:
        yield
    except (TimeoutError, EOFError, OSError, StatisticsError) as error:
        print(f"{program.name} was not measured: {error}", file=sys.stderr, flush=True)


def start(desk: Desk, program: Program) -> float:
    """Return the seconds from its start to its prompt."""
    with PeerTerminal(program, desk) as terminal:
        return terminal.wait_for(program.seen, PATIENCE) - terminal.started


def measured(desk: Desk, program: Program, *, short: bool) -> dict[str, float]:
    """Return what a program takes once it is there, by column."""
    values = {}
    with PeerTerminal(program, desk) as terminal:
        terminal.wait_for(program.seen, PATIENCE)
        terminal.rest(1.0, 5.0)
        values["memory at the prompt"] = terminal.memory()
        if program.talks:
            values |= _talk(terminal, short=short)
        values["resize until quiet"] = 1000 * max(
            _resized(terminal, size, 1 if short else 3) for size in SIZES
        )
    return values


def _talk(terminal: Terminal, *, short: bool) -> dict[str, float]:
    firsts, cpu, wall, number = [], [], [], 0
    for _ in range(3 if short else FIRSTS + 1):
        number += 1
        pressed = _ask(terminal, "first", number)
        firsts.append(terminal.wait_for(begin(number), PATIENCE) - pressed)
        terminal.wait_for(end(number), PATIENCE)
        terminal.rest(0.5, 3.0)
    for _ in range(1 if short else STREAMS):
        number += 1
        before = terminal.cpu()
        pressed = _ask(terminal, "stream", number)
        wall.append(terminal.wait_for(end(number), PATIENCE) - pressed)
        terminal.rest(0.5, 1.5)
        cpu.append(terminal.cpu() - before)
    values = {
        "first character": median(firsts[1:]) * 1000,
        "stream CPU": median(cpu),
        "stream wall": median(wall),
    }
    limit = time.monotonic() + LONGEST
    for _ in range(2 if short else ANSWERS):
        if time.monotonic() > limit:
            return values
        number += 1
        _ask(terminal, "big", number)
        terminal.wait_for(end(number), PATIENCE)
        terminal.rest(0.3, 2.0)
    return {**values, "memory after the answers": terminal.memory()}


def _ask(terminal: Terminal, kind: str, number: int) -> float:
    terminal.write(f"bench {kind} {number}")
    terminal.rest(0.2, 1.0)
    terminal.forget()
    return terminal.write("\r")


def _resized(terminal: Terminal, size: tuple[int, int], rounds: int) -> float:
    """Median seconds from a new size to the last output that follows without a pause."""
    times = []
    for _ in range(rounds):
        terminal.rest(0.3, 2.0)
        terminal.resize(size[0] + 1, size[1])
        terminal.rest(0.3, 2.0)
        begun = time.monotonic()
        terminal.resize(*size)
        times.append(max(0.0, terminal.rest(0.25, 4.0) - begun))
    return median(times)


def table(figures: Iterable[Figure]) -> str:
    """The figures as lines of a Markdown table, a program a row."""
    names: dict[str, dict[str, float]] = {}
    for figure in figures:
        if figure.other is not None:
            names.setdefault(figure.other_name, {})[figure.what.split(", ")[0]] = figure.other
    head = " | ".join(["program", *(f"{what}, {unit}" for what, unit in COLUMNS)])
    lines = [f"| {head} |", "| --- " * (len(COLUMNS) + 1) + "|"]
    for name, values in names.items():
        cells = [_cell(values.get(what), unit) for what, unit in COLUMNS]
        lines.append("| " + " | ".join([name, *cells]) + " |")
    return "\n".join(lines)


def _cell(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    return f"{value:.2f}" if unit == "s" else f"{value:,.0f}"


# How the known ones are set up: no network but the endpoint, no first-run questions, no update checks.


def _claude(name: str, command: Sequence[str], desk: Desk, url: str) -> Program:
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    state = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY], "rejected": []},
        "projects": {str(desk.folder): trusted},
    }
    environ = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    return Program(name, command, "shift+tab", environ, {".claude.json": json.dumps(state)})


def _codex(name: str, command: Sequence[str], desk: Desk, url: str) -> Program:
    config = f"""\
model = "{MODEL}"
model_provider = "local"
check_for_update_on_startup = false
[model_providers.local]
name = "local"
base_url = "{url}/v1"
wire_api = "responses"
[projects."{desk.folder}"]
trust_level = "trusted"
"""
    return Program(name, command, "Ask Codex", {}, {".codex/config.toml": config})


def _vibe(name: str, command: Sequence[str], desk: Desk, url: str) -> Program:
    config = f"""\
active_model = "local"
enable_update_checks = false
enable_telemetry = false
[[providers]]
name = "local"
api_base = "{url}/v1"
api_key_env_var = "LOCAL_KEY"
api_style = "openai"
backend = "generic"
[[models]]
name = "{MODEL}"
provider = "local"
alias = "local"
"""
    return Program(name, command, "tokens (", {"LOCAL_KEY": KEY}, {".vibe/config.toml": config})


def _unknown(name: str, command: Sequence[str], desk: Desk, url: str) -> Program:
    """A program that takes the endpoint from the environment, and shows a prompt sign."""
    endpoint = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY, "MODEL_ID": MODEL}
    more = {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": KEY}
    return Program(name, command, ">", {**endpoint, **more})


Setup = Callable[[str, Sequence[str], Desk, str], Program]
SETUPS: Mapping[str, Setup] = {"claude-code": _claude, "codex": _codex, "mistral-vibe": _vibe}
KNOWN: Mapping[str, str] = {"claude-code": "claude", "codex": "codex", "mistral-vibe": "vibe"}
"""Commands by the names of the programs."""
