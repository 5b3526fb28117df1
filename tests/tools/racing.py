"""A project in which names change places with links to another folder all the time, and what is tried there.

``python -m tests.tools.racing --seconds N`` tries each act for that long and counts which ones a link won; first in the plain
way, resolving a path and then opening it, which shows that the links are really there at the wrong moments.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from app.adapters.contents import Contents
from app.core.file_states import FileState
from app.core.messages import JsonObject
from app.errors import OutsideFolder, ToolError
from app.tools import atomic
from app.tools.checkpoints import Checkpoints
from app.tools.edit_file import EditFileTool
from app.tools.workspace import Workspace

SECRET = b"the secret of another folder\n"
INSIDE = b"a file of the project\n"
PATHS = ("d/f", "f")
"""One whose folder changes places with a link, and one that does so itself."""
POSSIBLE = hasattr(ctypes.CDLL(None), "renameat2")
"""Whether two names can be exchanged at one instant here."""

_SWAPPER = """
import ctypes, os, sys
swap = ctypes.CDLL(None).renameat2
pairs = [(os.fsencode(a), os.fsencode(b)) for a, b in zip(sys.argv[1::2], sys.argv[2::2])]
while os.getppid() != 1:
    for one, other in pairs:
        swap(-100, one, -100, other, 2)  # both change places at one instant
"""

Act = Callable[[Path, str], Callable[[], bool]]
"""Takes the project and a path; returns what is tried, which says whether the link won."""


class Arena:
    """The project and the folder outside it."""

    def __init__(self, folder: Path) -> None:
        self.root, self.outside = folder / "project", folder / "outside"
        for made in (self.root / "d", self.outside):
            made.mkdir(parents=True)
        (self.outside / "f").write_bytes(SECRET)
        (self.root / "d" / "f").write_bytes(INSIDE)
        (self.root / "f").write_bytes(INSIDE)
        (self.root / "link-to-folder").symlink_to(self.outside)
        (self.root / "link-to-file").symlink_to(self.outside / "f")

    @property
    def is_whole(self) -> bool:
        """Whether nothing was changed outside."""
        names = sorted(path.name for path in self.outside.iterdir())
        return names == ["f"] and (self.outside / "f").read_bytes() == SECRET

    def renew(self) -> None:
        """Put the link back that an act replaced or removed, as it may: it is the project's own."""
        names = [self.root / "f", self.root / "link-to-file"]
        # One look at both may fall between two exchanges.
        links = [sum(name.is_symlink() for name in names) for _ in range(5)]
        if max(links) == 0:
            self._make(names[1], lambda made: made.symlink_to(self.outside / "f"))
        elif min(links) == 2:
            self._make(names[1], lambda made: made.write_bytes(INSIDE))

    def _make(self, name: Path, fill: Callable[[Path], object]) -> None:
        made = self.root / "made"
        fill(made)
        made.replace(name)

    def mend(self) -> None:
        """Make the outside what it was."""
        for path in self.outside.iterdir():
            path.unlink()
        (self.outside / "f").write_bytes(SECRET)


@contextmanager
def arena(folder: Path) -> Iterator[Arena]:
    """Make an arena, with names changing places in it until the end."""
    made = Arena(folder)
    root = made.root
    pairs = [root / "d", root / "link-to-folder", root / "f", root / "link-to-file"]
    swapper = subprocess.Popen([sys.executable, "-I", "-c", _SWAPPER, *map(str, pairs)])
    try:
        yield made
    finally:
        swapper.kill()
        swapper.wait()


def reading(root: Path, path: str) -> Callable[[], bool]:
    workspace = Workspace(root)

    def act() -> bool:
        with workspace.open(workspace.readable(path)) as file:
            return file.read() == SECRET

    return act


def writing(root: Path, path: str) -> Callable[[], bool]:
    workspace = Workspace(root)

    def act() -> bool:
        atomic.write(workspace, workspace.resolve(path, write=True), b"written\n")
        return False

    return act


def removing(root: Path, path: str) -> Callable[[], bool]:
    workspace = Workspace(root)

    def act() -> bool:
        atomic.remove(workspace, workspace.resolve(path, write=True))
        atomic.write(workspace, workspace.resolve(path, write=True), b"again\n")
        return False

    return act


def editing(root: Path, path: str) -> Callable[[], bool]:
    """The whole tool: a read, the diff, what is kept for a rewind, the write."""
    contents, checkpoints = _checkpoints(root)
    arguments = {"path": path, "old_text": "f", "new_text": "ff", "replace_all": False}

    def act() -> bool:
        workspace = Workspace(root)  # one that has seen nothing: no change on disk is in its way
        atomic.write(workspace, workspace.resolve(path, write=True), INSIDE.replace(b"file", b"f"))
        tool = EditFileTool(Workspace(root), checkpoints)
        try:
            outcome = asyncio.run(tool.run({**arguments, "old_text": " f "}, lambda text: None))
        finally:
            leaked = contents.get(contents.name(SECRET)) is not None
        return leaked or "secret" in outcome.diff

    return act


def restoring(root: Path, path: str) -> Callable[[], bool]:
    """What a rewind does: keep what is there, then bring a file back, or remove it."""
    contents, checkpoints = _checkpoints(root)
    contents.put(b"restored\n")
    states = [FileState(contents.name(b"restored\n"), 0o644), FileState()]

    def act() -> bool:
        states.reverse()
        checkpoints.look(path)
        try:
            asyncio.run(checkpoints.restore(path, states[0]))
        finally:
            leaked = contents.get(contents.name(SECRET)) is not None
        return leaked

    return act


def plain_reading(root: Path, path: str) -> Callable[[], bool]:
    """The way that is not good enough: resolve, check, then open by name."""

    def act() -> bool:
        try:
            if not Path(os.path.realpath(root / path)).is_relative_to(root):
                raise OutsideFolder(path)
            return (root / path).read_bytes() == SECRET
        except OSError as error:
            raise ToolError(str(error)) from error

    return act


ACTS: tuple[Act, ...] = (reading, writing, editing, removing, restoring)


def _checkpoints(root: Path) -> tuple[Contents, Checkpoints]:
    kept = root.parent / f"kept-{time.monotonic_ns()}"
    kept.mkdir()
    contents = Contents(lambda: kept)

    async def note(data: JsonObject) -> None:
        pass

    return contents, Checkpoints(Workspace(root), contents, note)


def tried(act: Callable[[], bool]) -> str:
    """Try once; return how it ended: "won" (by the link), "through", "outside" or "refused"."""
    try:
        return "won" if act() else "through"
    except OutsideFolder:
        return "outside"
    except ToolError:
        return "refused"


def _sweep(act: Act, path: str, seconds: float) -> Counter[str]:
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, arena(Path(folder)) as made:
        attempt = act(made.root, path)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            how = tried(attempt)
            if not made.is_whole:
                how = "won"
                made.mend()
            seen[how] += 1
            made.renew()
    return seen


def main() -> int:
    """Try everything and print the counts; return 1 if a link won anything but the plain way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each act and path")
    seconds = parser.parse_args().seconds
    os.fsync = lambda descriptor: None  # type: ignore[assignment]  # a busy disk would hold thousands up
    lost = 0
    for act in (plain_reading, *ACTS):
        for path in PATHS:
            seen = _sweep(act, path, seconds)
            print(f"{act.__name__:14} {path:4} tries {sum(seen.values()):7,}  {dict(seen)}")
            lost += seen["won"] if act is not plain_reading else 0
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
