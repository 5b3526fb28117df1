"""Writing the record: durable, private, whole or not at all, in order, and safe to cancel."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from app.adapters import journal_outputs, journal_texts
from app.adapters.journal import Journal
from app.adapters.journal_reading import SessionReader
from app.adapters.journal_writing import AppendFile, write_new
from app.core.conversation import replay
from app.core.effects import Effects
from app.core.messages import Message, Text, ToolResult, ToolUse, user
from app.core.ports import CommitDraft
from app.core.reports import Layer
from app.errors import RecordError, RecordUnwritable
from tests.fakes.clock import FakeClock

ROOT = Path(__file__).parents[2]


@pytest.fixture
async def journal(tmp_path):
    journal = await Journal.create(tmp_path / ".transcripts", clock=FakeClock(step=1))
    yield journal
    await journal.close()


def draft(view, keep=0):
    ids = [entry.id for entry in view.entries]
    kept = tuple(ids[len(ids) - keep :])
    return CommitDraft(Layer.AUTO, lambda path: user(f"summary of {path}"), (ids[0], ids[-1]), kept)


async def test_each_message_is_one_line_that_others_can_read(journal):
    await journal.append(user("hello", "a note"), spoken=(0,))
    await journal.append(
        Message("assistant", (Text("hi"), ToolUse("t1", "bash", {"command": "ls"})))
    )
    await journal.append(Message("user", (ToolResult("t1", "a.py"),)))
    lines = (journal.folder / "transcript_0001.jsonl").read_text("ascii").splitlines()
    first, _, third = map(json.loads, lines)
    assert first | {"time": ""} == {
        "v": 1, "seq": 1, "number": 1, "first_result": 0, "results": 0, "id": "m1", "time": "",
        "role": "user", "content": [{"type": "text", "text": "hello"}, {"type": "text", "text": "a note"}],
        "spoken": [0], "effects": {},
    }  # fmt: skip
    assert (third["first_result"], third["results"], third["seq"]) == (1, 1, 3)


async def test_a_compaction_begins_a_segment_and_its_head_names_the_one_before(journal):
    await journal.append(user("hello"), spoken=(0,))
    before = journal.transcript
    commit = await journal.commit(draft(replay(await journal.history())))
    assert commit.head.text == f"summary of {before}"
    assert before == f".transcripts/{journal.session}/transcript_0001.jsonl"
    assert journal.transcript == f".transcripts/{journal.session}/transcript_0002.jsonl"
    entry = await journal.append(user("next"), spoken=(0,))
    first, second = (journal.folder / "transcript_0002.jsonl").read_bytes().splitlines()
    assert json.loads(first)["commit"] == 1 and json.loads(second)["id"] == entry.id == "m2"


async def test_calls_made_at_once_are_written_in_their_order(journal):
    jobs = [
        journal.append(user(f"{n}")) if n % 2 else journal.remark("usage", {"n": n})
        for n in range(40)
    ]
    items = await asyncio.gather(*jobs)
    assert [item.seq for item in items] == list(range(1, 41))


async def test_a_cancelled_call_is_written_returned_and_cancelled_at_the_next_await(journal):
    seen = []

    async def turn():
        seen.append(await journal.append(user("x" * 2_000_000), spoken=(0,)))
        seen.append("still here")
        await asyncio.sleep(0)
        seen.append("never")

    task = asyncio.create_task(turn())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [getattr(item, "id", item) for item in seen] == ["m1", "still here"]
    assert (await journal.append(user("next"))).number == 2
    assert len(await journal.page(None, 9)) == 2


async def test_a_timeout_around_a_call_ends_as_a_timeout(journal):
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await journal.append(user("x"))
            await asyncio.sleep(10)
    assert len(await journal.page(None, 9)) == 1


async def test_a_session_in_which_nothing_was_said_leaves_no_folder(tmp_path):
    journal = await Journal.create(tmp_path / "t", clock=FakeClock())
    await journal.remark("prompt", {"system": "s", "tools": []})
    await journal.close()
    await journal.close()
    assert [path.name for path in (tmp_path / "t").iterdir()] == [".gitignore"]


async def test_a_closed_session_says_so(tmp_path):
    journal = await Journal.create(tmp_path / "t", clock=FakeClock())
    await journal.close()
    with pytest.raises(RecordError, match="is closed"):
        await journal.append(user("x"))


async def test_two_sessions_of_the_same_second_have_two_portable_names(tmp_path):
    journals = [await Journal.create(tmp_path, clock=FakeClock()) for _ in range(20)]
    names = {journal.session for journal in journals}
    assert len(names) == 20
    for name in names:
        assert name.startswith("2026-11-29T22-16-40Z-")
        assert not set(name) & set(':<>"/\\|?*') and not name.endswith((".", " "))
    for journal in journals:
        await journal.close()


@pytest.mark.parametrize("umask", [0o000, 0o022])
async def test_folders_and_files_are_private_whatever_the_umask(tmp_path, umask):
    root = tmp_path / ".transcripts"
    root.mkdir()
    root.chmod(0o755)
    before = os.umask(umask)
    try:
        journal = await Journal.create(root, clock=FakeClock())
        await journal.append(user("x"), spoken=(0,))
        await journal.store_output("r1.txt", "long")
        await journal.commit(draft(replay(await journal.history())))
        await journal.close()
        journal.folder.chmod(0o755)
        (journal.folder / "transcript_0002.jsonl").chmod(0o644)
        journal = await Journal.open(root, journal.session, clock=FakeClock())
        await journal.close()
    finally:
        os.umask(before)
    for path in (root, *root.rglob("*")):
        expected = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == expected, path


def offered_by_git(folder):
    git = ["git", "-C", str(folder), "add", "-A", "-n"]
    return subprocess.run(git, check=True, capture_output=True, text=True).stdout


async def test_git_is_offered_nothing_of_a_session_unless_it_was_opted_in(tmp_path):
    await asyncio.to_thread(subprocess.run, ["git", "init", "-q", str(tmp_path)], check=True)
    journal = await Journal.create(tmp_path / ".transcripts", clock=FakeClock())
    await journal.append(user("secret"))
    await journal.close()
    assert offered_by_git(tmp_path) == ""
    journal = await Journal.create(tmp_path / ".transcripts", clock=FakeClock(), ignored=False)
    await journal.close()
    assert "transcript_0001.jsonl" in offered_by_git(tmp_path)


async def test_an_ignore_file_of_the_users_own_is_left_alone(tmp_path):
    (tmp_path / ".gitignore").write_text("*\n!.gitignore\n")
    for ignored in (True, False):
        journal = await Journal.create(tmp_path, clock=FakeClock(), ignored=ignored)
        await journal.close()
    assert (tmp_path / ".gitignore").read_text() == "*\n!.gitignore\n"


async def test_a_file_where_the_folder_should_be_is_said_plainly(tmp_path):
    (tmp_path / ".transcripts").write_text("I am a file")
    with pytest.raises(RecordUnwritable, match="is a file where a folder should be") as caught:
        await Journal.create(tmp_path / ".transcripts", clock=FakeClock())
    assert "PAL_TRANSCRIPT_DIR" in caught.value.hint


async def test_a_deleted_transcript_is_noticed_at_the_next_message(journal):
    await journal.append(user("x"))
    (journal.folder / "transcript_0001.jsonl").unlink()
    with pytest.raises(RecordUnwritable, match="moved or deleted"):
        await journal.append(user("y"))
    (journal.folder / "transcript_0001.jsonl").touch()


def test_a_full_device_is_told_with_what_to_do():
    file = AppendFile(Path("/dev/full"), end=0)
    with pytest.raises(RecordUnwritable, match="disk is full") as caught:
        file.append(b"x" * 5_000)
    assert "Free some space" in caught.value.hint
    file.close()


def test_a_new_file_that_cannot_be_written_leaves_what_was_there_and_no_rest(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(RecordUnwritable):
        write_new(tmp_path / "a", b"new")
    assert [path.name for path in tmp_path.rglob("*")] == ["a"]


SHORT_WRITES = """
import asyncio, json, resource, sys
from pathlib import Path
from app.adapters.journal import Journal
from app.adapters.clock import SystemClock
from app.core.messages import user
from app.core.ports import CommitDraft
from app.core.reports import Layer
from app.errors import RecordUnwritable

async def main(root):
    journal = await Journal.create(root, clock=SystemClock())
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, hard))
    refused, kept = 0, []
    for n in range(10):
        try:
            kept.append((await journal.append(user(f"{n} " + "x" * 800), spoken=(0,))).number)
        except RecordUnwritable as error:
            assert "limit on file sizes" in str(error), error
            refused += 1
    size = (journal.folder / "transcript_0001.jsonl").stat().st_size
    big = CommitDraft(Layer.AUTO, lambda p: user("s" * 9000), ("m1", "m2"))
    try:
        await journal.commit(big)
    except RecordUnwritable:
        refused += 1
    assert not list(journal.folder.glob("*0002*"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    kept.append((await journal.append(user("room again"), spoken=(0,))).number)
    await journal.close()
    print(json.dumps({"session": journal.session, "refused": refused, "kept": kept, "size": size}))

asyncio.run(main(Path(sys.argv[1])))
"""


def test_a_write_that_comes_short_is_cut_off_and_writing_goes_on_when_there_is_room(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SHORT_WRITES, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["refused"] > 3 and told["size"] < 5000
    assert told["kept"] == list(range(1, len(told["kept"]) + 1))
    reader = SessionReader(tmp_path / told["session"])
    entries = reader.page(None, 100)
    assert [entry.number for entry in entries] == told["kept"]
    assert entries[-1].words == "room again" and reader.notices == ()
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 5000


async def test_outputs_come_back_whole_and_by_the_path_that_was_shown(journal):
    text = "é\r\n\ud800\x00\u2028" * 100
    shown = await journal.store_output("r17.txt", text)
    assert shown == f".transcripts/{journal.session}/outputs/r17.txt"
    assert await journal.load_output("r17.txt") == await journal.load_output(shown) == text
    assert await journal.load_output("r18.txt") is None
    assert await journal.load_output("../events.jsonl") is None
    assert not list((journal.folder / "outputs").glob("*.tmp"))


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".", "..", ".hidden", "a\0b", "x" * 300])
async def test_an_output_goes_nowhere_but_its_folder(journal, name):
    with pytest.raises(ValueError, match="not a plain file name"):
        await journal.store_output(name, "text")


async def test_an_output_larger_than_the_limit_is_cut_and_says_so(journal, monkeypatch):
    monkeypatch.setattr(journal_outputs, "OUTPUT_BYTES_MAX", 1_000)
    await journal.store_output("r1.txt", "é" * 5_000)
    path = journal.folder / "outputs" / "r1.txt"
    assert path.stat().st_size <= 1_000
    assert "[cut here: 9,100 more bytes were not stored]" in path.read_text("utf-8")


async def test_all_texts_come_newest_first_with_stored_outputs_whole(journal):
    await journal.append(user("look at needle one"), spoken=(0,))
    await journal.append(
        Message(
            "assistant",
            (ToolUse("a", "bash", {"command": "grep\nneedle"}), ToolUse("b", "bash", {})),
        )
    )
    stored = "head\n" + "filler\n" * 5_000 + "NEEDLE in the middle\n"
    await journal.store_output("r2.txt", stored)
    await journal.append(
        Message("user", (ToolResult("a", "nothing"), ToolResult("b", "head"))),
        effects={"b": Effects(stored="r2.txt")},
    )
    found = [pair async for batch in journal.texts() for pair in batch]
    assert [id_ for id_, _ in found] == ["r1", "r2", "r2", "r2", "m2", "m1"]
    assert "".join(text for id_, text in found if id_ == "r2") == stored
    assert found[-2:] == [("m2", "bash: grep\nbash: needle"), ("m1", "look at needle one")]


async def test_remarks_come_back_by_kind_and_since(journal):
    for n in range(3):
        await journal.remark("usage", {"n": n})
        await journal.remark("todo", {"items": [n]})
    assert [r.data["n"] for r in await journal.remarks({"usage"})] == [0, 1, 2]
    assert [r.seq for r in await journal.remarks({"usage", "todo"}, since=4)] == [5, 6]


async def test_a_long_search_holds_up_no_write(journal, monkeypatch):
    begun, written = threading.Event(), threading.Event()

    def slow(folder):
        begun.set()
        written.wait()
        yield (("m1", "x"),)

    monkeypatch.setattr(journal_texts, "batches", slow)
    search = asyncio.create_task(anext(journal.texts()))
    await asyncio.to_thread(begun.wait)
    await journal.append(user("meanwhile"))
    assert not search.done()
    written.set()
    assert await search == (("m1", "x"),)


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="/proc takes no new folders")
async def test_a_place_that_takes_no_folder_is_not_said_to_be_gone():
    with pytest.raises(RecordUnwritable, match=r"no folder can be made at /proc/\.transcripts"):
        await Journal.create(Path("/proc/.transcripts"), clock=FakeClock())
