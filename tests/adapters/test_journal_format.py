"""Lines of the record: any message survives, and each line is one line of plain ASCII JSON."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.adapters.journal_format import (
    decode,
    decode_line,
    encode_entry,
    encode_mark,
    encode_remark,
)
from app.adapters.journal_recovery import pieces
from app.core.effects import Effects, Span
from app.core.history import Bared, Cleared, Entry, Pinned, Remark, Undone
from app.core.messages import Message, Text, ToolResult, ToolUse, user
from app.errors import FormatTooNew, RecordUnwritable

TIME = "2026-11-29T22:16:40.000Z"
ODD = st.sampled_from(
    (
        "\u2028",
        "\u2029",
        "\u0085",
        "\udfff",
        "\x00",
        "NaN",
        "\r\n",
        "\x1b[31m",
        "😀",
        '{"v":1,"seq":9}',
        "\\",
        '"',
    )
)
TEXTS = st.lists(st.one_of(st.text(max_size=20), ODD), max_size=6).map("".join)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
BLOCKS = st.one_of(
    st.builds(Text, TEXTS),
    st.builds(ToolUse, TEXTS, TEXTS, st.dictionaries(TEXTS, JSON_VALUES, max_size=3)),
    st.builds(ToolResult, TEXTS, TEXTS, st.booleans()),
    st.builds(ToolResult, TEXTS, st.lists(st.builds(Text, TEXTS), max_size=2).map(tuple)),
)
EFFECTS = st.builds(
    Effects,
    target=TEXTS,
    outcome=TEXTS,
    read=st.lists(
        st.builds(Span, TEXTS, st.integers(1, 9), st.integers(1, 9), st.none() | st.integers(1, 9)),
        max_size=2,
    ).map(tuple),
    modified=st.lists(TEXTS, max_size=2).map(tuple),
    exit_code=st.none() | st.integers(0, 255),
    stored=st.none() | st.just("r1.txt"),
)


@given(st.lists(BLOCKS, max_size=4), st.dictionaries(TEXTS, EFFECTS, max_size=2))
def test_any_message_is_read_as_it_was_written(blocks, effects):
    entry = Entry(3, 2, TIME, Message("user", tuple(blocks)), (), effects, 1)
    line = encode_entry(entry)
    assert line.endswith(b"\n") and line.count(b"\n") == 1 and line.isascii()
    read = decode_line(line)
    assert read == entry
    assert encode_entry(read) == line


def test_two_halves_of_a_character_become_that_character():
    entry = Entry(1, 1, TIME, user("\ud83d" + "\ude00"), (0,))
    assert decode_line(encode_entry(entry)).words == "😀"


@pytest.mark.parametrize(
    "text", ["a\u2028b", "\u0085", "\ud800", "tail\udc00", "\x00", "NaN", "x" * 5_000_000]
)
def test_odd_text_survives_in_every_place(text):
    message = Message(
        "user",
        (
            ToolResult("t", text),
            Text(text),
            ToolUse("u", "bash", {"command": text, text[:9]: [text[:9]]}),
        ),
    )
    entry = Entry(1, 1, TIME, message, (1,), {"t": Effects(target=text[:50])}, 1)
    assert decode_line(encode_entry(entry)) == entry


def test_a_number_that_is_none_survives_in_a_tools_input():
    entry = Entry(1, 1, TIME, Message("assistant", (ToolUse("u", "x", {"n": math.nan}),)))
    read = decode_line(encode_entry(entry))
    assert math.isnan(read.message.tool_uses[0].input["n"])


@pytest.mark.parametrize(
    "mark",
    [
        Cleared(4, {"r1": "[Previous: used bash]"}, ("m2",)),
        Undone(5, 2, ("m7",)),
        Pinned(6, ("r1", "r2"), False),
        Bared(7, ("m2",)),
    ],
)
def test_marks_are_read_as_they_were_written(mark):
    assert decode_line(encode_mark(mark, TIME)) == mark


def test_what_json_cannot_hold_is_refused_before_anything_is_written():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(RecordUnwritable):
        encode_remark(Remark(1, TIME, "error", {"deep": deep}))


def test_a_newer_format_is_refused_and_not_taken_for_damage():
    with pytest.raises(FormatTooNew, match="format 2"):
        decode({"v": 2, "seq": 1, "kind": "usage", "data": {}})


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"v": 1},
        {"v": "1", "seq": 1, "kind": "x"},
        {"v": 1, "seq": -1, "kind": "x", "time": TIME},
        {"v": 1, "seq": 1, "number": 1, "first_result": 0, "role": "system", "content": []},
        {"v": 1, "seq": 1, "number": 0, "first_result": 0, "role": "user", "content": []},
        {"v": 1, "seq": 1, "mark": "wiped"},
        {"v": 1, "seq": 1, "mark": "cleared", "stubs": ["r1"]},
        {"v": 1, "seq": 1, "commit": 1, "role": "user", "content": [], "layer": "lava"},
    ],
)
def test_what_is_no_record_of_ours_is_refused(raw):
    with pytest.raises(ValueError):
        decode(raw)


def test_spoken_positions_that_point_at_no_text_are_left_out():
    line = encode_entry(Entry(1, 1, TIME, user("hi"), (0,)))
    raw = json.loads(line) | {"spoken": [0, 1, -1, "0"]}
    assert decode(raw).spoken == (0,)


A = encode_entry(Entry(1, 1, TIME, user('say {"v":1}'), (0,))).rstrip(b"\n")
B = encode_entry(
    Entry(2, 2, TIME, Message("assistant", (ToolUse("t", "x", {"v": 1, "a": {"v": 2}}),)))
).rstrip(b"\n")


@pytest.mark.parametrize(
    ("line", "count", "lost"),
    [
        (A, 1, False),
        (B, 1, False),
        (b"", 0, False),
        (b" \r\n", 0, False),
        (A + B, 2, False),
        (B + A + B, 3, False),
        (A[:40] + B, 1, True),
        (b"\x00" * 200 + A, 1, True),
        (B + b"\x00" * 200, 1, True),
        (A + B[:-3], 1, True),
        (b"[1, 2]", 0, True),
        (b"\xff\xfe\x00", 0, True),
        (b"{" * 5_000, 0, True),
        (b'{"v":' * 5_000, 0, True),
    ],
    ids=range(14),
)  # fmt: skip
def test_whole_records_are_found_in_a_damaged_line(line, count, lost):
    found, something_lost = pieces(line)
    assert len(found) == count
    for piece in found:
        decode(piece.value)
        assert json.loads(line[piece.start : piece.end].strip(b"\x00 ")) == piece.value
    if count or line.strip():
        assert something_lost == lost
