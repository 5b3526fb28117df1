"""A crash while a session is copied or deleted leaves nothing that the next session does not remove."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from app.adapters.journal import Journal
from app.adapters.session_changes import delete_session, fork_session
from app.adapters.session_leftovers import partial_folder, remove_leftovers
from app.adapters.session_list import session_names
from app.core.messages import user
from app.errors import RecordUnwritable
from tests.fakes.clock import FakeClock


class Killed(BaseException):
    """The process ends here: nothing that comes after it is done."""


def killed(*_: object, **__: object) -> None:
    raise Killed


async def session(root: Path) -> str:
    record = await Journal.create(root, clock=FakeClock())
    await record.append(user("the key is hunter2"), spoken=(0,))
    await record.close()
    return record.session


def all_text(root: Path) -> str:
    return "".join(p.read_text(errors="replace") for p in root.rglob("*") if p.is_file())


async def test_a_session_whose_deletion_was_cut_off_is_gone_with_the_next_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = await session(tmp_path)
    with monkeypatch.context() as crash:
        crash.setattr(shutil, "rmtree", killed)
        with pytest.raises(Killed):
            delete_session(tmp_path, name)
    assert session_names(tmp_path) == () and "hunter2" in all_text(tmp_path)
    record = await Journal.create(tmp_path, clock=FakeClock())
    assert "hunter2" not in all_text(tmp_path)
    await record.close()


async def test_a_copy_that_was_cut_off_is_gone_with_the_next_session_that_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = await session(tmp_path)
    with monkeypatch.context() as crash:
        crash.setattr(Path, "replace", killed)
        with pytest.raises(Killed):
            fork_session(tmp_path, name)
    assert all_text(tmp_path).count("hunter2") == 2
    record = await Journal.open(tmp_path, name, clock=FakeClock())
    assert all_text(tmp_path).count("hunter2") == 1
    await record.close()


async def test_a_copy_that_another_process_is_making_stays(tmp_path: Path) -> None:
    folder, lock = partial_folder(tmp_path)
    (folder / "transcript_0001.jsonl").write_text("half")
    remove_leftovers(tmp_path)
    assert folder.is_dir()
    lock.release()
    remove_leftovers(tmp_path)
    assert not folder.exists()


@pytest.mark.parametrize(
    "name", [".pal-deleted-", ".pal-deleted-mine", "pal-deleted-00000000", ".notes.deleted"]
)
def test_folders_that_are_not_ours_stay(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "lock").write_text("")
    remove_leftovers(tmp_path)
    assert (tmp_path / name / "lock").exists()


def test_a_link_with_our_name_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "lock").write_text("")
    (tmp_path / ".pal-deleted-00000000").symlink_to(tmp_path / "mine")
    remove_leftovers(tmp_path)
    assert (tmp_path / "mine" / "lock").exists()


async def test_a_copy_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = await session(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RecordUnwritable, match="disk is full"):
        fork_session(tmp_path, name)
    monkeypatch.undo()
    assert sorted(p.name for p in tmp_path.iterdir()) == [".gitignore", name]
