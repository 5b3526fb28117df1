"""Damaged sessions: what can be read is read, what cannot is told, and nothing is rewritten."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from app.adapters.journal import Journal
from app.adapters.journal_reading import SessionReader
from app.core.conversation import replay
from app.core.messages import Message, Text, ToolResult, ToolUse, user
from app.core.ports import CommitDraft
from app.core.reports import Layer
from app.errors import FormatTooNew, RecordError, SessionNotFound
from tests.fakes.clock import FakeClock
from tests.fakes.message_rules import problems

FIRST = "transcript_0001.jsonl"
EVENTS = "events.jsonl"


@pytest.fixture
def clock():
    return FakeClock(step=1)


@pytest.fixture
async def folder(tmp_path, clock):
    """A session of 20 messages, closed."""
    journal = await Journal.create(tmp_path / ".transcripts", clock=clock)
    for n in range(10):
        await journal.append(user(f"question {n}"), spoken=(0,))
        await journal.append(Message("assistant", (Text(f"answer {n}"),)))
        await journal.remark("usage", {"n": n})
    await journal.close()
    return journal.folder


async def reopened(folder, clock):
    return await Journal.open(folder.parent, folder.name, clock=clock)


async def texts(journal):
    return [entry.message.text for entry in await journal.page(None, 1000)]


def lines_of(path):
    return path.read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize(
    "junk",
    [b"\x00" * 200 + b"\n", b"[1, 2, 3]\n", b'"text"\n', b'{"v":1,"seq":3,"number":2,"first_re\n', b"\xff\xfe\n"],
)  # fmt: skip
async def test_a_damaged_line_in_the_middle_is_named_and_the_rest_is_loaded(folder, clock, junk):
    path = folder / FIRST
    lines = lines_of(path)
    path.write_bytes(b"".join([*lines[:7], junk, *lines[7:]]))
    before = path.read_bytes()
    journal = await reopened(folder, clock)
    assert len(await texts(journal)) == 20
    assert [n for n in journal.notices if "1 damaged line was skipped (line 8)" in n]
    await journal.append(user("on we go"), spoken=(0,))
    await journal.close()
    assert path.read_bytes().startswith(before)


async def test_a_message_that_was_overwritten_inside_is_named_when_it_is_read(folder, clock):
    path = folder / FIRST
    lines = lines_of(path)
    lines[4] = lines[4][:60] + b"\x00" * 5 + lines[4][65:]
    path.write_bytes(b"".join(lines))
    journal = await reopened(folder, clock)
    assert len(replay(await journal.history()).entries) == 19
    assert journal.notices == (f"{FIRST}: 1 damaged line was skipped (line 5).",)
    assert (await journal.append(user("x"))).number == 21
    await journal.close()


@pytest.mark.parametrize("name", [FIRST, EVENTS])
@pytest.mark.parametrize("digits", [b"1" + b"0" * 18, b"9" * 30, b"9" * 5_000])
async def test_a_number_that_nothing_counts_is_a_damaged_line(folder, clock, name, digits):
    path = folder / name
    lines = lines_of(path)
    lines[3] = re.sub(rb'"seq":\d+', b'"seq":' + digits, lines[3], count=1)
    path.write_bytes(b"".join(lines))
    journal = await reopened(folder, clock)
    assert len(await texts(journal)) == (19 if name == FIRST else 20)
    assert (await journal.append(user("x"))).number == 21
    assert [n for n in journal.notices if "1 damaged line was skipped (line 4)" in n]
    await journal.close()


@pytest.mark.parametrize(
    "block",
    [
        {},
        {"type": None},
        {"type": [[]]},
        {"type": ""},
        {"type": "text"},
        {"type": "tool_use"},
        {"type": "tool_result"},
    ],
)
async def test_a_block_that_lacks_what_its_kind_asks_for_is_left_out(folder, clock, block):
    path = folder / FIRST
    lines = lines_of(path)
    raw = json.loads(lines[4])
    raw["content"].append(block)
    lines[4] = json.dumps(raw, separators=(",", ":")).encode() + b"\n"
    path.write_bytes(b"".join(lines))
    journal = await reopened(folder, clock)
    view = replay(await journal.history()).view()
    assert len(view.messages) == 20
    assert problems((*view.messages, user("go on"))) == ()
    assert view.messages[4].content == (Text("question 2"),)
    await journal.close()


@pytest.mark.parametrize("digit", [b"90", b"70"])
async def test_a_wrong_number_hides_nothing_behind_it(folder, clock, digit):
    path = folder / FIRST
    lines = lines_of(path)
    lines[8] = lines[8].replace(b'"number":9,', b'"number":%s,' % digit)
    path.write_bytes(b"".join(lines))
    journal = await reopened(folder, clock)
    numbers = [entry.number for entry in await journal.page(None, 1000)]
    assert numbers == [n for n in range(1, 21) if n != 9]
    assert f"{FIRST}: 1 damaged line was skipped (line 9)." in journal.notices
    assert (await journal.append(user("on"))).number == 21
    await journal.close()


async def test_lines_that_were_copied_behind_the_last_are_nothing_new(folder, clock):
    path = folder / FIRST
    lines = lines_of(path)
    path.write_bytes(b"".join([*lines, *lines[3:9]]))
    journal = await reopened(folder, clock)
    numbers = [entry.number for entry in await journal.page(None, 1000)]
    assert numbers == list(range(1, 21)) and not journal.notices
    await journal.close()


async def test_two_records_on_one_line_are_both_read(folder, clock):
    path = folder / FIRST
    lines = lines_of(path)
    lines[3] = lines[3].rstrip(b"\n")
    path.write_bytes(b"".join(lines))
    journal = await reopened(folder, clock)
    assert len(await texts(journal)) == 20
    assert journal.notices == ()
    await journal.close()


async def test_blank_lines_are_nothing(folder, clock):
    path = folder / FIRST
    path.write_bytes(path.read_bytes().replace(b"\n", b"\n\n \r\n"))
    journal = await reopened(folder, clock)
    assert len(await texts(journal)) == 20
    assert journal.notices == ()
    await journal.close()


async def test_a_torn_last_line_is_dropped_with_a_notice_and_cut_off_by_the_next_append(
    folder, clock
):
    path = folder / FIRST
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    journal = await reopened(folder, clock)
    assert (await texts(journal))[-1] == "question 9"
    assert "the last line was cut off" in journal.notices[0]
    assert path.read_bytes() == whole[:-30]
    entry = await journal.append(Message("assistant", (Text("again"),)))
    assert entry.number == 20
    await journal.close()
    assert len(lines_of(path)) == 20
    assert SessionReader(folder).page(None, 1) == (entry,)


async def test_a_last_line_without_its_line_end_is_kept(folder, clock):
    path = folder / FIRST
    path.write_bytes(path.read_bytes()[:-1])
    journal = await reopened(folder, clock)
    await journal.append(user("next"), spoken=(0,))
    assert (await texts(journal))[-2:] == ["answer 9", "next"]
    await journal.close()
    assert len(lines_of(path)) == 21


async def test_a_tail_of_nul_bytes_is_cut_off(folder, clock):
    path = folder / FIRST
    with path.open("ab") as file:
        file.write(b"\x00" * 4096)
    journal = await reopened(folder, clock)
    await journal.append(user("next"), spoken=(0,))
    await journal.close()
    assert b"\x00" not in path.read_bytes()
    assert len(lines_of(path)) == 21


async def test_numbers_are_not_given_out_again_behind_a_damaged_last_line(folder, clock):
    path = folder / FIRST
    lines = lines_of(path)
    path.write_bytes(b"".join([*lines[:-1], b"garbage\n"]))
    journal = await reopened(folder, clock)
    assert (await journal.append(user("next"))).number == 21
    await journal.close()


async def test_without_its_events_a_session_only_unclears_results(folder, clock):
    journal = await reopened(folder, clock)
    await journal.append(Message("assistant", (ToolUse("t", "bash", {}),)))
    await journal.append(Message("user", (ToolResult("t", "long output"),)))
    await journal.clear({"r1": "[Previous: used bash]"})
    await journal.close()
    (folder / EVENTS).unlink()
    journal = await reopened(folder, clock)
    conversation = replay(await journal.history())
    assert len(conversation.entries) == 22 and not conversation.stubs
    assert "events.jsonl is missing" in journal.notices[0]
    assert (await journal.append(user("on"))).number == 23
    await journal.close()


async def compacted(folder, clock, times):
    journal = await reopened(folder, clock)
    for n in range(times):
        view = replay(await journal.history())
        ids = [entry.id for entry in view.entries]
        await journal.commit(
            CommitDraft(
                Layer.AUTO,
                lambda p, n=n: user(f"summary {n} of {p}"),
                (ids[0], ids[-1]),
                (ids[-1],),
            )
        )
        await journal.append(user(f"after {n}"), spoken=(0,))
    await journal.close()


async def test_without_its_newest_summary_the_view_falls_back_to_the_one_before(folder, clock):
    await compacted(folder, clock, 2)
    path = folder / "transcript_0003.jsonl"
    lines = lines_of(path)
    path.write_bytes(b"".join([b"garbage\n", *lines[1:]]))
    journal = await reopened(folder, clock)
    conversation = replay(await journal.history())
    assert conversation.base == 1
    assert [e.message.text for e in conversation.entries] == ["answer 9", "after 0", "after 1"]
    assert any("transcript_0003.jsonl: 1 damaged line" in notice for notice in journal.notices)
    assert [e.number for e in await journal.messages([1, 21, 22, 99])] == [1, 21, 22]
    entry = await journal.append(user("on"))
    assert entry.number == 23
    await journal.close()


async def test_a_missing_segment_is_named_and_the_rest_is_read(folder, clock):
    await compacted(folder, clock, 2)
    (folder / "transcript_0002.jsonl").unlink()
    journal = await reopened(folder, clock)
    assert replay(await journal.history()).base == 2
    assert any("transcript_0002.jsonl is missing" in notice for notice in journal.notices)
    assert len(await texts(journal)) == 21
    await journal.close()


async def test_a_file_that_goes_away_while_it_is_needed_is_said_plainly(folder, clock):
    await compacted(folder, clock, 2)
    journal = await reopened(folder, clock)
    (folder / FIRST).unlink()
    with pytest.raises(RecordError, match="cannot be read"):
        await journal.messages([1])
    await journal.close()


async def test_what_a_dead_commit_left_behind_is_cleaned_up(folder, clock):
    (folder / "transcript_0002.jsonl.tmp").write_bytes(b'{"v":1,"seq":')
    journal = await reopened(folder, clock)
    assert journal.transcript.endswith(FIRST)
    await journal.close()
    assert not list(folder.glob("*.tmp"))


@pytest.mark.parametrize("name", [FIRST, EVENTS])
async def test_a_newer_format_is_refused_and_the_lock_let_go(folder, clock, name):
    with (folder / name).open("ab") as file:
        file.write(b'{"v":2,"seq":999,"something":"new"}\n')
    for _ in range(2):
        with pytest.raises(FormatTooNew):
            await reopened(folder, clock)


@pytest.mark.parametrize("name", ["nowhere", "", "..", "../x", "a/b", "/etc"])
async def test_a_session_that_is_not_there_is_not_found(tmp_path, clock, name):
    (tmp_path / ".transcripts").mkdir()
    with pytest.raises(SessionNotFound):
        await Journal.open(tmp_path / ".transcripts", name, clock=clock)
    assert not list((tmp_path / ".transcripts").iterdir())


async def test_a_session_whose_every_line_is_damaged_is_not_thrown_away(folder, clock):
    (folder / FIRST).write_bytes(b"garbage\n" * 3)
    journal = await reopened(folder, clock)
    assert (await texts(journal)) == []
    await journal.close()
    assert (folder / FIRST).read_bytes() == b"garbage\n" * 3
    shutil.rmtree(folder)
