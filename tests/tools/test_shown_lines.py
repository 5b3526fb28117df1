"""Commands that show lines of files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.effects import Span
from app.tools.shown_lines import lines_shown


@pytest.mark.parametrize(
    ("command", "lines", "spans"),
    [
        ("cat app/a.py", 30, (Span("app/a.py", 1, 30),)),
        ("cat -n 'a b.py'", 30, (Span("a b.py", 1, 30),)),
        ("sed -n '10,40p' a.py", 31, (Span("a.py", 10, 40),)),
        ("sed -n '10,400p' a.py", 12, (Span("a.py", 10, 21),)),
        ("sed -n '10,$p' a.py", 12, (Span("a.py", 10, 21),)),
        ("sed -n 7p a.py", 1, (Span("a.py", 7, 7),)),
        ("head -n 5 a.py", 5, (Span("a.py", 1, 5),)),
        ("head -5 ./a.py", 5, (Span("a.py", 1, 5),)),
        ("cd src && cat ../a.py", 3, (Span("a.py", 1, 3),)),
        ("nl -ba a.py | sed -n '20,30p'", 11, (Span("a.py", 20, 30),)),
        ("sed -n '10,40p' a.py | head -n 5", 5, (Span("a.py", 10, 14),)),
        (
            "sed -n '1,80p' a.py && sed -n '5,9p' b.py",
            85,
            (Span("a.py", 1, 80), Span("b.py", 5, 9)),
        ),
    ],
)
def test_lines_that_a_command_shows_are_known(
    command: str, lines: int, spans: tuple[Span, ...]
) -> None:
    assert lines_shown(command, lines) == spans


@pytest.mark.parametrize(
    "command",
    [
        "cat a.py b.py",
        "cat a.py > b.py",
        "cat a.py; rm a.py",
        "cat < a.py",
        "cat -",
        "sed -i s/a/b/ a.py",
        "sed -n '/def/p' a.py",
        "grep x a.py",
        "cat a.py | grep x",
        "cat $(ls)",
        "cat 'a",
        "",
        "head --help",
    ],
)
def test_of_anything_else_nothing_is_said(command: str) -> None:
    assert lines_shown(command, 9) == ()


@given(st.text(max_size=40))
def test_no_text_makes_it_fail(text: str) -> None:
    lines_shown(text, 3)
