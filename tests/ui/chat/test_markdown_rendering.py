from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from app.ui.chat.code_highlighting import highlighted
from app.ui.chat.lines import Line, Link
from app.ui.chat.markdown_rendering import markdown_lines
from app.ui.chat.markdown_tables import column_widths


def shown(source: str, width: int = 60) -> list[str]:
    return [
        ("".join(text for text, _ in line.lead) + line.text).rstrip()
        for line in markdown_lines(source, width)
    ]


def links(lines: list[Line]) -> list[str]:
    return [
        ink.url for line in lines for _, inks in line.runs for ink in inks if isinstance(ink, Link)
    ]


def test_nested_lists_keep_their_place() -> None:
    assert shown("- a\n  - b\n    1. c\n- d\n") == ["• a", "  ◦ b", "    1. c", "• d"]


def test_a_loose_list_keeps_its_blank_lines() -> None:
    assert shown("- a\n\n- b\n") == ["• a", "", "• b"]


def test_tasks_have_boxes() -> None:
    assert shown("- [x] done\n- [ ] open\n") == ["☑ done", "☐ open"]


def test_code_in_a_list_stands_under_its_item() -> None:
    assert shown("1. a\n   ```\n   x\n   ```\n") == ["1. a", "   ▏ x"]


def test_a_heading_stands_close_to_its_text() -> None:
    assert shown("a\n\n## b\n\nc\n") == ["a", "", "b", "c"]


def test_quotes_have_a_rail_on_every_line() -> None:
    assert shown("> a\n>\n> - b\n") == ["▎ a", "▎", "▎ • b"]


def test_chinese_lines_are_joined_without_a_blank() -> None:
    assert shown("中文\n段落\nand more\n") == ["中文段落 and more"]


def test_a_link_shows_where_it_leads() -> None:
    lines = markdown_lines("[docs](https://example.org/x) and https://example.org/y.", 80)
    assert lines[0].text == "docs (https://example.org/x) and https://example.org/y."
    assert links(lines) == ["https://example.org/x", "https://example.org/y"]


def test_only_web_addresses_can_be_clicked() -> None:
    assert (
        links(markdown_lines("[a](file:///etc/passwd) [b](app/x.py) [c](javascript:x)", 80)) == []
    )


def test_html_is_shown_as_it_is() -> None:
    assert shown("<script>x</script>\n") == ["<script>x</script>"]


def test_a_table_has_aligned_columns() -> None:
    assert shown("| a | bb |\n|---|--:|\n| 中文 | 1 |\n") == ["a    │ bb", "─────┼───", "中文 │  1"]


@settings(max_examples=60)
@given(
    st.lists(
        st.lists(st.text(st.sampled_from("ab 中🎉"), max_size=40), min_size=3, max_size=3),
        min_size=1,
        max_size=5,
    ),
    st.integers(4, 90),
)
def test_a_table_is_never_wider_than_the_room_unless_it_is_records(
    rows: list[list[str]], width: int
) -> None:
    source = "| h1 | h2 | h3 |\n|---|---|---|\n" + "".join(
        f"| {' | '.join(cells)} |\n" for cells in rows
    )
    for line in markdown_lines(source, width):
        if "│" in line.text:
            assert cell_len(line.text) <= width


@given(st.lists(st.integers(1, 200), min_size=1, max_size=8), st.integers(8, 200))
def test_columns_share_the_room(natural: list[int], room: int) -> None:
    widths = column_widths(natural, room)
    assert sum(widths) <= max(room, len(natural))
    assert all(1 <= width <= want for width, want in zip(widths, natural, strict=True))


@given(
    st.text(st.sampled_from("ab \n\t\"'#()=:"), max_size=200),
    st.sampled_from(["python", "", "nope"]),
)
def test_colouring_loses_no_character(code: str, language: str) -> None:
    lines = highlighted(code.expandtabs(4), language)
    text = "\n".join("".join(part for part, _ in line) for line in lines)
    assert text == code.expandtabs(4)
