"""A clock that runs backwards changes times and nothing else: order, numbers, resume, the list and archives hold."""

from __future__ import annotations

import subprocess
import sys
import tarfile

import pytest

from app.adapters.session_list import find_session, latest_session, list_sessions
from tests.crash.spawner import World
from tests.crash.work import Place

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.xdist_group("crash")]
BACK = World(clock=-7_200.0)
"""Two hours back at each look."""


def test_a_session_goes_on_while_the_clock_runs_backwards(place: Place) -> None:
    for world in (World(), BACK, BACK, World(), BACK):
        outcome = place.print(place.text(), world=world)
        assert (outcome.code, outcome.invalid) == (0, []), outcome.errors
        assert place.look(resumed=True).problems == []
    assert place.session is not None
    info = list_sessions(place.root)
    assert [i.name for i in info] == [place.session.name]
    assert info[0].messages > 20 and info[0].compactions > 0


def test_sessions_of_a_clock_that_was_set_back_can_be_found_and_put_away(place: Place) -> None:
    place.print(place.text())
    names = {path.name for path in place.root.iterdir() if path.is_dir()}
    for _ in range(2):
        back = World(clock=-86_400.0)
        place.spawner.start(
            ["-p", place.tagged("read config.yaml"), "--demo"],
            cwd=place.project,
            env=place.env,
            out=place.folder / "out",
            world=back,
        ).wait()
    found = {path.name for path in place.root.iterdir() if path.is_dir()}
    assert len(found) == len(names) + 2
    assert {info.name for info in list_sessions(place.root)} == found
    assert latest_session(place.root) in found
    for name in found:
        assert find_session(place.root, name) == name
    archive = [sys.executable, "-m", "app", "sessions", "archive", "--before", "9999-12-31"]
    done = subprocess.run(
        archive, cwd=place.project, env=place.env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    packed: set[str] = set()
    for path in place.root.rglob("*.tar.gz"):
        with tarfile.open(path) as file:
            packed |= {member.name.split("/")[0] for member in file}
    assert packed == found
