"""Where the benchmarks run programs: a home and a project of their own, and warm bytecode."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BARE = (sys.executable, str(Path(__file__).with_name("bare_app.py")))
PAL = (sys.executable, "-m", "app")
PROMPT_SEEN = "for commands"
BARE_SEEN = "type here"


@dataclass(frozen=True)
class Desk:
    """Folders and variables of one run."""

    folder: Path
    """The project folder."""
    home: Path
    environ: Mapping[str, str]
    sessions: Path | None = None
    """Recorded sessions to use; None for generated ones."""
    peers: Sequence[str] = ()
    """Other programs to compare with, each ``NAME=COMMAND``."""


@contextmanager
def desk(sessions: Path | None = None, peers: Sequence[str] = ()) -> Iterator[Desk]:
    """Folders that are gone afterwards; bytecode is kept in them, so only the first start compiles."""
    base = Path(tempfile.mkdtemp(prefix="pal-benchmark-"))
    home, folder = base / "home", base / "project"
    for path in (home, folder):
        path.mkdir()
    (folder / "hello.py").write_text('print("hello")\n', encoding="utf-8")
    environ = {
        "HOME": str(home),
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "PYTHONPYCACHEPREFIX": str(base / "bytecode"),
    }
    try:
        yield Desk(folder, home, environ, sessions, peers)
    finally:
        shutil.rmtree(base, ignore_errors=True)


def warm(place: Desk) -> None:
    """Compile everything once, so that no measurement pays for it."""
    modules = "import anthropic, app.launch.graph, app.ui.app, app.ui.screens.event_view"
    subprocess.run((sys.executable, "-c", modules), cwd=place.folder, env=place.environ, check=True)
