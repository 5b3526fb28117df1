"""Full text over all sessions: found wherever it was said, newest first, ended at once, nothing of the format itself."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.adapters import session_search
from app.adapters.journal import Journal
from app.adapters.journal_format import encode_entry
from app.adapters.session_search import Hit, search_sessions
from app.core.effects import Effects
from app.core.history import Entry
from app.core.messages import Message, Text, ToolResult, ToolUse, user
from tests.fakes.clock import FakeClock


@pytest.fixture
def root(tmp_path):
    return tmp_path / ".transcripts"


async def session(root, *said, start="2026-11-29T10:00:00.000Z"):
    journal = await Journal.create(root, clock=FakeClock(start, step=1))
    for text in said:
        await journal.append(user(text), spoken=(0,))
    await journal.close()
    return journal.session


def found(root, text):
    return list(search_sessions(root, text))


async def test_the_newest_place_of_each_session_is_found_the_last_used_session_first(root):
    old = await session(
        root, "fix the Parser", "the parser again", start="2026-11-27T10:00:00.000Z"
    )
    new = await session(root, "another PARSER", "no such word", start="2026-11-28T10:00:00.000Z")
    await session(root, "nothing here")
    assert found(root, "parser") == [
        Hit(new, "m1", "you", "another PARSER"),
        Hit(old, "m2", "you", "the parser again"),
    ]
    assert [hit.session for hit in found(root, "fix parser")] == [old]
    assert [hit.session for hit in found(root, '"the parser again"')] == [old]
    assert found(root, "fix again") == [], "all words stand in one message"
    assert found(root, "  ") == found(root, '""') == []


async def test_everything_that_was_said_is_searched_and_nothing_of_the_format(root):
    journal = await Journal.create(root, clock=FakeClock())
    await journal.append(user("in words", "in a note"), spoken=(0,))
    call = ToolUse("t", "bash", {"command": "echo in-a-call"})
    await journal.append(Message("assistant", (Text("in an answer"), call)))
    result = ToolResult("t", "in a result\\n")
    effects = {"t": Effects(stored="r1.txt")}
    await journal.append(Message("user", (result,)), effects=effects)
    await journal.store_output("r1.txt", "line 1\n\u00c9tude in an output\n")
    await journal.remark("partial", {"text": "in a cut answer"})
    await journal.remark("queued", {"id": "x", "text": "only the queue"})
    await journal.close()
    for text, id_, who in (
        ("in words", "m1", "you"), ("in-a-call", "m2", "bash"), ("in an answer", "m2", "agent"),
        ("in a result", "r1", "result"), ("\u00e9tude output", "r1", "result"), ("a cut", "", "agent"),
    ):  # fmt: skip
        (hit,) = found(root, text)
        assert (hit.id, hit.who) == (id_, who), text
    for text in ("first_result", "spoken", "tool_use_id", "assistant", '1,"seq'):
        assert found(root, text) == [], text


@settings(max_examples=40)
@example("\\", "x\\y")
@example("\u00c9\u0130\u00df", "a\u00c9\u0130\u00dfb")
@example('"', 'say "hi"')
@example("ß", "")
@example("\ud800", "\ud800")
@given(st.text(min_size=1, max_size=6), st.text(max_size=30))
def test_a_line_with_a_word_is_found_whatever_its_letters(tmp_path_factory, word, around) -> None:
    wanted = session_search._Wanted(word)
    text = around + word + around
    if not wanted.words:
        return
    assert wanted.all_in(text)
    path = tmp_path_factory.mktemp("search") / "file"
    path.write_bytes(b"{}\n" + session_search.json.dumps({"text": text}).encode() + b"\n{}\n")
    pattern = session_search._pattern(
        wanted.needle, lambda char: session_search.json.dumps(char)[1:-1].encode()
    )
    lines = list(session_search._lines_with(path, pattern, lambda: True))
    assert {"text": text} in [session_search.json.loads(line) for line in lines]


@pytest.mark.parametrize("block", [7, 64, 1 << 20])
async def test_lines_are_found_across_the_blocks_that_are_read(root, monkeypatch, block):
    monkeypatch.setattr(session_search, "BLOCK", block)
    monkeypatch.setattr(session_search, "STEP", min(block, 16))
    name = await session(root, "x" * 300 + "needle" + "y" * 300, "z" * 50)
    (hit,) = found(root, "needle")
    assert (hit.session, hit.id) == (name, "m1") and "needle" in hit.line


async def test_a_search_that_is_not_wanted_any_more_ends(root):
    for day in (27, 28, 29):
        await session(root, "the word", start=f"2026-11-{day}T10:00:00.000Z")
    hits = []
    for hit in search_sessions(root, "word", wanted=lambda: len(hits) < 2):
        hits.append(hit)
    assert len(hits) == 2


async def test_a_damaged_session_is_searched_as_far_as_it_can_be_read(root):
    name = await session(root, "the first word", "the second word", "the third word")
    path = root / name / "transcript_0001.jsonl"
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], b"\x00" * 50 + lines[1][:40], lines[2][:-20]]))
    assert [hit.id for hit in found(root, "word")] == ["m1"]


FORMAT_WORDS = ("text", "content", "user", "tool_use_id", "ASSISTANT", "seq", "m1", "10:00", "2026")


async def test_words_of_the_format_are_found_where_they_were_said_and_no_other_line_is_parsed(
    root, monkeypatch
):
    parsed = []

    def pieces(line):
        parsed.append(line)
        return session_search_pieces(line)

    session_search_pieces = session_search.pieces
    monkeypatch.setattr(session_search, "pieces", pieces)
    said = " ".join(FORMAT_WORDS)
    quoted = (
        '{"role":"user","content":[{"type":"text","text":"x"}],"seq":2,"tool_use_id":"assistant"}'
    )
    name = await session(root, said, quoted, *["nothing of that"] * 20)
    for word in FORMAT_WORDS:
        parsed.clear()
        (hit,) = found(root, word)
        assert (hit.session, hit.id) in ((name, "m1"), (name, "m2")), word
        assert len(parsed) == 1, word
    parsed.clear()
    assert found(root, "content zyzzyva") == found(root, "number") == []
    assert parsed == []


@settings(max_examples=60)
@example("text", "text")
@example("t", '","text":"t')
@example(':"text"', "")
@given(
    st.sampled_from(["text", "type", "user", "role", "id", "m1", "1", '":', "content", "effects"]),
    st.text(alphabet='textuserolid":,{}\\ m1', max_size=24),
)
def test_blanking_takes_nothing_out_that_was_said(tmp_path_factory, word, said) -> None:
    folder = tmp_path_factory.mktemp("search") / "s"
    folder.mkdir()
    entry = Entry(7, 3, "2026-11-29T10:00:00.000Z", user(said), spoken=(0,))
    (folder / "transcript_0001.jsonl").write_bytes(encode_entry(entry))
    wanted = session_search._Wanted(word)
    hits = list(session_search._hits(folder, wanted, lambda: True))
    assert bool(hits) is (bool(wanted.words) and wanted.all_in(said))
