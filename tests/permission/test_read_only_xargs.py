"""What xargs hands on: names of the project's files, judged by the files that there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.permission import Verdict
from tests.fakes.repositories import git
from tests.permission.bench import Bench

LINES = (
    "find src -name '*.py' | xargs grep -n foo",
    "find src -type f | sort | head -50 | xargs cat",
    "grep -rl print src | xargs cat",
    "rg --files src | xargs wc -l",
    "rg -l print src | xargs wc -l",
)
WHOLE = (
    "find src -name '*.py' -print0 | xargs -0 cat",
    "grep -rlZ print src | xargs -0 cat",
    "rg --files -0 src | xargs -0 wc -l",
)


@pytest.mark.parametrize("command", [*LINES, *WHOLE])
def test_a_harmless_name_is_handed_on_without_a_question(bench: Bench, command: str) -> None:
    assert bench.bash(command, rules=()).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    "name",
    [
        "a b.py",
        "x $OUT/y.py",
        "it's.py",
        'say "x".py',
        "back\\slash.py",
        "tab\there.py",
        "two\nlines.py",
    ],
)
def test_a_name_that_xargs_would_take_apart_is_asked_and_one_that_it_keeps_whole_is_not(
    bench: Bench, name: str
) -> None:
    path = bench.folder / "src" / bench.fill(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    for command in LINES:
        assert bench.bash(command, rules=()).verdict is Verdict.ASK, command
    for command in WHOLE:
        assert bench.bash(command, rules=()).verdict is Verdict.ALLOW, command


def test_only_a_line_break_parts_names_where_that_is_said(bench: Bench) -> None:
    command = "find src -name '*.py' | xargs -d '\\n' cat"
    (bench.folder / "src" / "a b.py").write_text("")
    assert bench.bash(command, rules=()).verdict is Verdict.ALLOW
    (bench.folder / "src" / "a\nb.py").write_text("")
    assert bench.bash(command, rules=()).verdict is Verdict.ASK


def test_names_that_a_find_leaves_out_do_not_count(bench: Bench) -> None:
    (bench.folder / "src" / "a b.txt").write_text("")
    (bench.folder / "src" / "out.txt").symlink_to(bench.outside / "secret")
    assert bench.bash("find src -name '*.py' | xargs cat", rules=()).verdict is Verdict.ALLOW
    assert bench.bash("find src | xargs cat", rules=()).verdict is Verdict.ASK


@pytest.mark.parametrize("command", [*LINES[1:3], *WHOLE[:2]])
def test_a_link_that_leads_out_is_asked(bench: Bench, command: str) -> None:
    (bench.folder / "src" / "out.py").symlink_to(bench.outside / "secret")
    follows = "-type f" not in command  # with it, find prints no link
    verdict = Verdict.ASK if follows else Verdict.ALLOW
    assert bench.bash(command, rules=()).verdict is verdict


def test_names_that_read_as_options_are_asked(bench: Bench) -> None:
    git(bench.folder, "init", "-q")
    (bench.folder / "-C").write_text("")
    git(bench.folder, "add", "--", "-C")
    for command in ("git ls-files -z | xargs -0 file", "git ls-files | xargs file"):
        assert bench.bash(command, rules=()).verdict is Verdict.ASK
    assert bench.bash("cd src && git ls-files | xargs file", rules=()).verdict is Verdict.ASK


def test_git_prints_what_its_index_names_also_when_it_is_not_there(bench: Bench) -> None:
    git(bench.folder, "init", "-q")
    git(bench.folder, "add", "src")
    assert bench.bash("git ls-files | xargs cat", rules=()).verdict is Verdict.ALLOW
    hidden = Path(bench.fill("x $OUT/secret"))
    (bench.folder / hidden).parent.mkdir(parents=True)
    (bench.folder / hidden).write_text("")
    git(bench.folder, "add", str(hidden))
    (bench.folder / hidden).unlink()
    assert bench.bash("git ls-files | xargs cat", rules=()).verdict is Verdict.ASK
    assert bench.bash("git ls-files -z | xargs -0 cat", rules=()).verdict is Verdict.ALLOW


def test_an_index_that_cannot_be_read_is_asked(bench: Bench) -> None:
    git(bench.folder, "init", "-q")
    (bench.folder / ".git" / "index").write_bytes(b"DIRC\0\0\0\x09\0\0\0\x01")
    assert bench.bash("git ls-files | xargs cat", rules=()).verdict is Verdict.ASK


def test_too_many_files_are_asked(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.permission.names_printed.MOST_ENTRIES", 1)
    (bench.folder / "src" / "b.py").write_text("")
    assert bench.bash("find src | xargs cat", rules=()).verdict is Verdict.ASK
