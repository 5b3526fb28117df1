"""The line of a tool call."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from app.ui.chat.tool_card import CardSection


def head(outcome: str, *, ok: bool = True, diff: str = "") -> str:
    card = CardSection("c1", "bash", "make")
    card.finish(ok=ok, text="said", outcome=outcome, seconds=0, diff=diff, result="r1")
    return card.lines(70)[0].text


@pytest.mark.parametrize(
    ("outcome", "ok", "sign"),
    [
        ("exit 0, 3 lines", True, "✓"),
        ("exit 1, 3 lines", True, "▲"),
        ("exit 127, 1 line", True, "▲"),
        ("101 files", True, "✓"),
        ("timed out after 120 s", False, "✗"),
    ],
)
def test_a_tick_is_only_for_what_went_well(outcome, ok, sign):
    assert head(outcome, ok=ok).split()[0] == sign


def test_changed_lines_are_counted_once():
    diff = "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n"
    assert head("1 replacement, +1 -1", diff=diff).count("+1") == 1
    assert "+1 −1" in head("", diff=diff)


def test_a_name_without_end_is_cut_and_the_outcome_still_seen():
    card = CardSection("c1", "no_such_tool_" * 8, "make")
    card.finish(
        ok=False, text="there is no such tool", outcome="failed", seconds=0, diff="", result="r1"
    )
    line = card.lines(70)[0].text
    assert line.startswith("✗ no_such_tool_no") and "make" in line and "failed" in line


@pytest.mark.parametrize("width", [44, 60, 80, 100])
@pytest.mark.parametrize("target", ["ls | head -5", "make"])
def test_a_short_command_is_seen_whole_before_what_is_said_of_it(width, target):
    card = CardSection("own-1", "!", target)
    card.finish(
        ok=True,
        text="a",
        outcome="exit 0, 5 lines · goes with your next message",
        seconds=0.2,
        diff="",
        result="",
    )
    line = card.lines(width)[0].text
    assert target in line and "exit 0, 5 lines · " in line and line.endswith("0.2 s")
    assert cell_len(line) <= width
    assert ("next message" in line) is (width >= 80)
