from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.ui.chat.lines import Line
from app.ui.chat.markdown_rendering import markdown_lines, piece_lines, shared_parser
from app.ui.chat.markdown_stream import MarkdownSplitter, Piece, split_markdown

BLOCKS = [
    "# Title\n\n",
    "Under\n=====\n\n",
    "A paragraph of words\nin two lines.\n\n",
    "- one\n- two\n  - inner\n\n    more\n- three\n\n",
    "1. a\n1. b\n1. c\n\n",
    "7) seven\n8) eight\n\n",
    "- loose\n\n- list\n\n",
    "```python\ndef f():\n\n    return 1\n```\n\n",
    "~~~\n```\nnot the end\n~~~\n",
    "  ```\n  indented\n  ```\n",
    "> a quote\n> goes on\nlazily\n\n",
    "| a | b |\n|---|--:|\n| 1 | 2 |\n| 3 | 4 |\n\n",
    "---\n\n",
    "    indented code\n\n    more of it\n\n",
    "<div>html</div>\n\n",
    "[ref]: https://example.org\n\nsee [ref]\n\n",
    "text before\n```\nfence right after\n```\nand after\n\n",
    "中文段落，没有空格。\n第二行。\n\n",
    "\n\n",
    "```\nnever closed\n",
]
SOURCES = st.lists(st.sampled_from(BLOCKS), max_size=8).map("".join)


def streamed(source: str, sizes: list[int]) -> list[Piece]:
    splitter, pieces, at, turn = MarkdownSplitter(shared_parser()), [], 0, 0
    while at < len(source):
        size = sizes[turn % len(sizes)]
        pieces += splitter.feed(source[at : at + size])
        at, turn = at + size, turn + 1
    return pieces + splitter.close()


def text_of(lines: list[Line]) -> list[str]:
    return ["".join(t for t, _ in line.lead) + line.text for line in lines]


def drawn(pieces: list[Piece]) -> list[str]:
    environment: dict[str, object] = {}
    rows: list[str] = []
    for piece in pieces:
        lines = text_of(piece_lines(piece, 60, environment))
        rows += ([""] if piece.gap and lines and rows else []) + lines
    return [row.rstrip() for row in rows]


@given(SOURCES, st.lists(st.integers(1, 60), min_size=1, max_size=6))
def test_the_pieces_join_to_the_source(source: str, sizes: list[int]) -> None:
    assert "".join(piece.source for piece in streamed(source, sizes)) == source


@settings(max_examples=200)
@given(SOURCES, st.lists(st.integers(1, 60), min_size=1, max_size=6))
def test_streamed_text_is_drawn_like_the_whole(source: str, sizes: list[int]) -> None:
    whole = [row.rstrip() for row in text_of(markdown_lines(source, 60))]
    assert [r for r in drawn(streamed(source, sizes)) if r] == [r for r in whole if r]


def test_the_first_sentence_is_there_before_its_line_ends() -> None:
    splitter = MarkdownSplitter(shared_parser())
    assert splitter.feed("Hel") == []
    assert splitter.rest is not None
    assert splitter.rest.source == "Hel"


def test_finished_blocks_leave_the_tail() -> None:
    splitter = MarkdownSplitter(shared_parser())
    pieces = splitter.feed("One.\n\nTwo.\n\nThr")
    assert [piece.source for piece in pieces] == ["One.\n\n"]
    assert splitter.tail == "Two.\n\nThr"


def test_items_of_a_list_are_finished_one_by_one_and_keep_their_numbers() -> None:
    pieces = streamed("1. a\n1. b\n1. c\n", [5])
    assert [row for row in drawn(pieces) if row] == ["1. a", "2. b", "3. c"]
    assert len(pieces) == 3


def test_slices_of_a_long_fence_hold_its_lines_and_not_its_marks() -> None:
    code = "".join(f"line {n}\n" for n in range(3_000))
    pieces = streamed(f"```text\n{code}```\n", [500])
    assert len(pieces) > 3
    assert "".join(piece.code or "" for piece in pieces) == code
    assert [piece.first for piece in pieces] == [True] + [False] * (len(pieces) - 1)
    assert [piece.last for piece in pieces] == [False] * (len(pieces) - 1) + [True]


def test_the_closing_marks_of_a_fence_do_not_flash() -> None:
    splitter = MarkdownSplitter(shared_parser())
    splitter.feed("```py\nx = 1\n``")
    assert splitter.rest is not None
    assert splitter.rest.code == "x = 1\n"


def test_slices_of_a_long_table_have_the_same_columns() -> None:
    table = "| name | value |\n|---|---|\n" + "".join(
        f"| row {n} | {n} |\n" for n in range(100, 900)
    )
    pieces = streamed(table, [300])
    rows = drawn(pieces)
    assert len(pieces) > 3
    assert sum(1 for row in rows if row.startswith("name")) == 1
    assert len({row.index("│") for row in rows if "│" in row}) == 1
    assert sum(1 for row in rows if row.startswith("row ")) == 800


class CountingParser:
    """Counts the characters that the block parser is given."""

    def __init__(self) -> None:
        self.md = shared_parser()
        self.characters = 0

    def count(self, source: str) -> int:
        splitter = MarkdownSplitter(self.md)
        original = splitter._blocks

        def counted(text: str):  # type: ignore[no-untyped-def]
            self.characters += len(text)
            return original(text)

        splitter._blocks = counted  # type: ignore[method-assign]
        for at in range(0, len(source), 8):
            splitter.feed(source[at : at + 8])
        splitter.close()
        return self.characters


@pytest.mark.slow
def test_the_work_grows_in_proportion_to_the_text() -> None:
    for unit in (
        "- an item of some words\n",
        "| cell | cell |\n",
        "plain words go on\n",
        "x = 1\n",
    ):
        start = {"|": "| a | b |\n|---|---|\n", "x": "```python\n"}.get(unit[0], "")
        small = CountingParser().count(start + unit * (10_000 // len(unit)))
        large = CountingParser().count(start + unit * (80_000 // len(unit)))
        assert large <= 12 * small + 10_000


def test_a_short_message_of_the_record_stays_in_one_piece() -> None:
    assert len(split_markdown("a\n\nb\n\nc")) == 1


def test_a_long_message_of_the_record_is_cut() -> None:
    source = "A paragraph.\n\n" * 2_000
    pieces = split_markdown(source)
    assert len(pieces) > 3
    assert "".join(piece.source for piece in pieces) == source
