"""The program itself, which writes down what it holds each time it gets the signal for that.

Called as ``python soak_app.py RESULT ARGUMENTS``; SIGUSR2 makes it write RESULT anew.
"""

from __future__ import annotations

import asyncio
import gc
import json
import signal
import sys
from collections import Counter
from pathlib import Path


def held() -> dict[str, int]:
    """Count what could pile up in a program that runs for days.

    Everything is counted as the garbage collection knows it, so that what nobody uses any more but somebody still
    refers to counts too.
    """
    from textual.timer import Timer
    from textual.widget import Widget

    gc.unfreeze()  # what was there early on counts as well
    gc.collect()
    counts = Counter[str]()
    for each in gc.get_objects():
        if isinstance(each, Widget):
            counts["widgets"] += 1
        elif isinstance(each, Timer):
            counts["timers"] += 1
    loop = asyncio.get_running_loop()
    signals = getattr(loop, "_signal_handlers", {})
    readers = getattr(loop, "_selector").get_map()  # noqa: B009 - private, and only looked at
    counts["tasks"] = len(asyncio.all_tasks(loop))
    counts["handlers"] = len(signals) + len(readers)
    gc.freeze()
    return dict(counts)


def main(result: Path) -> int:
    """Run the program."""

    def write(*_: object) -> None:
        part = result.with_suffix(".part")
        part.write_text(json.dumps(held()), encoding="utf-8")
        part.replace(result)

    signal.signal(signal.SIGUSR2, write)
    from app.cli import main as program

    return program()


if __name__ == "__main__":
    file = Path(sys.argv.pop(1))
    sys.exit(main(file))
