from __future__ import annotations

import difflib

from hypothesis import given
from hypothesis import strategies as st

from app.ui.chat.diff_rows import changed_spans, diff_counts, diff_lines
from app.ui.chat.lines import Line

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


TEXTS = st.lists(st.sampled_from(["a", "b", "- x", "+ y", "@@", "", "\tz"]), max_size=12)


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
