from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from app.ui.chat.lines import Inks, Line, crop, rows_of, wrap

LETTERS = [*"ab .,-_()中文、。「」한글é\u00a0ñ🎉", "👩\u200d💻", "❤\ufe0f"]
TEXTS = st.lists(st.sampled_from(LETTERS), max_size=120).map("".join)


def plain(inks: Inks) -> Style:
    return Style()


@given(TEXTS, st.integers(2, 40), st.booleans())
def test_no_row_is_wider_than_its_room(text: str, width: int, by_cells: bool) -> None:
    for start, end in wrap(text, width, by_cells=by_cells):
        assert cell_len(text[start:end]) <= width


@given(TEXTS, st.integers(2, 40), st.booleans())
def test_wrapping_loses_nothing_but_blanks(text: str, width: int, by_cells: bool) -> None:
    rows = wrap(text, width, by_cells=by_cells)
    joined = "".join(text[start:end] for start, end in rows)
    assert "".join(joined.split()) == "".join(text.split())
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)


def test_words_stay_whole_where_they_fit() -> None:
    text = "the quick brown fox"
    assert [text[a:b] for a, b in wrap(text, 10)] == ["the quick", "brown fox"]


def test_a_word_longer_than_the_row_is_broken() -> None:
    text = "see abcdefghijkl now"
    assert [text[a:b] for a, b in wrap(text, 6)] == ["see", "abcdef", "ghijkl", "now"]


def test_wide_characters_break_anywhere_but_not_before_a_full_stop() -> None:
    text = "解析器在输入。完"
    rows = [text[a:b] for a, b in wrap(text, 12)]
    assert rows == ["解析器在输", "入。完"]


@given(TEXTS.filter(lambda t: "\n" not in t), st.integers(8, 40))
def test_every_painted_row_fills_the_width_exactly(text: str, width: int) -> None:
    line = Line([(text, ())] if text else [], lead=(("• ", ()),), rest=(("  ", ()),))
    for row in rows_of([line], width, plain):
        assert sum(segment.cell_length for segment in row.segments) == width


@given(TEXTS, st.integers(0, 30))
def test_a_cropped_text_fits(text: str, width: int) -> None:
    assert cell_len(crop(text, width)) <= width


def test_wrapping_is_quick_for_a_very_long_line() -> None:
    assert len(wrap("x" * 200_000, 80)) == 2_500
    assert len(wrap("中" * 50_000, 80)) == 1_250
