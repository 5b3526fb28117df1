from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.errors import ToolError
from app.tools.matching import replace_exact
from app.tools.text_files import decode


def edited(content: bytes, old: str, new: str, *, every: bool = False) -> bytes:
    file = decode(content)
    return file.encode(replace_exact(file, old, new, every=every).text)


def refusal(content: str | bytes, old: str, new: str = "new") -> str:
    data = content.encode() if isinstance(content, str) else content
    with pytest.raises(ToolError) as caught:
        edited(data, old, new)
    return str(caught.value)


PIECE = st.text(st.sampled_from("ab \té語"), max_size=6)
END = st.sampled_from(["\n", "\r\n"])
LINES = st.lists(st.tuples(PIECE, END), max_size=8).map(
    lambda lines: "".join(a + b for a, b in lines)
)
ENCODING = st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])


@given(before=LINES, after=LINES, tail=PIECE, new=LINES, end=END, encoding=ENCODING)
def test_only_the_edited_bytes_differ(
    before: str, after: str, tail: str, new: str, end: str, encoding: str
) -> None:
    old = f"<x{end}y>"
    content = before + old + after + tail
    assume(new.replace("\r\n", "\n") != "<x\ny>")
    result = edited(content.encode(encoding), "<x\ny>", new, every=False).decode(encoding)
    assert result.startswith(before)
    assert result.endswith(after + tail)
    middle = result[len(before) : len(result) - len(after + tail)]
    assert middle.replace("\r\n", "\n") == new.replace("\r\n", "\n")


@given(
    lines=st.lists(
        st.tuples(st.sampled_from(["one", "two", "three"]), END), min_size=1, max_size=8
    ),
    at=st.integers(0, 7),
)
def test_lines_that_stay_keep_their_own_line_ends_in_a_mixed_file(
    lines: list[tuple[str, str]], at: int
) -> None:
    at = min(at, len(lines) - 1)
    names = [f"{name}{number}" for number, (name, _) in enumerate(lines)]
    content = "".join(name + end for name, (_, end) in zip(names, lines, strict=True))
    old = "".join(f"{name}\n" for name in names)
    new = old.replace(names[at], "changed")
    expected = content.replace(names[at], "changed")
    assert edited(content.encode(), old, new) == expected.encode()


def test_a_crlf_file_matches_lf_text_and_gets_crlf_lines() -> None:
    assert edited(b"a\r\nb\r\nc", "a\nb", "x\ny\nz") == b"x\r\ny\r\nz\r\nc"


def test_a_new_line_in_a_mixed_file_ends_like_its_neighbour() -> None:
    assert edited(b"a\r\nb\nc\n", "a\n", "a\nnew\n") == b"a\r\nnew\r\nb\nc\n"
    assert edited(b"a\r\nb\nc\n", "b", "b\nnew") == b"a\r\nb\nnew\nc\n"


def test_the_first_word_behind_a_byte_order_mark_matches_and_the_mark_stays() -> None:
    assert edited(b"\xef\xbb\xbffirst line\n", "first", "1st") == b"\xef\xbb\xbf1st line\n"
    assert edited(b"\xef\xbb\xbffirst", "\ufefffirst", "x") == b"\xef\xbb\xbfx"


def test_a_missing_last_line_end_and_lone_carriage_returns_stay() -> None:
    assert edited(b"a\rb\rc", "b", "B") == b"a\rB\rc"


def test_every_tab_of_a_makefile_stays() -> None:
    assert edited(b"all:\n\tcc x\n\tld y\n", "cc x", "cc z") == b"all:\n\tcc z\n\tld y\n"


def test_replace_all_counts_from_left_to_right() -> None:
    file = decode(b"aaa aa")
    assert replace_exact(file, "aa", "b", every=True).text == "ba b"
    assert replace_exact(file, "aa", "b", every=True).count == 2


def test_equal_and_empty_texts_are_refused_with_the_reason() -> None:
    assert "empty" in refusal("a", "")
    assert "equal" in refusal("a", "a", "a")
    assert "equal" in refusal("a\r\n", "a\r\n", "a\n")


def test_several_places_are_refused_with_their_line_numbers() -> None:
    assert "2 places (lines 1, 3)" in refusal("x = 1\ny\nx = 1\n", "x = 1")
    assert "2 places" in refusal("aaa", "aa")


def test_copied_line_numbers_are_explained() -> None:
    assert "line numbers copied" in refusal("\tfoo()\n\tbar()\n", "1│\tfoo()\n2│\tbar()")


def test_lost_indentation_is_explained_and_not_guessed() -> None:
    message = refusal("def f():\n\tfoo()\n\tbar()\n", "foo()\n    bar()")
    assert "the file has 1 tab, old_text has no indentation" in message
    assert "2│\tfoo()\n3│\tbar()" in message


def test_a_text_whose_first_line_only_is_there_is_shown_the_place() -> None:
    assert "first line stands at line 2" in refusal("a\nfoo()\nqux()\n", "foo()\nbar()")


def test_the_most_similar_place_is_shown() -> None:
    message = refusal("import os\nvalue = compute_total(items)\n", "value = compute_totals(item)")
    assert "most similar place is at line 2" in message


def test_nothing_similar_is_said_plainly() -> None:
    assert "read the file again" in refusal("abc\n", "0123456789")
