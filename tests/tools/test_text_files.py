from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import ToolError
from app.tools.text_files import LineEnds, byte_order_mark, decode, looks_binary

WRITTEN = st.lists(
    st.sampled_from(["\r\n", "\n", "a", "é", "語", " ", "\t", "🙂"]), max_size=30
).map("".join)


@given(WRITTEN, st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]))
def test_a_decoded_file_encodes_to_the_same_bytes(text: str, encoding: str) -> None:
    data = text.encode(encoding)
    file = decode(data)
    assert file.text == text
    assert file.encode(file.text) == data


@given(WRITTEN)
def test_positions_in_the_folded_text_stand_for_the_same_characters(text: str) -> None:
    ends = LineEnds(text)
    for at, character in enumerate(ends.plain):
        original = ends.original(at)
        assert (
            text[original : original + 2] == ends.end_at(at)
            if character == "\n" and ends.end_at(at) == "\r\n"
            else text[original] == character
        )


def test_latin_1_is_refused_because_an_edit_could_damage_it() -> None:
    with pytest.raises(ToolError, match=r"not valid UTF-8 \(byte 3\)"):
        decode("caf\xe9".encode("latin-1"))


def test_nul_bytes_mean_binary_unless_a_mark_says_otherwise() -> None:
    assert looks_binary(b"a\0b")
    assert not looks_binary("ab".encode("utf-16"))
    assert byte_order_mark("ab".encode("utf-32"))[1].startswith("utf-32")


def test_a_lone_surrogate_cannot_be_written() -> None:
    with pytest.raises(ToolError, match="surrogate"):
        decode(b"x").encode("a\ud800")


@pytest.mark.parametrize(
    ("text", "name"),
    [("a\nb\n", "LF"), ("a\r\nb\r\n", "CRLF"), ("a\r\nb\n", "mixed LF and CRLF"), ("a", "LF")],
)
def test_line_ends_are_named(text: str, name: str) -> None:
    assert LineEnds(text).name == name
