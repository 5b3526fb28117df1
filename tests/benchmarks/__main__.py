"""The command: runs the benchmarks one after another, prints a table, writes JSON."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks import peers
from tests.benchmarks.desk import Desk, desk
from tests.benchmarks.figures import Figure, table

BENCHMARKS = (
    "start",
    "first_character",
    "streaming",
    "chat",
    "engine",
    "memory",
    "resume",
    "soak",
    "layers",
    "frontier",
    "estimates",
    "permission",
    "commands",
    "peers",
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--short", action="store_true", help="fewer and smaller runs")
    parser.add_argument("--only", action="append", choices=BENCHMARKS, help="repeatable")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    parser.add_argument(
        "--sessions", type=Path, metavar="DIR", help="recorded sessions; else generated ones"
    )
    parser.add_argument(
        "--peer",
        action="append",
        default=[],
        metavar="NAME=COMMAND",
        help="another program for peers (repeatable); claude-code, codex and mistral-vibe are also found by themselves",
    )
    options = parser.parse_args(arguments)
    with desk(options.sessions, options.peer) as place:
        figures = measure(place, options.only or BENCHMARKS, short=options.short)
    compared = [figure for figure in figures if figure.benchmark == peers.NAME]
    if measured := [figure for figure in figures if figure.benchmark != peers.NAME]:
        print(table(measured))
    if compared:
        print(peers.table(compared))
    if options.json is not None:
        found = [figure.to_json() for figure in figures]
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def measure(place: Desk, names: Sequence[str], *, short: bool) -> list[Figure]:
    """Run the named benchmarks."""
    figures: list[Figure] = []
    for name in names:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        module = importlib.import_module(f"tests.benchmarks.{name}")
        figures += module.run(place, short=short)
    return figures


if __name__ == "__main__":
    sys.exit(main())
