from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest

from app.adapters.contents import CONTENTS_FILE, CONTENTS_FOLDER, Contents
from app.core.file_states import ABSENT, FileChange, NetChange, changes_of, folders_of, net_changes
from app.core.history import Remark
from app.core.remarks import FILES
from app.errors import ToolError
from app.tools import checkpoints
from tests.tools.conftest import Bench, until


def told(bench: Bench, since: int = 0) -> tuple[FileChange, ...]:
    """What the record was told, from the Nth time on."""
    notes = list(enumerate(bench.notes, 1))[since:]
    return changes_of(Remark(n, "", FILES, data) for n, data in notes)


def net(bench: Bench, since: int = 0) -> dict[str, NetChange]:
    return {change.path: change for change in net_changes(told(bench, since))}


async def take_back(bench: Bench, since: int = 0) -> None:
    for change in net(bench, since).values():
        await bench.checkpoints.restore(change.path, change.first)


async def test_an_edited_file_comes_back_byte_for_byte_with_its_mode(bench: Bench) -> None:
    path = bench.write("s.sh", b"\xef\xbb\xbfone\r\ntwo")
    path.chmod(0o755)
    await bench.call("edit_file", path="s.sh", old_text="one", new_text="1")
    await bench.call("write_file", path="s.sh", content="all new\n")
    path.chmod(0o600)
    await take_back(bench)
    assert path.read_bytes() == b"\xef\xbb\xbfone\r\ntwo"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


async def test_a_created_file_is_removed_and_a_deleted_one_comes_back(bench: Bench) -> None:
    gone = bench.write("sub/gone.py", "x = 1\n")
    await bench.call("write_file", path="new/made.py", content="y = 2\n")
    await bench.call("bash", command="rm -r sub; echo z > by_command")
    await take_back(bench)
    assert gone.read_text() == "x = 1\n"
    assert not (bench.root / "new/made.py").exists()
    assert not (bench.root / "by_command").exists()


async def test_folders_that_a_command_made_are_told_and_go_when_they_are_empty(
    bench: Bench,
) -> None:
    bench.write(".gitignore", "build/\n")
    (bench.root / "old" / "empty").mkdir(parents=True)
    await bench.call("bash", command="mkdir -p a/b build/x node_modules/y old/new; touch old/new/f")
    made = folders_of(Remark(n, "", FILES, data) for n, data in enumerate(bench.notes))
    assert set(made) == {"a", "a/b", "old/new"}
    await take_back(bench)
    going = bench.checkpoints.only_removed(made, ())
    assert going == ("a/b", "old/new", "a")
    bench.write("a/b/by_the_user", "")
    await bench.checkpoints.remove_folders(going)
    assert (bench.root / "a" / "b").is_dir() and (bench.root / "old" / "empty").is_dir()
    assert not (bench.root / "old" / "new").exists()


async def test_what_a_command_changed_comes_back_also_outside_of_git(bench: Bench) -> None:
    files = {f"f{n}": bench.write(f"f{n}", f"{n}\n") for n in range(5)}
    await bench.call("bash", command="sed -i s/^/x/ f0 f1; mv f2 f9; chmod 700 f3; true > f4")
    assert sorted(net(bench)) == ["f0", "f1", "f2", "f3", "f4", "f9"]
    await take_back(bench)
    assert [path.read_text() for path in files.values()] == [f"{n}\n" for n in range(5)]
    assert stat.S_IMODE(files["f3"].stat().st_mode) == 0o644
    assert not (bench.root / "f9").exists()


async def test_a_rewind_can_itself_be_taken_back(bench: Bench) -> None:
    path = bench.write("f", "old\n")
    await bench.call("write_file", path="f", content="new\n")
    since = len(bench.notes)
    await take_back(bench)
    assert path.read_text() == "old\n"
    await take_back(bench, since)
    assert path.read_text() == "new\n"


async def test_the_content_is_on_the_disk_before_the_file_changes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("f", "old\n")

    def killed(*args: object, **more: object) -> None:
        raise OSError("no")

    monkeypatch.setattr("app.tools.edit_file.atomic.write", killed)
    with pytest.raises(ToolError):
        await bench.call("edit_file", path="f", old_text="old", new_text="new")
    first, *_ = told(bench)
    assert first.after is None
    assert bench.checkpoints.text(first.before) == "old\n"


async def test_what_the_user_changed_between_commands_is_not_the_commands(bench: Bench) -> None:
    path = bench.write("f", "first\n")
    await bench.call("bash", command="echo 1 > g")
    path.write_text("by the user\n")
    await bench.call("bash", command="echo changed > f")
    await take_back(bench)
    assert path.read_text() == "by the user\n"


async def test_ignored_files_and_commands_that_change_nothing_are_left_out(bench: Bench) -> None:
    bench.write(".gitignore", "*.log\n")
    bench.write("a.log", "1")
    await bench.call("bash", command="echo 2 > a.log; mkdir -p node_modules; touch node_modules/m")
    bench.changes_nothing = lambda command: True
    await bench.call("bash", command="echo 3 > f")
    assert bench.notes == []


async def test_large_and_special_files_are_named_with_the_reason(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "KEPT_BYTES", 100)
    bench.write("large", "x" * 200)
    (bench.root / "link").symlink_to("large")
    await bench.call("bash", command="echo y >> large; ln -sf other link; mkfifo pipe")
    changes = net(bench)
    assert "larger than" in changes["large"].first.why
    assert changes["link"].first.why == "it is no regular file"
    with pytest.raises(ToolError, match="larger than"):
        await bench.checkpoints.restore("large", changes["large"].first)
    with pytest.raises(ToolError, match="not a regular file"):
        await bench.checkpoints.restore("pipe", ABSENT)


async def test_more_than_can_be_kept_is_said(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("a", "1")
    monkeypatch.setattr(checkpoints, "LOOK_BYTES", -1)
    monkeypatch.setattr(checkpoints, "MOST_CHANGES", 3)
    await bench.call("bash", command="echo 2 > a; touch b c d e f")
    assert net(bench)["a"].first == checkpoints.UNKNOWN
    assert len(net(bench)) == 3
    assert bench.notes[-1]["more"] == 1


async def test_nothing_is_brought_back_through_a_link_that_came_meanwhile(
    bench: Bench, tmp_path: Path
) -> None:
    bench.write("d/f", "old\n")
    await bench.call("write_file", path="d/f", content="new\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (bench.root / "d").rename(bench.root / "e")
    (bench.root / "d").symlink_to(outside)
    with pytest.raises(ToolError):
        await bench.checkpoints.restore("d/f", net(bench)["d/f"].first)
    assert list(outside.iterdir()) == []


async def test_files_of_a_background_job_are_told_when_it_is_asked_about(bench: Bench) -> None:
    bench.write("mine", "1\n")
    await bench.call("bash", command="echo made > made; sleep 30", background=True)
    (job,) = bench.processes.background
    await until(lambda: (bench.root / "made").exists())
    await bench.call("write_file", path="mine", content="2\n")
    outcome = await bench.call("bash", job=job.name)
    assert outcome.effects.modified == ("made",)
    outcome = await bench.call("bash", job=job.name, stop=True)
    assert outcome.effects.modified == ()
    assert net(bench)["made"].first == ABSENT


async def test_a_cancelled_command_tells_what_it_changed(bench: Bench) -> None:
    bench.write("f", "old\n")
    call = asyncio.create_task(bench.call("bash", command="echo new > f; touch up; sleep 30"))
    await until(lambda: (bench.root / "up").exists())
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await take_back(bench)
    assert (bench.root / "f").read_text() == "old\n"


def test_contents_are_private_kept_once_and_bounded(tmp_path: Path) -> None:
    contents = Contents(lambda: tmp_path, limit=2_000)
    assert contents.put(b"abc")
    path = tmp_path / CONTENTS_FOLDER / CONTENTS_FILE
    size = path.stat().st_size
    assert contents.put(b"abc")
    assert path.stat().st_size == size
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert not contents.put(os.urandom(3_000))
    contents.close()
    again = Contents(lambda: tmp_path, limit=2_000)
    assert again.get(again.name(b"abc")) == b"abc"
    assert again.get(again.name(b"other")) is None
    assert again.get("../etc/passwd") is None
    again.close()


@pytest.mark.parametrize("cut", range(1, 40, 3))
def test_contents_cut_off_by_a_crash_are_missed_and_written_over(tmp_path: Path, cut: int) -> None:
    contents = Contents(lambda: tmp_path)
    assert contents.put(b"first")
    assert contents.put(b"second" * 9)
    contents.close()
    path = tmp_path / CONTENTS_FOLDER / CONTENTS_FILE
    path.write_bytes(path.read_bytes()[:-cut])
    again = Contents(lambda: tmp_path)
    assert again.get(again.name(b"first")) == b"first"
    assert again.get(again.name(b"second" * 9)) is None
    assert again.put(b"third")
    again.close()
    last = Contents(lambda: tmp_path)
    assert last.get(last.name(b"third")) == b"third"
    last.close()


def test_damaged_contents_are_not_given_out(tmp_path: Path) -> None:
    contents = Contents(lambda: tmp_path)
    assert contents.put(b"abc" * 50)
    path = tmp_path / CONTENTS_FOLDER / CONTENTS_FILE
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    assert contents.get(contents.name(b"abc" * 50)) is None
    contents.close()
