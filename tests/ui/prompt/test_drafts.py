"""The unsent text: kept while one types, taken up by the next start in the same folder, never by a running neighbour."""

import os
import stat
import subprocess
import sys

import pytest

from app.ui.prompt.drafts import MOST_CHARS, Draft, Drafts


@pytest.fixture
def ended():
    """Id of a process that runs no more."""
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def test_what_a_killed_process_left_is_taken_once(tmp_path, ended):
    draft = Draft("half a [Pasted text #3 +20 lines]", {3: "line\n" * 20})
    Drafts(tmp_path, tmp_path / "project", process=ended).save(draft)
    after = Drafts(tmp_path, tmp_path / "project")
    assert after.take() == draft
    assert after.take() == Draft()


def test_a_draft_belongs_to_its_folder_and_to_its_running_process(tmp_path, ended):
    Drafts(tmp_path, tmp_path / "one", process=os.getppid()).save(Draft("still being typed"))
    Drafts(tmp_path, tmp_path / "two", process=ended).save(Draft("of another folder"))
    assert Drafts(tmp_path, tmp_path / "one").take() == Draft()
    assert Drafts(tmp_path, tmp_path / "two").take() == Draft("of another folder")


def test_an_empty_draft_leaves_no_file(tmp_path):
    drafts = Drafts(tmp_path, tmp_path)
    drafts.save(Draft("text"))
    (file,) = (tmp_path / "drafts").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    drafts.save(Draft("  \n"))
    assert list((tmp_path / "drafts").iterdir()) == []
    drafts.save(Draft("x" * (MOST_CHARS + 1)))
    assert list((tmp_path / "drafts").iterdir()) == []


def test_a_damaged_draft_and_a_folder_that_cannot_be_written_stop_nobody(tmp_path, ended):
    drafts = Drafts(tmp_path, tmp_path, process=ended)
    drafts.save(Draft("text"))
    (file,) = (tmp_path / "drafts").iterdir()
    file.write_text('{"text": 3')
    assert Drafts(tmp_path, tmp_path).take() == Draft()
    (tmp_path / "drafts").rmdir()
    (tmp_path / "drafts").write_text("a file stands here")
    drafts.save(Draft("text"))
    assert drafts.take() == Draft()


def test_secrets_are_masked_on_their_way_to_the_file(tmp_path, ended):
    drafts = Drafts(tmp_path, tmp_path, process=ended, mask=lambda t: t.replace("k3y", "[key]"))
    drafts.save(Draft("use k3y [Pasted text #1]", {1: "and k3y"}))
    (file,) = (tmp_path / "drafts").iterdir()
    assert "k3y" not in file.read_text()
    assert Drafts(tmp_path, tmp_path).take() == Draft(
        "use [key] [Pasted text #1]", {1: "and [key]"}
    )


def test_two_folders_whose_names_give_the_same_file_keep_their_drafts_apart(
    tmp_path, ended, monkeypatch
):
    monkeypatch.setattr("app.ui.prompt.drafts.binascii.crc32", lambda data: 7)
    Drafts(tmp_path, tmp_path / "one", process=ended).save(Draft("of one"))
    assert Drafts(tmp_path, tmp_path / "two").take() == Draft()
    assert Drafts(tmp_path, tmp_path / "one").take() == Draft("of one")
