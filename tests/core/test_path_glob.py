"""Path patterns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.path_glob import path_glob


@pytest.mark.parametrize(
    ("pattern", "matches", "does_not"),
    [
        ("*.py", ["a.py", ".py"], ["src/a.py", "a.pyc"]),
        ("src/**", ["src/a", "src/a/b"], ["src", "srcs/a"]),
        ("**/*.py", ["a.py", "x/y/a.py"], ["a.pyx"]),
        ("src/**/a.py", ["src/a.py", "src/x/y/a.py"], ["a.py"]),
        ("a?c", ["abc"], ["a/c", "ac"]),
        ("[ab].py", ["a.py", "b.py"], ["c.py"]),
        ("[!ab].py", ["c.py"], ["a.py", "/.py"]),
        ("[a-c]/x", ["b/x"], ["d/x"]),
        ("[]x].py", ["].py", "x.py"], ["y.py"]),
        ("*.{ts,tsx}", ["a.ts", "a.tsx"], ["a.js"]),
        ("{a,b/{c,d}}", ["a", "b/c", "b/d"], ["b/e"]),
        ("a{b", ["a{b"], ["ab"]),
        ("a(b)+.c", ["a(b)+.c"], ["ab.c"]),
        ("[z-a]", ["[z-a]"], ["z"]),
        ("[a--b]", ["[a--b]"], ["c"]),
        ("[--a]", ["a", "A"], ["b"]),
        ("[a-]", ["a", "-"], ["b"]),
        ("[[&&~]", ["[", "&", "~"], ["b"]),
        ("a\nb*", ["a\nbc"], ["a b"]),
    ],
)
def test_a_pattern_matches_whole_paths(
    pattern: str, matches: list[str], does_not: list[str]
) -> None:
    assert [path for path in matches if not path_glob(pattern).fullmatch(path)] == []
    assert [path for path in does_not if path_glob(pattern).fullmatch(path)] == []


@given(st.text("ab/*?[]{},!^-\\.", max_size=12), st.text("ab/.", max_size=8))
def test_every_text_is_a_pattern(pattern: str, path: str) -> None:
    path_glob(pattern).fullmatch(path)
