"""Saving one setting: that one changes, all else stays."""

from __future__ import annotations

import stat
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import ConfigError
from app.settings import save_user_setting
from tests.settings.desk import Desk

FILE = """# my settings
model = "a"          # the good one
preserve_tools = [
    "read_file",
    # and
    "search",
]
keep_recent = 3

[auto]
threshold = 50_000
summary_instructions = '''
keep = the
names'''

[rules]
allow = ["bash: pytest *"]
"""


def test_a_first_setting_makes_a_private_file(desk: Desk) -> None:
    path = save_user_setting(desk.home, "keep_recent", "5")
    assert path.read_text() == "keep_recent = 5\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert desk.load().policy.micro.keep_recent == 5


@pytest.mark.parametrize(
    ("name", "text", "line", "gone"),
    [
        ("keep_recent", "7", "keep_recent = 7", "keep_recent = 3"),
        ("threshold", "80k", "threshold = 80_000", "threshold = 50_000"),
        ("threshold", "40%", 'threshold = "40%"', "threshold = 50_000"),
        ("preserve_tools", "none", 'preserve_tools = "none"', '"search"'),
        ("summary_instructions", 'say "it"\n\u2028\x7f', "summary_instructions = ", "names'''"),
        ("theme", "dark", 'theme = "dark"', ""),
    ],
)
def test_only_the_lines_of_that_setting_change(
    desk: Desk, name: str, text: str, line: str, gone: str
) -> None:
    path = desk.put_user(FILE)
    save_user_setting(desk.home, name, text)
    written = path.read_text()
    assert line in written
    assert not gone or gone not in written
    kept = [row for row in FILE.splitlines() if row.startswith(("#", "[", "model", "allow"))]
    assert [row for row in written.splitlines() if row in kept] == kept
    tomllib.loads(written)


def test_a_new_setting_stands_above_the_first_table(desk: Desk) -> None:
    path = desk.put_user("[auto]\nthreshold = 5_000")
    save_user_setting(desk.home, "theme", "x")
    assert tomllib.loads(path.read_text()) == {"theme": "x", "auto": {"threshold": 5_000}}


@pytest.mark.parametrize("text", ["this is no TOML", "threshold = 1\n[auto]\nthreshold = 2\n"])
def test_a_file_that_cannot_be_changed_safely_is_left_alone(desk: Desk, text: str) -> None:
    path = desk.put_user(text)
    with pytest.raises(ConfigError, match="cannot be saved"):
        save_user_setting(desk.home, "threshold", "3000")
    assert path.read_text() == text


def test_a_bad_value_is_not_written(desk: Desk) -> None:
    with pytest.raises(ConfigError, match="whole number"):
        save_user_setting(desk.home, "keep_recent", "x")
    with pytest.raises(ConfigError, match="no such setting"):
        save_user_setting(desk.home, "nothing", "x")
    assert list(desk.home.iterdir()) == []


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60))
@settings(max_examples=150)
def test_any_text_comes_back_as_it_was_saved(text: str) -> None:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as home:
        save_user_setting(Path(home), "summary_instructions", text)
        desk = Desk(Path(home), Path(home))
        assert desk.load().policy.auto.summary_instructions == text.strip()
