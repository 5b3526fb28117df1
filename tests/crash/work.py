"""The work that is killed: a small project, what is asked in it, and one run of `pal` through each front end."""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.crash.ledger import JsonObject, Ledger
from tests.crash.record_check import Files, Verdict, files_of, judge
from tests.crash.spawner import PLAIN, Run, Spawner, World
from tests.e2e.desk import BUSY, READY, environment
from tests.e2e.terminal import NotShown, Terminal
from tests.wire.api_rules import complaints

SETTINGS = ("threshold=9k", "micro_policy=every-turn", "preserve_tools=none")
"""All three layers come within a few requests."""
FLAGS = ("--demo", "--accept-edits", *(f for s in SETTINGS for f in ("--set", s)))
ASKED = (
    "Read every Python file in the shop directory one by one",
    "read config.yaml and README.md",
    "in config.yaml replace `limit: 500` with `limit: 600`",
    "Keep reading files until compaction triggers",
    "in config.yaml replace `limit: 600` with `limit: 500`",
    "search for amount",
    "Use the compact tool to manually compress the conversation",
    "what have we read so far?",
)
FAILED = "✗ failed".encode()
"""Is written to the rule when a turn failed."""
MODULE = '''"""Rules for {name}: what is counted and settled."""

{body}
'''


def make_project(folder: Path) -> Path:
    """Write a project of a few files, some thousand tokens in all."""
    shop = folder / "shop"
    shop.mkdir(parents=True)
    for name in ("accounts", "billing", "carriers", "delivery"):
        body = "\n".join(
            f"def settle_{name}_{n}(amount: int) -> int:\n    return amount * {n} + {n * 7 % 11}\n"
            for n in range(40)
        )
        (shop / f"{name}.py").write_text(MODULE.format(name=name, body=body))
    (folder / "README.md").write_text("# Shop\n\nBooks of a shop.\n")
    (folder / "config.yaml").write_text("currency: EUR\nlimit: 500\n")
    return folder


@dataclass(frozen=True)
class Moment:
    """When a run is killed: by how far it has come, so that a loaded machine does not kill it ever earlier."""

    size: float
    """Bytes that it has written to its output or terminal."""
    seconds: float
    """What it lives on from there."""


@dataclass
class Outcome:
    """How one run ended and what it said."""

    code: int
    heard: list[JsonObject] = field(default_factory=list)
    sent: list[JsonObject] = field(default_factory=list)
    errors: str = ""
    seconds: float = 0.0

    @property
    def killed(self) -> bool:
        return self.code == -9

    @property
    def last(self) -> JsonObject:
        """The ``turn_ended`` event; {} when it did not come."""
        return next((e for e in self.heard if e["type"] == "turn_ended"), {})

    @property
    def invalid(self) -> list[str]:
        """What is wrong with the requests that it sent."""
        found: list[str] = []
        for body in self.sent:
            found += complaints(json.dumps(body).encode())
        refused = (e["message"] for e in self.heard if e["type"] == "error")
        return [*found, *(m for m in refused if "400" in m or "invalid" in m)]


class Place:
    """A project with its home, whose newest session goes on from run to run."""

    def __init__(self, folder: Path, spawner: Spawner, jobs: Iterator[int] | None = None) -> None:
        self.folder = folder
        self.project = make_project(folder / "project")
        self.home = folder / "home"
        self.spawner = spawner
        self.ledger = Ledger()
        self.before: Files = {}
        self.env = environment(self.home)
        self.asked = 0
        self.out = folder / "out"
        """What the newest run of `pal -p` prints."""
        self.printed = self.drawn = 0
        """Bytes that the newest runs of `pal -p` and of the app wrote."""
        self._jobs = jobs or itertools.count(1)
        self._runs = itertools.count(1)
        (self.home / ".local/state/palimpsest").mkdir(parents=True)  # no first-run words

    @property
    def root(self) -> Path:
        return self.project / ".transcripts"

    @property
    def session(self) -> Path | None:
        """Folder of the session that goes on: the only one in which something was said; None before."""
        found = self.root.glob("*/transcript_0001.jsonl")
        begun = [path.parent for path in found if b"\n" in path.read_bytes()]
        assert len(begun) < 2, f"a second session began: {begun}"
        return begun[0] if begun else None

    def text(self) -> str:
        """The next thing to ask, with its number."""
        self.asked += 1
        return self.tagged(ASKED[(self.asked - 1) % len(ASKED)])

    def tagged(self, text: str) -> str:
        """Return a text with a number of its own."""
        return f"(job {next(self._jobs)}) {text}"

    def plan(self, **fields: Any) -> dict[str, Any]:
        """A plan for the layer under the record."""
        return {"root": str(self.root), "log": str(self.folder / "operations.log"), **fields}

    def operations(self) -> list[str]:
        """What the last run with a plan did on the disk, in order."""
        log = self.folder / "operations.log"
        return log.read_text().splitlines() if log.exists() else []

    def start(
        self, text: str, *flags: str, world: World = PLAIN, env: Mapping[str, str] = {}
    ) -> tuple[Run, Callable[[], Outcome]]:
        """Start `pal -p`; return the run, and what waits for its end."""
        number = next(self._runs)
        self.out = out = self.folder / f"{number}.out"
        err = self.folder / f"{number}.err"
        bodies = self.folder / f"{number}.bodies"
        kept = "" if world.file_size else str(bodies)  # the limit would hold for that file too
        (self.folder / "operations.log").unlink(missing_ok=True)
        err.touch()  # a run may be killed before it opens anything
        begun = time.monotonic()
        run = self.spawner.start(
            ["-p", text, "--continue", "--output", "stream-json", *FLAGS, *flags],
            cwd=self.project,
            env={**self.env, **env},
            out=out,
            err=err,
            world=replace(world, bodies=kept),
        )

        def ended() -> Outcome:
            code = run.wait()
            heard, sent = self.ledger.hear(out), self.ledger.intercept(bodies)
            outcome = Outcome(code, heard, sent, err.read_text(), time.monotonic() - begun)
            for path in (out, err, bodies):
                path.unlink(missing_ok=True)
            return outcome

        return run, ended

    def print(
        self, text: str, *flags: str, world: World = PLAIN, env: Mapping[str, str] = {}
    ) -> Outcome:
        """Run `pal -p` on the newest session to its end."""
        return self.start(text, *flags, world=world, env=env)[1]()

    def look(self, *, resumed: bool) -> Verdict:
        """Judge the newest session's record, and remember it for the next look."""
        session = self.session
        if session is None:
            return Verdict(lost=["there is no session"] if self.ledger.said else [])
        verdict = judge(session, self.ledger, self.before, resumed=resumed)
        self.before = files_of(session)
        return verdict


class Killed(Exception):
    """The program was killed at its time."""


class App(Terminal):
    """The app in a terminal, killed at its moment."""

    def __init__(
        self, place: Place, *flags: str, world: World = PLAIN, death: Moment | None = None
    ) -> None:
        self._place, self._world = place, world
        self.bodies = place.folder / "app.bodies"
        self.bodies.unlink(missing_ok=True)
        (place.folder / "operations.log").unlink(missing_ok=True)
        self._death, self._end = death, None
        super().__init__(
            ["--continue", *FLAGS, *flags], cwd=place.project, env=place.env, columns=100, rows=50
        )

    def start(self, argv: list[str], cwd: Path, env: Mapping[str, str], slave: int) -> Run:
        world = replace(self._world, bodies=str(self.bodies))
        return self._place.spawner.start(
            argv, cwd=cwd, env=env, out="", tty=os.ttyname(slave), world=world
        )

    def pump(self, seconds: float) -> bool:
        if self._death is not None and self._end is None and len(self.raw) >= self._death.size:
            self._end = time.monotonic() + self._death.seconds
        if self._end is None:
            return super().pump(seconds)
        left = self._end - time.monotonic()
        came = super().pump(max(0.0, min(seconds, left)))
        if time.monotonic() >= self._end:
            self.process.kill()
            raise Killed
        return came

    def say(self, text: str) -> None:
        """Type a message and send it once it stands in the prompt, behind what a failure may have brought back."""
        self.type(text)
        self.until(lambda: text[-12:] in " ".join(map(str.strip, self.lines)), text)
        self.press("enter")

    def shows(self, mark: int, *marks: bytes) -> bool:
        """Whether one of these was written to the screen behind a place in `raw`."""
        return any(word in self.raw[mark:] for word in marks)

    def last_words(self) -> None:
        """Read what was written before the end, and put all that stands on the screen into the ledger."""
        self._death = self._end = None
        self.process.wait()
        self.pump(0.0)
        self._place.ledger.see(self.text)
        self._place.ledger.intercept(self.bodies)


def converse(app: App, texts: list[str], commands: list[str]) -> None:
    """Say things at the screen, one of them while the agent works; then give commands.

    Raises:
        Killed: The time was up.
        NotShown: The program ended, or hangs.
    """
    app.until(
        lambda: READY in app.text and ("/ 9,000" in app.text or "✗" in app.text), "an open session"
    )
    for at, text in enumerate(texts):
        mark = len(app.raw)
        app.say(text)
        if at % 2 == 0:
            app.until(lambda mark=mark: app.shows(mark, BUSY, FAILED), "work, or why there is none")
        else:
            app.until(lambda: READY in app.text and not app.pump(0.1), "an idle screen")
    for command in commands:
        app.until(lambda: READY in app.text and not app.pump(0.1), "an idle screen")
        app.say(command)
    app.until(lambda: READY in app.text and not app.pump(0.2), "an idle screen")


def run_app(
    place: Place, *, world: World = PLAIN, death: Moment | None = None, commands: tuple[str, ...]
) -> int:
    """Run the app on the newest session until its work is done or it is killed; return its exit code."""
    app = App(place, world=world, death=death)
    try:
        try:
            converse(app, [place.text(), place.text(), place.text()], list(commands))
            app.press("ctrl+d")
            app.exit_code()
        except Killed:
            pass
        except NotShown:
            if app.process.poll() != -9:
                raise
        app.last_words()
    finally:
        app.close()
        place.drawn = len(app.raw)
    return int(app.process.returncode or 0)
