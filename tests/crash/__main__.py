"""The long crash test: `python -m tests.crash` kills the program over a thousand times and prints what came of it."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.crash.campaign import FRONT_ENDS, Figures, every_operation, random_kills
from tests.crash.faults import FAILS, KILLS
from tests.crash.spawner import Spawner

SHARE_OF_APP = 0.3
"""Part of the random kills that hit the app; it takes ten times as long as `pal -p`."""
Campaign = Callable[[Path, Spawner], Iterator[Figures]]


def campaigns(kills: int, seed: int, stride: int) -> dict[str, Campaign]:
    """What is run, by name."""
    in_app = round(kills * SHARE_OF_APP)
    counts = {"print": kills - in_app, "app": in_app}

    def at_random(front: str) -> Campaign:
        return lambda folder, spawner: random_kills(
            front, counts[front], folder, spawner, seed=seed
        )

    def at_each(front: str, strikes: tuple[str, ...]) -> Campaign:
        return lambda folder, spawner: every_operation(
            front, folder, spawner, strikes=strikes, stride=stride
        )

    found: dict[str, Campaign] = {}
    for front in FRONT_ENDS:
        found[f"{front}: killed at random instants"] = at_random(front)
        found[f"{front}: killed at each operation"] = at_each(front, KILLS)
        found[f"{front}: each operation fails"] = at_each(front, FAILS)
    return found


def main() -> int:
    """Run the campaigns; the exit code is 1 when anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=1_000, help="kills at random instants")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--every", type=int, default=1, help="take each Nth operation only")
    parser.add_argument("--only", default="", help="part of a campaign's name")
    options = parser.parse_args()
    wrong = False
    for name, campaign in campaigns(options.kills, options.seed, options.every).items():
        if options.only not in name:
            continue
        begun, figures = time.monotonic(), Figures()
        with Spawner() as spawner, tempfile.TemporaryDirectory() as folder:
            for figures in campaign(Path(folder), spawner):
                done = figures.kills + figures.failures
                if sys.stderr.isatty():
                    print(f"\r{name}: {done}", end="", file=sys.stderr, flush=True)
        print(f"{name}: {figures} ({time.monotonic() - begun:.0f} s)", flush=True)
        for told in figures.told[:20]:
            print(f"    {told[:400]}")
        wrong = wrong or bool(figures.told)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
