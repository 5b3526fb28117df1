"""Single faults of the disk under a journal, each at the place where it hurts most."""

from __future__ import annotations

import errno
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.adapters import journal_writing, session_folder
from app.adapters.journal import Journal
from app.adapters.session_folder import prepare_root
from app.adapters.session_lock import SessionLock
from app.core.conversation import replay
from app.core.messages import user
from app.core.ports import CommitDraft
from app.core.reports import Layer
from app.errors import RecordUnwritable
from tests.fakes.clock import FakeClock


@pytest.fixture
async def journal(tmp_path: Path):
    journal = await Journal.create(tmp_path / ".transcripts", clock=FakeClock())
    await journal.append(user("hello"), spoken=(0,))
    yield journal
    await journal.close()


def fail(*_: object, **__: object) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def draft() -> CommitDraft:
    return CommitDraft(Layer.AUTO, lambda path: user(f"summary of {path}"), ("m1", "m1"), ())


async def said(root: Path, name: str) -> list[str]:
    journal = await Journal.open(root, name, clock=FakeClock())
    view = replay(await journal.history())
    words = [m.text for m in view.view().messages]
    await journal.close()
    return words


async def test_a_compaction_that_failed_but_stayed_on_the_disk_hides_nothing_that_comes_after(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder's sync fails, and so does taking the file away again: until it is gone nothing may be acknowledged."""
    with monkeypatch.context() as broken:
        broken.setattr(journal_writing, "sync_folder", fail)
        broken.setattr(os, "unlink", fail)
        with pytest.raises(RecordUnwritable, match="Input/output error"):
            await journal.commit(draft())
        with pytest.raises(RecordUnwritable):
            await journal.append(user("too early"), spoken=(0,))
    assert (journal.folder / "transcript_0002.jsonl").exists()
    await journal.append(user("in time"), spoken=(0,))
    await journal.close()
    assert "in time" in "".join(await said(journal.folder.parent, journal.session))
    assert not (journal.folder / "transcript_0002.jsonl").exists()


async def test_a_line_that_could_not_be_cut_off_is_cut_before_the_next_segment(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(journal_writing, "_sync_data", fail)
        broken.setattr(os, "ftruncate", fail)
        with pytest.raises(RecordUnwritable):
            await journal.append(user("never acknowledged"), spoken=(0,))
    await journal.commit(draft())
    assert b"never" not in (journal.folder / "transcript_0001.jsonl").read_bytes()


async def test_what_a_crash_left_behind_is_removed_when_the_session_opens(
    journal: Journal,
) -> None:
    await journal.store_output("r1.txt", "long")
    await journal.close()
    left = [
        journal.folder / "transcript_0002.jsonl.ab.tmp",
        journal.folder / "outputs/r2.txt.cd.tmp",
    ]
    for path in left:
        path.write_bytes(b"half")
    again = await Journal.open(journal.folder.parent, journal.session, clock=FakeClock())
    assert not any(path.exists() for path in left)
    assert await again.load_output("r1.txt") == "long"
    await again.close()


async def test_a_deleted_session_moves_with_all_that_its_open_files_hold(
    journal: Journal, tmp_path: Path
) -> None:
    await journal.remark("usage", {"n": 1})
    shutil.rmtree(journal.folder.parent)
    with pytest.raises(RecordUnwritable, match="moved or deleted"):
        await journal.append(user("lost?"), spoken=(0,))
    await journal.move(tmp_path / "new", display_root="new")
    await journal.append(user("not lost"), spoken=(0,))
    assert [entry.words for entry in await journal.page(None, 9)] == ["hello", "not lost"]
    assert len(await journal.remarks({"usage"})) == 1


async def test_a_move_takes_no_half_written_line_along(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(journal_writing, "_sync_data", fail)
        broken.setattr(os, "ftruncate", fail)
        with pytest.raises(RecordUnwritable):
            await journal.append(user("never acknowledged"), spoken=(0,))
        await journal.move(tmp_path / "new", display_root="new")
    entry = await journal.append(user("never acknowledged"), spoken=(0,))
    assert entry.number == 2
    assert journal.notices == ()


async def test_a_session_opens_on_a_full_disk(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    await journal.close()
    real = os.write
    monkeypatch.setattr(
        os, "write", lambda handle, data: fail() if handle > 2 else real(handle, data)
    )
    again = await Journal.open(journal.folder.parent, journal.session, clock=FakeClock())
    assert len(await again.page(None, 9)) == 1
    await again.close()


def test_a_session_that_cannot_begin_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_folder, "AppendFile", fail)
    with pytest.raises(RecordUnwritable):
        session_folder.create_files(tmp_path / "t", FakeClock(), "t", True)
    assert [path.name for path in (tmp_path / "t").iterdir()] == [".gitignore"]


def test_many_processes_make_the_first_session_of_a_folder_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        for number in range(30):
            root = tmp_path / str(number)
            jobs = [pool.submit(prepare_root, root, ignored=True) for _ in range(8)]
            for job in jobs:
                job.result()
            assert [path.name for path in root.iterdir()] == [".gitignore"]
            assert (root / ".gitignore").read_bytes() == b"*\n"


def test_the_lock_of_a_session_needs_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "write", fail)
    SessionLock(tmp_path).release()
