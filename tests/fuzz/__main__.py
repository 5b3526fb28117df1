"""``python -m tests.fuzz TARGET [--seconds N]``: fuzzes one target, with atheris where it is installed.

Without atheris the seeds are mutated at random; the seed of the random numbers is told, so that a run can be repeated.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

PLACES = {
    "judge": "app.permission",
    "sanitiser": "app.core.visible_text",
    "edit": "app.tools",
    "record": "app.adapters",
}
"""What is watched for new paths while a target is fuzzed."""
Target = Callable[[bytes], None]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", choices=sorted(PLACES))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--random", type=int, default=None, metavar="SEED", help="without atheris")
    options = parser.parse_args()
    if options.random is None and importlib.util.find_spec("atheris"):
        return _with_atheris(options.target, options.seconds)
    number = options.random or time.time_ns() % 2**32
    return _at_random(*_loaded(options.target), options.seconds, number)


def _loaded(name: str) -> tuple[Target, list[bytes]]:
    """Import the target only now, so that it can be instrumented."""
    targets = importlib.import_module("tests.fuzz.targets")
    return targets.TARGETS[name], importlib.import_module("tests.fuzz.seeds").seeds(name)


def _with_atheris(name: str, seconds: int) -> int:
    atheris = importlib.import_module("atheris")
    with atheris.instrument_imports(include=[PLACES[name]]):
        target, begin = _loaded(name)
    with tempfile.TemporaryDirectory(prefix="fuzz-corpus-") as corpus:
        for number, seed in enumerate(begin):
            (Path(corpus) / f"{number:05}").write_bytes(seed)
        limits = [
            "-max_len=4096",
            "-timeout=10",
            "-rss_limit_mb=2000",
            f"-artifact_prefix={corpus}/",
        ]
        atheris.Setup([sys.argv[0], f"-max_total_time={seconds}", *limits, corpus], target)
        atheris.Fuzz()
    return 0


def _at_random(target: Target, begin: list[bytes], seconds: int, number: int) -> int:
    chance, runs, ends = random.Random(number), 0, time.monotonic() + seconds
    print(f"random seed {number}", flush=True)
    while time.monotonic() < ends:
        data = mutated(chance, begin)
        try:
            target(data)
        except Exception:
            print(f"failed with {data!r}", file=sys.stderr, flush=True)
            raise
        runs += 1
    print(f"{runs:,} inputs, no failure")
    return 0


def mutated(chance: random.Random, begin: list[bytes]) -> bytes:
    """Return a seed after some random changes, or parts of two of them joined."""
    data = bytearray(chance.choice(begin))
    for _ in range(chance.randint(1, 6)):
        at = chance.randint(0, len(data))
        match chance.randrange(5):
            case 0:
                data[at:at] = bytes(
                    [chance.choice(b" \n\t;&|$`'\"\\(){}<>*?[]~=#!-/\r\x1b\x9b\xff\x00")]
                )
            case 1:
                del data[at : at + chance.randint(1, 8)]
            case 2:
                other = chance.choice(begin)
                cut = chance.randint(0, len(other))
                data[at:at] = other[cut : cut + chance.randint(1, 40)]
            case 3 if data:
                data[at % len(data)] = chance.randrange(256)
            case _:
                data[at:at] = data[at : at + chance.randint(1, 20)]
    return bytes(data)


if __name__ == "__main__":
    sys.exit(main())
