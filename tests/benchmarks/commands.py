"""What a command costs besides itself: its start by the tool, the look at the files around it, and the sandbox."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from app.adapters.contents import Contents
from app.adapters.sandbox import probe
from app.tools.bash import BashTool
from app.tools.checkpoints import Checkpoints
from app.tools.process import Processes
from app.tools.workspace import Workspace
from tests.benchmarks.desk import Desk
from tests.benchmarks.figures import Figure, median

NAME = "commands"
COMMAND = "true"
FILES = 500


def run(place: Desk, *, short: bool) -> list[Figure]:
    rounds = 10 if short else 40
    project = place.folder / "commands"
    (project / "src").mkdir(parents=True)
    for number in range(FILES):
        (project / "src" / f"m{number}.py").write_text(f"x = {number}\n" * 40)
    return asyncio.run(_measure(project, place.folder / "kept", rounds))


async def _measure(project: Path, kept: Path, rounds: int) -> list[Figure]:
    kept.mkdir()
    workspace = Workspace(project)
    contents = Contents(lambda: kept)
    checkpoints = Checkpoints(workspace, contents, _untold)
    processes = Processes(project, {"PATH": os.environ["PATH"]})
    sandbox = await asyncio.to_thread(probe, project)

    def tool(wrap: Callable[[Sequence[str], Path], Sequence[str]]) -> BashTool:
        return BashTool(project, processes, wrap, checkpoints, lambda command: False)

    bare = median([await asyncio.to_thread(_bare, project) for _ in range(rounds)])
    first = await _timed(tool(lambda argv, cwd: argv))
    plain = median([await _timed(tool(lambda argv, cwd: argv)) for _ in range(rounds)])
    figures = [
        Figure(NAME, "start, run and end of a command", plain, "ms", bare, "ms, subprocess.run"),
        Figure(NAME, f"the first one, {FILES} files kept before it", first, "ms"),
    ]
    if sandbox.works:
        confined = [await _timed(tool(sandbox.wrap)) for _ in range(rounds)]
        what = "the same in the sandbox"
        figures.append(Figure(NAME, what, median(confined), "ms", plain, "ms, without it"))
    await processes.close()
    sandbox.close()
    contents.close()
    return figures


async def _timed(tool: BashTool) -> float:
    start = time.perf_counter()
    await tool.run({"command": COMMAND}, lambda text: None)
    return 1000 * (time.perf_counter() - start)


def _bare(project: Path) -> float:
    start = time.perf_counter()
    subprocess.run(["/bin/bash", "-c", COMMAND], cwd=project, check=True, capture_output=True)
    return 1000 * (time.perf_counter() - start)


async def _untold(data: Any) -> None:
    """No record is measured here."""
