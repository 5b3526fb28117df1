"""A disk that is full, read-only, gone or in the way: one clear word, nothing glued or half-written, and on it goes."""

from __future__ import annotations

import errno
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.faults import FAIL, FAIL_HALF
from tests.crash.ledger import json_lines
from tests.crash.record_check import Files
from tests.crash.spawner import World
from tests.crash.work import ASKED, App, Place
from tests.e2e.desk import READY

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.xdist_group("crash")]
COMPACT = ASKED.index("Use the compact tool to manually compress the conversation")


def assert_goes_on(place: Place) -> None:
    """The next run works, and the record is whole."""
    outcome = place.print(place.tagged("what have we read so far?"))
    assert (outcome.code, outcome.invalid) == (0, []), outcome.errors
    assert place.look(resumed=True).problems == []


@pytest.mark.parametrize("at", [12, 33, 48])
def test_a_full_disk_ends_the_turn_with_one_word_and_the_record_goes_on_when_there_is_room(
    place: Place, at: int
) -> None:
    plan = place.plan(at=at, do=FAIL_HALF, number=errno.ENOSPC, until=str(place.folder / "room"))
    outcome = place.print(place.text(), world=World(plan=plan))
    assert outcome.code == 1
    assert "the disk is full" in str(outcome.last.get("error")) + outcome.errors
    assert "Traceback" not in outcome.errors
    assert sum(event["type"] == "error" for event in outcome.heard) <= 1
    assert place.look(resumed=False).problems == []
    assert_goes_on(place)


def test_no_summary_takes_the_place_of_what_it_could_not_write(place: Place) -> None:
    for _ in range(COMPACT):
        place.print(place.text())
    assert place.session is not None
    base = place.folder.with_name("base")
    shutil.copytree(place.project, base)
    dry = place.print(place.text(), world=World(plan=place.plan()))
    assert dry.last["compactions"] == 1
    (rename,) = (line for line in place.operations() if line.split()[1] == "rename")
    shutil.rmtree(place.project)
    shutil.copytree(base, place.project)
    place.ledger.__init__()  # type: ignore[misc]
    place.before = {}
    plan = place.plan(at=int(rename.split()[0]), do=FAIL, number=errno.EIO)
    outcome = place.print(place.tagged(ASKED[COMPACT]), world=World(plan=plan))
    assert outcome.code == 1 and "cannot write" in outcome.last["error"]
    assert outcome.last["compactions"] == 0
    assert_goes_on(place)


def test_a_limit_on_file_sizes_stops_the_turn_and_cuts_no_line(place: Place) -> None:
    outcome = place.print(place.text(), "--output", "json", world=World(file_size=9_000))
    assert outcome.code == 1
    assert "a limit on file sizes" in outcome.last["error"]
    assert place.look(resumed=False).torn == 0
    assert_goes_on(place)


@pytest.fixture
def small_disk(place: Place) -> Iterator[Path]:
    """A disk of 64 kB for the record; only root can make one."""
    place.root.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "crash", str(place.root)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    yield place.root
    subprocess.run(["umount", "-l", str(place.root)], check=True)


def test_a_small_disk_fills_up_and_the_session_goes_on_when_there_is_room(
    place: Place, small_disk: Path
) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 36_000)
    for _ in range(6):
        outcome = place.print(place.text())
        assert place.look(resumed=False).problems == []
        if outcome.code:
            break
    assert (
        outcome.code == 1 and "the disk is full" in f"{outcome.last.get('error')}{outcome.errors}"
    )
    ballast.unlink()
    assert_goes_on(place)


def test_a_read_only_folder_is_said_plainly_and_changes_nothing(place: Place) -> None:
    plan = place.plan(at=1, do=FAIL, number=errno.EROFS, until=str(place.folder / "writable"))
    outcome = place.print(place.text(), world=World(plan=plan))
    assert outcome.code == 1
    assert "Read-only file system" in outcome.errors and "PAL_TRANSCRIPT_DIR" in outcome.errors
    assert "Traceback" not in outcome.errors
    place.print(place.text())
    before = _snapshot(place)
    outcome = place.print(place.text(), world=World(plan=plan))
    assert outcome.code == 1 and "Traceback" not in outcome.errors
    assert _snapshot(place) == before
    assert_goes_on(place)


def test_a_file_where_the_folder_should_be_is_left_alone_and_the_app_goes_on_unsaved(
    place: Place,
) -> None:
    place.root.write_text("mine")
    outcome = place.print(place.text())
    assert outcome.code == 1
    assert "is a file where a folder should be" in outcome.errors
    with App(place) as app:
        see(app, "is a file where a folder should be", "/unsaved")
        app.say("/unsaved")
        see(app, "The record goes on in", "/ 9,000")
        app.say(place.tagged("read config.yaml and README.md"))
        see(app, "Books of a shop.", "✓ done", READY)
    assert place.root.read_text() == "mine"


def test_in_the_app_a_full_disk_is_survived_and_what_was_typed_comes_back(place: Place) -> None:
    room = place.folder / "room"
    place.print(place.text())
    plan = place.plan(at=13, do=FAIL_HALF, number=errno.ENOSPC, until=str(room))
    with App(place, world=World(plan=plan)) as app:
        app.wait_for(READY, "/ 9,000")
        app.say(place.text())
        see(app, "the disk is full", "Free some space", "/unsaved", "✗ failed", READY)
        app.say("/compact")
        app.until(lambda: app.text.count("the disk is full") > 1, "a second word")
        app.say(place.tagged("what have we read so far?"))
        app.until(lambda: app.text.count("the disk is full") > 2, "a third word")
        see(app, "✗ failed", READY)
        assert "(job 3) what have we read" in _prompt(app)
        room.touch()
        app.press("enter")
        see(app, "Files we have read", "✓ done", READY)
        app.press("ctrl+d")
        assert app.exit_code() == 0
        app.last_words()
    assert place.look(resumed=True).problems == []
    assert "3" in place.ledger.jobs
    assert_goes_on(place)


def test_a_folder_deleted_while_the_app_runs_can_be_saved_from_the_open_files(
    place: Place,
) -> None:
    with App(place) as app:
        app.wait_for(READY, "/ 9,000")
        app.say(place.text())
        see(app, "I have read 4 of 4 files", "✓ done", READY)
        assert place.session is not None
        name = place.session.name
        shutil.rmtree(place.root)
        app.say(place.tagged("read config.yaml and README.md"))
        see(app, "was moved or deleted", "/unsaved", READY)
        app.until(lambda: "(job 2)" in _prompt(app), "what was typed")
        app.press("ctrl+u")
        app.say("/unsaved")
        see(app, "The record goes on in", "UNSAVED")
        app.say(place.tagged("what have we read so far?"))
        see(app, "Files we have read", "✓ done", READY)
        app.press("ctrl+d")
        assert app.exit_code() == 0
    (session,) = (place.home / "tmp").glob(f"pal-record-*/{name}")
    rows = list(json_lines(session / "transcript_0001.jsonl"))
    assert [row["number"] for row in rows] == list(range(1, len(rows) + 1))
    assert "one by one" in str(rows[0]) and "so far" in str(rows[-2])


def test_a_folder_deleted_during_a_turn_ends_it_with_a_word(place: Place) -> None:
    place.print(place.text())
    run, ended = place.start(place.tagged(ASKED[0]), world=World(delay=0.02))
    bodies = place.folder / "2.bodies"
    while run.poll() is None and not (bodies.exists() and bodies.stat().st_size):
        time.sleep(0.01)
    shutil.rmtree(place.root)
    outcome = ended()
    assert outcome.code == 1
    assert "was moved or deleted" in outcome.last["error"]
    assert "Traceback" not in outcome.errors


def see(app: App, *texts: str) -> None:
    """Wait until the screen holds these texts, wherever its lines break."""
    app.until(lambda: all(text in _words(app.lines) for text in texts), str(texts))


def _words(lines: list[str]) -> str:
    return " ".join(line.split("│")[0].strip("▌ ") for line in lines)


def _prompt(app: App) -> str:
    """What stands below the last rule."""
    lines = app.lines
    last = max(at for at, line in enumerate(lines) if line.startswith("──"))
    return _words(lines[last + 1 :])


def _snapshot(place: Place) -> Files:
    return {
        str(p): p.read_bytes() for p in place.root.rglob("*") if p.is_file() and p.name != "lock"
    }
