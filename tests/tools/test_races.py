"""Links swapped in while tools read and write: no race is ever won, however often it is run."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.adapters.contents import Contents
from app.core.file_states import FileState
from app.errors import OutsideFolder, ToolError
from app.tools import atomic
from app.tools.checkpoints import Checkpoints
from app.tools.workspace import Workspace

SECRET = b"the secret of another folder\n"
INSIDE = b"a file of the project\n"
SWAPPER = """
import ctypes, os, sys
swap = ctypes.CDLL(None).renameat2
pairs = [(os.fsencode(a), os.fsencode(b)) for a, b in zip(sys.argv[1::2], sys.argv[2::2])]
while os.getppid() != 1:
    for one, other in pairs:
        swap(-100, one, -100, other, 2)  # both change places at one instant
"""

pytestmark = pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "renameat2"), reason="names cannot be exchanged here"
)


@pytest.fixture
def arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project in which a folder and a file change places with links to another folder, all the time."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # a busy disk would hold thousands up
    root, outside = tmp_path / "project", tmp_path / "outside"
    for folder in (root / "d", outside):
        folder.mkdir(parents=True)
    (outside / "f").write_bytes(SECRET)
    (root / "d" / "f").write_bytes(INSIDE)
    (root / "f").write_bytes(INSIDE)
    (root / "link-to-folder").symlink_to(outside)
    (root / "link-to-file").symlink_to(outside / "f")
    pairs = [root / "d", root / "link-to-folder", root / "f", root / "link-to-file"]
    swapper = subprocess.Popen([sys.executable, "-I", "-c", SWAPPER, *map(str, pairs)])
    yield root
    swapper.kill()
    swapper.wait()
    assert sorted(path.name for path in outside.iterdir()) == ["f"]
    assert (outside / "f").read_bytes() == SECRET


def race(body: Callable[[], None], least: int) -> None:
    """Run something often, and longer until it went through at times, and at other times met the link.

    Not for ever: deleting may take the link itself away, which is the project's own.
    """
    seen: Counter[str] = Counter()
    while (done := sum(seen.values())) < least or (
        done < 20 * least and not (seen["through"] and seen["outside"])
    ):
        try:
            body()
            seen["through"] += 1
        except OutsideFolder:
            seen["outside"] += 1
        except ToolError:
            seen["refused"] += 1


def reading(root: Path, path: str) -> Callable[[], None]:
    workspace = Workspace(root)

    def body() -> None:
        with workspace.open(workspace.readable(path)) as file:
            assert file.read() != SECRET

    return body


def writing(root: Path, path: str) -> Callable[[], None]:
    workspace = Workspace(root)
    return lambda: atomic.write(workspace, workspace.resolve(path, write=True), b"written\n")


def removing(root: Path, path: str) -> Callable[[], None]:
    workspace = Workspace(root)

    def body() -> None:
        atomic.remove(workspace, workspace.resolve(path, write=True))
        atomic.write(workspace, workspace.resolve(path, write=True), b"again\n")

    return body


@pytest.mark.parametrize("path", ["d/f", "f"])
@pytest.mark.parametrize("act", [reading, writing, removing])
def test_no_link_that_is_swapped_in_is_followed(arena: Path, act: Callable, path: str) -> None:
    race(act(arena, path), 150)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["d/f", "f"])
@pytest.mark.parametrize("act", [reading, writing, removing])
def test_thousands_of_swaps_win_no_race(arena: Path, act: Callable, path: str) -> None:
    race(act(arena, path), 10_000 if act is reading else 600)


async def test_what_a_rewind_keeps_and_brings_back_is_the_projects_own(
    arena: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    contents = Contents(lambda: kept)

    async def note(data: object) -> None:
        pass

    checkpoints = Checkpoints(Workspace(arena), contents, note)
    assert contents.put(b"restored\n")
    target = FileState(contents.name(b"restored\n"), 0o644)
    for path in ("d/f", "f") * 40:
        checkpoints.look(path)
        try:
            await checkpoints.restore(path, target)
        except ToolError:
            continue
    assert contents.get(contents.name(SECRET)) is None
    contents.close()
