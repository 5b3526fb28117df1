"""Kills at random instants and at every operation on the record, and failures at each; the session must go on whole."""

from __future__ import annotations

import copy
import errno
import itertools
import random
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.crash.faults import HALVES, KILLS, WRITE
from tests.crash.record_check import Verdict, files_of
from tests.crash.spawner import PLAIN, Spawner, World
from tests.crash.work import ASKED, Moment, Outcome, Place, run_app
from tests.e2e.terminal import NotShown

COMMANDS = ("/compact the billing rules", "/undo")
STARTS = 0.2
"""Part of the random kills that fall into the first moments of a run, before it has written anything."""
ROUNDS = 12
"""Kills of one session; then a new one begins."""
RESUME = "what have we read so far?"


@dataclass
class Figures:
    """What came of kills and failures."""

    kills: int = 0
    failures: int = 0
    """Operations that failed while the program ran on."""
    torn: int = 0
    """Kills that left half a line."""
    resumed: int = 0
    requests: int = 0
    """Requests sent by killed and resumed runs."""
    lost: int = 0
    doubled: int = 0
    damaged: int = 0
    invalid: int = 0
    dead: int = 0
    """Sessions that did not go on."""
    told: list[str] = field(default_factory=list)
    """Each thing that was wrong, with where it happened."""

    def count(self, verdict: Verdict, where: str) -> None:
        """Count what is wrong with a record."""
        self.torn += verdict.torn
        self.lost += len(verdict.lost)
        self.doubled += len(verdict.doubled)
        self.damaged += len(verdict.damaged)
        self.told += [f"{where}: {problem}" for problem in verdict.problems]

    def heard(self, outcome: Outcome, where: str) -> None:
        """Count the requests of a run."""
        self.requests += len(outcome.sent)
        self.invalid += len(outcome.invalid)
        self.told += [f"{where}: invalid: {problem}" for problem in outcome.invalid]

    def __str__(self) -> str:
        return (
            f"{self.kills} kills, {self.failures} failures, {self.torn} torn lines, {self.resumed} resumed, "
            f"{self.requests} requests; "
            f"lost {self.lost}, duplicates {self.doubled}, damaged {self.damaged}, "
            f"invalid requests {self.invalid}, dead sessions {self.dead}"
        )


def resume(place: Place, figures: Figures, where: str) -> None:
    """Go on with a killed session: the next request must leave, valid, with the newest words, and be answered."""
    newest = list(place.ledger.said.values())[-1:]
    outcome = place.print(place.tagged(RESUME))
    figures.heard(outcome, f"{where}, resumed")
    figures.count(place.look(resumed=True), f"{where}, resumed")
    if outcome.code or not outcome.sent:
        figures.dead += 1
        figures.told.append(f"{where}: exit {outcome.code}: {outcome.last} {outcome.errors}")
        return
    figures.resumed += 1
    words = str(outcome.sent[0]["messages"])
    for text in newest:
        if text not in words:
            figures.lost += 1
            figures.told.append(f"{where}: the next request does not hold {text!r}")


def print_once(
    place: Place, figures: Figures, where: str, world: World, death: Moment | None
) -> int:
    """Run one turn of `pal -p` into its kill, and resume; return its exit code."""
    run, ended = place.start(place.text(), world=world)
    out = place.out
    if death is not None:
        while run.poll() is None and (out.stat().st_size if out.exists() else 0) < death.size:
            time.sleep(0.002)
        time.sleep(death.seconds)
        run.kill()
    place.printed = out.stat().st_size if out.exists() else 0
    outcome = ended()
    _after(place, figures, where, outcome, failing=_fails(world))
    return outcome.code


def app_once(place: Place, figures: Figures, where: str, world: World, death: Moment | None) -> int:
    """Talk in the app into its kill, and resume; return its exit code."""
    begun = len(place.ledger.bodies)
    try:
        code = run_app(place, world=world, death=death, commands=COMMANDS)
    except NotShown as error:
        figures.dead += 1
        figures.told.append(f"{where}: {' '.join(str(error).split())}")
        return 1
    outcome = Outcome(code, sent=place.ledger.bodies[begun:])
    _after(place, figures, where, outcome, failing=_fails(world))
    return code


def _fails(world: World) -> bool:
    return str((world.plan or {}).get("do", "")).startswith("fail")


def _unclear(outcome: Outcome) -> list[str]:
    """What is wrong with what a run said whose disk had failed."""
    said = f"{outcome.errors} {outcome.last.get('error')}"
    if "Traceback" in said or outcome.code not in (0, 1):
        return [f"exit {outcome.code}: {said}"]
    named = any(
        words in said for words in ("the disk is full", "cannot write", "could not be written")
    )
    return [] if outcome.code == 0 or named else [f"no word of the disk: {said}"]


def _after(place: Place, figures: Figures, where: str, outcome: Outcome, *, failing: bool) -> None:
    figures.heard(outcome, where)
    figures.count(place.look(resumed=False), where)
    if outcome.killed:
        figures.kills += 1
        resume(place, figures, where)
    elif failing:
        figures.failures += 1
        figures.told += [f"{where}: {problem}" for problem in _unclear(outcome)]
        resume(place, figures, where)
    elif outcome.code:
        figures.dead += 1
        figures.told.append(f"{where}: exit {outcome.code}: {outcome.last} {outcome.errors}")


FRONT_ENDS = {"print": print_once, "app": app_once}


def random_kills(
    front: str, kills: int, folder: Path, spawner: Spawner, *, seed: int
) -> Iterator[Figures]:
    """Kill at random instants, spread over the whole of a run; yield the figures after each run.

    Args:
        front: "print" or "app".
        kills: How many.
        folder: Where the projects go.
        spawner: Starts the runs.
        seed: Of the instants.
    """
    once, rng, figures = FRONT_ENDS[front], random.Random(seed), Figures()
    sizes = _sizes(front, Place(folder / "calibration", spawner), figures)
    place: Place | None = None
    for number in itertools.count():
        if figures.kills >= kills:
            return
        if place is None or number % ROUNDS == 0:
            if place is not None:
                remove(place.folder)
            place = Place(folder / f"session-{number}", spawner)
            place.asked = rng.randrange(len(ASKED))
        size = sizes[place.asked % len(sizes)]
        early = rng.random() < STARTS
        death = Moment(0 if early else rng.uniform(0, size), rng.uniform(0, 0.3 if early else 0.03))
        where = f"{front}, seed {seed}, run {number}, {death}"
        once(place, figures, where, PLAIN, death)
        yield figures


def _sizes(front: str, place: Place, figures: Figures) -> list[int]:
    """Return how much a run writes, for each thing that is asked."""
    sizes = []
    for number in range(1 if front == "app" else len(ASKED)):
        FRONT_ENDS[front](place, figures, f"{front}, not killed, run {number}", PLAIN, None)
        sizes.append(place.drawn if front == "app" else place.printed)
    return sizes


def every_operation(
    front: str,
    folder: Path,
    spawner: Spawner,
    *,
    strikes: tuple[str, ...] = KILLS,
    error: int = errno.EIO,
    stride: int = 1,
    offset: int = 0,
) -> Iterator[Figures]:
    """Strike each operation of the same work in each way; yield the figures after each run.

    Args:
        front: "print" or "app".
        folder: Where the projects go.
        spawner: Starts the runs.
        strikes: What happens to the operation: kills or failures.
        error: The number of the error, where it fails.
        stride: Take each such case only: 1 for all.
        offset: The first case, below ``stride``.
    """
    once, figures = FRONT_ENDS[front], Figures()
    place = Place(folder / "place", spawner)
    case = 0
    for turn in range(len(ASKED) if front == "print" else 2):
        base, ledger = folder / "base", copy.deepcopy(place.ledger)
        before, asked = dict(place.before), place.asked
        remove(base)
        shutil.copytree(place.folder, base)
        dry = World(plan=place.plan())
        once(place, figures, f"{front}, turn {turn}, not killed", dry, None)
        operations = place.operations()
        after = copy.deepcopy((place.ledger, place.before, place.asked))
        shutil.copytree(place.folder, folder / "after")
        for line in operations:
            number, kind, name = line.split(" ", 2)
            for do in strikes:
                if do in HALVES and kind != WRITE:
                    continue
                case += 1
                if case % stride != offset:
                    continue
                _restore(place, base, (copy.deepcopy(ledger), dict(before), asked))
                plan: dict[str, Any] = place.plan(at=int(number), do=do, number=error)
                where = f"{front}, turn {turn}, {do} {kind} {number} ({name})"
                once(place, figures, where, World(plan=plan), None)
                yield figures
        _restore(place, folder / "after", after)
        remove(folder / "after")


def remove(folder: Path) -> None:
    """Delete a folder; a child that has outlived a killed run may still tidy up in it."""
    for _ in range(100):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.05)
    raise OSError(f"{folder} could not be deleted")


def _restore(place: Place, base: Path, state: Any) -> None:
    remove(place.folder)
    shutil.copytree(base, place.folder)
    place.ledger, place.before, place.asked = state
    if place.session is not None:
        assert files_of(place.session) == place.before
