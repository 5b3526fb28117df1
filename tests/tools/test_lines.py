from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from app.tools.lines import Page, read_page


def pages(data: bytes, tokens: float, limit: int | None = None) -> list[Page]:
    found: list[Page] = []
    offset = column = 1
    while True:
        page = read_page(io.BytesIO(data), offset=offset, column=column, tokens=tokens, limit=limit)
        found.append(page)
        if page.ends_file:
            return found
        assert page.lines, "a page that is not the last holds something"
        offset, column = (page.first, page.next_column) if page.next_column else (page.last + 1, 1)


def joined(found: list[Page]) -> str:
    text = ""
    for page in found:
        text += "\n".join(page.lines)
        text += "" if page.next_column else "\n"
    return text


LINE = st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]), max_size=80)


@given(
    st.lists(LINE, min_size=1, max_size=12),
    st.booleans(),
    st.floats(8, 60),
    st.none() | st.integers(1, 4),
)
def test_pages_join_to_the_file(
    lines: list[str], ended: bool, tokens: float, limit: int | None
) -> None:
    text = "\n".join(lines) + ("\n" if ended else "")
    found = pages(text.encode(), tokens, limit)
    assert joined(found).rstrip("\n") == text.rstrip("\n")
    assert {page.total for page in found} == {
        len(text.removesuffix("\n").split("\n")) if text else 0
    }


@given(st.binary(max_size=300), st.floats(8, 60))
def test_any_bytes_can_be_paged_through(data: bytes, tokens: float) -> None:
    found = pages(data, tokens)
    assert found[-1].total == data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    assert all("\0" not in line for page in found for line in page.lines)
    "".join(line for page in found for line in page.lines).encode("utf-8")


def test_a_line_is_never_cut_when_it_fits_a_page_of_its_own() -> None:
    data = ("short\n" + "word " * 40 + "\nshort\n").encode()
    first, second, *_ = pages(data, 59)
    assert first.lines == ("short",)
    assert second.lines[0] == "word " * 40


def test_a_line_longer_than_a_page_is_paged_by_characters() -> None:
    text = "a" + "語" * 5_000
    found = pages(text.encode(), 100)
    assert len(found) > 5
    assert "".join(line for page in found for line in page.lines) == text
    assert not any(page.is_lossy for page in found)


def test_latin_1_bytes_are_shown_and_marked() -> None:
    (page,) = pages("café\nok\n".encode("latin-1"), 100)
    assert page.lines == ("café", "ok")
    assert page.is_lossy


def test_crlf_is_not_shown_but_noted() -> None:
    (page,) = pages(b"a\r\nb\r\n", 100)
    assert page.lines == ("a", "b")
    assert page.has_crlf


def test_unicode_line_separators_do_not_end_a_line() -> None:
    (page,) = pages("a\u2028b\x85c\n".encode(), 100)
    assert page.total == 1
