from __future__ import annotations

import difflib

from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from app.ui.chat.diff_rows import changed_spans, diff_counts, diff_lines
from app.ui.chat.lines import Beside, Line, rows_of

DIFF = """--- a/a.py
+++ b/a.py
@@ -3,4 +3,5 @@ def f():
 before
-x = old(1)
+x = new(1)
+y = 2
 after
 end
@@ -20,1 +21,1 @@ class A:
--- a comment
+++ a comment
"""


def shown(lines: list[Line]) -> list[str]:
    return ["".join(text for text, _ in line.lead) + line.text for line in lines]


def test_rows_carry_the_line_number_of_their_side() -> None:
    assert shown(diff_lines(DIFF)) == [
        "  3   before",
        "  4 - x = old(1)",
        "  4 + x = new(1)",
        "  5 + y = 2",
        "  6   after",
        "  7   end",
        "  ⋯  class A:",
        " 20 - -- a comment",
        " 21 + ++ a comment",
    ]


def test_only_the_words_that_changed_are_marked() -> None:
    removed = diff_lines(DIFF)[1]
    assert [text for text, inks in removed.runs if "removed-mark" in inks] == ["old"]


def test_lines_with_little_in_common_are_not_marked() -> None:
    assert changed_spans("alpha beta", "something(else, entirely)") == ((), ())


def test_hidden_characters_of_a_diff_are_written_out() -> None:
    text = "\n".join(shown(diff_lines("@@ -1,1 +1,1 @@\n-a\n+\x1b[8mrm\u202e\n")))
    assert "␛[8mrm⟨U+202E⟩" in text


def test_the_header_of_a_second_file_is_no_changed_line() -> None:
    two = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-c\n+d\n"
    assert [row.split()[-1] for row in shown(diff_lines(two))] == ["a", "b", "⋯", "c", "d"]


TEXTS = st.lists(
    st.sampled_from(["a", "b", "- x", "+ y", "@@", "", "\tz", "中文 " * 9, "long " * 12]),
    max_size=12,
)


@given(TEXTS, TEXTS)
def test_every_changed_line_is_shown_and_counted(old: list[str], new: list[str]) -> None:
    diff = "\n".join(difflib.unified_diff(old, new, "a", "b", lineterm=""))
    lines = diff_lines(diff)
    added = sum(1 for line in lines if line.fill == ("added",))
    removed = sum(1 for line in lines if line.fill == ("removed",))
    matcher = [c[0] for c in difflib.ndiff(old, new) if c[0] in "+-"]
    assert added - removed == len(new) - len(old)
    assert bool(added or removed) == (old != new)
    assert matcher.count("+") - matcher.count("-") == added - removed


def test_counts_leave_out_the_header() -> None:
    assert diff_counts(DIFF) == (3, 2)


def halves(line: Line, width: int) -> tuple[str, str]:
    """The two sides of a line as they are seen: what stands in front of the middle, and behind it."""
    row = "".join(text for text, _ in line.lead) + line.text
    return row[: (width - 3) // 2], row[(width - 3) // 2 + 3 :]


def test_both_sides_stand_beside_each_other_and_changed_words_are_marked_on_both() -> None:
    lines = diff_lines(DIFF, 60)
    left, right = halves(lines[1], 60)
    assert (left.rstrip(), right.rstrip()) == ("  4 - x = old(1)", "  4 + x = new(1)")
    assert ("old", ("removed", "removed-mark", Beside(4))) in lines[1].lead
    assert ("new", ("added-mark",)) in lines[1].runs
    left, right = halves(lines[2], 60)
    assert (left.strip(), right.rstrip()) == ("", "  5 + y = 2")


def test_what_is_copied_from_both_sides_is_the_new_text() -> None:
    lines = diff_lines(DIFF, 60)
    copied = [line.text for line in lines if line.copied]
    assert copied[:3] == ["before", "x = new(1)", "y = 2"]


@given(TEXTS, TEXTS, st.integers(40, 120))
def test_both_sides_fill_the_width_and_the_new_one_holds_what_one_column_holds(
    old: list[str], new: list[str], width: int
) -> None:
    diff = "\n".join(difflib.unified_diff(old, new, "a", "b", lineterm=""))
    lines = diff_lines(diff, width)
    for row in rows_of(lines, width, lambda inks: Style.null()):
        assert sum(segment.cell_length for segment in row.segments) == width
    one_column = [line.text for line in diff_lines(diff) if line.fill != ("removed",)]
    assert [line.text for line in lines if line.copied] == one_column


def test_a_long_line_wraps_within_its_side() -> None:
    diff = f"@@ -1 +1 @@\n-{'old ' * 20}end\n+{'new ' * 9}end\n"
    rows = rows_of(diff_lines(diff, 60), 60, lambda inks: Style.null())
    left = [row.segments for row in rows]
    seen = ["".join(segment.text for segment in segments) for segments in left]
    assert all("new" not in text[:28] and "old" not in text[28:] for text in seen)
    assert sum(text.count("old") for text in seen) >= 18
    assert {row.line for row in rows} == {0, 1, 2}


def test_a_note_beside_the_diff_is_shown() -> None:
    assert shown(diff_lines("(no difference)\n[the file is new]"))[0].strip() == "(no difference)"
