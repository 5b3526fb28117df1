"""The list of sessions, finding one, forking one, putting old ones away."""

from __future__ import annotations

import os
import tarfile

import pytest

from app.adapters.journal import Journal
from app.adapters.journal_reading import SessionReader
from app.adapters.session_archive import archive_days
from app.adapters.session_changes import delete_session, fork_session, rename_session
from app.adapters.session_list import (
    find_session,
    latest_session,
    list_sessions,
    session_names,
)
from app.adapters.session_lock import SessionLock
from app.core.conversation import replay
from app.core.messages import Message, Text, ToolResult, ToolUse, user
from app.core.ports import CommitDraft
from app.core.reports import Layer
from app.errors import FormatTooNew, SessionBusy, SessionNotFound
from tests.fakes.clock import FakeClock


@pytest.fixture
def root(tmp_path):
    return tmp_path / ".transcripts"


async def session(root, words="fix the bug", start="2026-11-29T22:16:40.000Z", compact=False):
    clock = FakeClock(start, step=1)
    journal = await Journal.create(root, clock=clock)
    await journal.remark("model", {"model": "demo-1"})
    await journal.append(user(words, "note"), spoken=(0,))
    await journal.append(Message("assistant", (ToolUse("t", "bash", {"command": "ls"}),)))
    await journal.append(Message("user", (ToolResult("t", "a.py"),)))
    if compact:
        await journal.commit(
            CommitDraft(Layer.AUTO, lambda p: user("summary of " + p), ("m1", "m3"), ("m3",))
        )
    await journal.append(Message("assistant", (Text("done"),)))
    await journal.store_output("r1.txt", "full output")
    await journal.close()
    return journal.session


async def test_the_list_tells_what_people_look_for(root):
    name = await session(root, words="fix\n  the bug\x1b[31m", compact=True)
    (info,) = list_sessions(root)
    assert (info.name, info.messages, info.compactions, info.model) == (name, 4, 1, "demo-1")
    assert info.words == "fix the bug\x1b[31m"
    assert info.started == "2026-11-29T22:16:42.000Z" < info.last
    assert info.size > 1_000


async def test_the_last_used_session_comes_first_and_empty_ones_do_not_count(root):
    old = await session(root, start="2026-11-28T10:00:00.000Z")
    new = await session(root, start="2026-11-29T10:00:00.000Z")
    empty = await Journal.create(root, clock=FakeClock("2026-11-30T10:00:00.000Z"))
    assert [info.name for info in list_sessions(root)] == [new, old]
    assert latest_session(root) == new
    await empty.close()
    journal = await Journal.open(root, old, clock=FakeClock("2026-11-30T11:00:00.000Z"))
    await journal.append(user("on"), spoken=(0,))
    await journal.close()
    assert latest_session(root) == old


async def test_no_folder_means_no_sessions(root):
    assert list_sessions(root) == () and latest_session(root) is None
    with pytest.raises(SessionNotFound) as caught:
        find_session(root, "x")
    assert "no sessions here yet" in caught.value.hint


async def test_a_session_is_found_by_name_by_its_beginning_or_end_and_by_its_title(root):
    one = await session(root, start="2026-11-28T10:00:00.000Z")
    two = await session(root, start="2026-11-29T10:00:00.000Z")
    journal = await Journal.open(root, one, clock=FakeClock())
    await journal.remark("renamed", {"name": "the parser"})
    await journal.remark("usage", {"model": "demo-2"})
    await journal.close()
    assert find_session(root, one) == find_session(root, "2026-11-28") == one
    assert find_session(root, "the parser") == find_session(root, one[-4:]) == one
    with pytest.raises(SessionNotFound, match="stands for 2 sessions") as caught:
        find_session(root, "2026-11")
    assert one in caught.value.hint and two in caught.value.hint
    with pytest.raises(SessionNotFound, match="no session 'zzz'") as caught:
        find_session(root, "zzz")
    assert one in caught.value.hint
    for text in ("", "..", "../.transcripts/" + one):
        with pytest.raises(SessionNotFound):
            find_session(root, text)
    (info,) = [i for i in list_sessions(root) if i.name == one]
    assert (info.title, info.model) == ("the parser", "demo-2")


async def test_one_session_with_odd_files_does_not_spoil_the_list(root):
    good = await session(root)
    for name, data in (("bad-1", b"\x00" * 50), ("bad-2", b'{"v":"x"}\n'), ("bad-3", b"")):
        (root / name).mkdir()
        (root / name / "transcript_0001.jsonl").write_bytes(data)
    (root / "notes").mkdir()
    (root / "file").write_text("x")
    assert [info.name for info in list_sessions(root)] == [good]


async def test_a_session_that_ends_in_a_very_long_message_is_counted(root):
    journal = await Journal.create(root, clock=FakeClock())
    await journal.append(user("short"), spoken=(0,))
    await journal.append(user("x" * 300_000))
    await journal.close()
    assert list_sessions(root)[0].messages == 2


async def test_a_fork_has_everything_and_then_goes_its_own_way(root):
    name = await session(root, compact=True)
    held = await Journal.open(root, name, clock=FakeClock())
    fork = fork_session(root, name)
    assert fork != name
    journal = await Journal.open(root, fork, clock=FakeClock())
    assert replay(await journal.history()) == replay(await held.history())
    assert await journal.load_output("r1.txt") == "full output"
    entry = await journal.append(user("another way"), spoken=(0,))
    assert entry.id == "m5" and len(await held.page(None, 99)) == 4
    await journal.close()
    await held.close()
    for path in (root / fork).rglob("*"):
        assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(SessionNotFound):
        fork_session(root, "nowhere")


async def test_a_fork_of_a_torn_session_resumes_like_the_session(root):
    name = await session(root)
    path = root / name / "transcript_0001.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    journal = await Journal.open(root, fork_session(root, name), clock=FakeClock())
    assert (await journal.append(user("on"))).number == 4
    assert not [p for p in root.iterdir() if p.name.endswith(".partial")]
    await journal.close()


async def test_old_sessions_are_packed_by_day_and_can_be_unpacked(root):
    days = ("2026-11-27", "2026-11-27", "2026-11-28", "2026-11-29")
    names = [await session(root, start=f"{day}T10:00:00.000Z", compact=True) for day in days]
    before = {name: replay(SessionReader(root / name).history()) for name in names}
    done = list(archive_days(root, "2026-11-29", root / "archive"))
    assert [(d.day, set(d.sessions)) for d in done] == [
        ("2026-11-27", set(names[:2])),
        ("2026-11-28", {names[2]}),
    ]
    assert session_names(root) == (names[3],)
    for archived in done:
        assert archived.path.stat().st_mode & 0o777 == 0o600
        with tarfile.open(archived.path) as packed:
            safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # from 3.11.4 on
            packed.extractall(root, **safely)
    assert {name: replay(SessionReader(root / name).history()) for name in names} == before


async def test_a_second_archive_of_a_day_does_not_replace_the_first(root):
    for words in ("one", "two"):
        await session(root, words=words, start="2026-11-27T10:00:00.000Z")
        list(archive_days(root, "2026-11-29", root / "archive"))
    found = sorted(path.name for path in (root / "archive").iterdir())
    assert found == ["2026-11-27.tar.gz", "2026-11-27_2.tar.gz"]


async def test_an_open_session_is_not_packed(root):
    name = await session(root)
    lock = SessionLock(root / name)
    (done,) = archive_days(root, "2027-01-01", root / "archive")
    assert (done.sessions, done.busy) == ((), (name,))
    lock.release()
    assert session_names(root) == (name,)


async def test_a_day_can_be_a_folder(root):
    name = await session(root)
    (done,) = archive_days(root, "2027-01-01", root / "archive", as_folders=True)
    assert done.path == root / "archive" / "2026-11-29"
    assert len(SessionReader(done.path / name).page(None, 9)) == 4
    assert session_names(root) == ()


def as_version(folder, version):
    """Rewrite a session as another version of the format would begin its lines."""
    for path in folder.glob("*.jsonl"):
        path.write_bytes(path.read_bytes().replace(b'{"v":1,', b'{"v":%d,' % version))


async def test_a_session_of_an_older_format_is_listed_and_goes_on(root):
    name = await session(root, compact=True)
    as_version(root / name, 0)
    (info,) = list_sessions(root)
    assert (info.messages, info.compactions, info.words, info.too_new) == (
        4,
        1,
        "fix the bug",
        False,
    )
    journal = await Journal.open(root, name, clock=FakeClock())
    assert [e.message.text for e in await journal.page(None, 9)][-1] == "done"
    assert replay(await journal.history()).base == 1
    assert (await journal.append(user("on"), spoken=(0,))).number == 5
    assert journal.notices == ()
    await journal.close()
    assert list_sessions(root)[0].messages == 5


@pytest.mark.parametrize("file", ["transcript_0002.jsonl", "events.jsonl"])
async def test_a_session_of_a_newer_format_is_listed_as_such_and_refused(root, file):
    old = await session(root, start="2026-11-28T10:00:00.000Z")
    name = await session(root, compact=True)
    path = root / name / file
    path.write_bytes(path.read_bytes() + b'{"v":7,"seq":99,"time":"2026-11-30T10:00:00.000Z"}\n')
    newest, other = list_sessions(root)
    assert (newest.name, newest.too_new, newest.format) == (name, True, 7)
    assert (other.name, other.too_new) == (old, False)
    assert latest_session(root) == name, "it is told, not passed over in silence"
    with pytest.raises(FormatTooNew, match="format 7"):
        await Journal.open(root, name, clock=FakeClock())


async def test_a_title_is_kept_in_the_record_and_can_be_changed_again(root):
    name = await session(root)
    assert rename_session(root, name, "  the\n parser  ") == "the parser"
    files = "x" * 3_000_000
    journal = await Journal.open(root, name, clock=FakeClock())
    await journal.remark("usage", {"model": files})
    await journal.close()
    assert list_sessions(root)[0].title == "the parser"
    assert rename_session(root, name, "y" * 200) == "y" * 80
    assert list_sessions(root)[0].title == "y" * 80
    rename_session(root, name, "")
    assert list_sessions(root)[0].title == ""
    held = await Journal.open(root, name, clock=FakeClock())
    with pytest.raises(SessionBusy):
        rename_session(root, name, "mine")
    await held.close()


async def test_a_deleted_session_is_gone_and_one_that_is_open_stays(root):
    name, other = await session(root), await session(root)
    held = await Journal.open(root, name, clock=FakeClock())
    with pytest.raises(SessionBusy):
        delete_session(root, name)
    await held.close()
    delete_session(root, name)
    assert session_names(root) == (other,)
    assert not list(root.glob(f"*{name}*"))
    with pytest.raises(SessionNotFound):
        delete_session(root, name)


async def test_the_list_names_the_process_that_has_a_session_open(root):
    name = await session(root)
    (info,) = list_sessions(root)
    assert info.holder is None
    lock = SessionLock(root / name)
    assert info.holder.process == os.getpid() and info.holder.since
    lock.release()
    assert info.holder is None
    for text in ("", "x", "999999999", "0" * 70, f"{os.getpid()}\nlong ago"):
        (root / name / "lock").write_text(text)
        assert info.holder is None or info.holder.since == ""


async def test_what_only_ever_ran_without_a_screen_is_marked_and_not_gone_on_with_on_one(root):
    talked = await session(root, start="2026-11-28T10:00:00.000Z")
    printed = await session(root, start="2026-11-29T10:00:00.000Z")
    clock = FakeClock("2026-11-30T10:00:00.000Z")
    journal = await Journal.open(root, printed, clock=clock)
    await journal.remark("run", {"printed": True})
    await journal.close()
    assert {info.name: info.printed for info in list_sessions(root)} == {
        talked: False,
        printed: True,
    }
    assert (latest_session(root), latest_session(root, for_screen=True)) == (printed, talked)
    journal = await Journal.open(root, printed, clock=clock)
    await journal.remark("run", {})
    await journal.close()
    assert latest_session(root, for_screen=True) == printed
