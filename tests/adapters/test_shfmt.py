"""shfmt as a second opinion."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app.adapters.shfmt import find_shfmt, programs_named
from app.core.permission import Mode, Verdict
from app.permission.judge import judge
from tests.permission.bench import Bench, make_bench
from tests.permission.commands import listed

SHFMT = find_shfmt(Path("/nowhere")) or str(Path(sys.executable).parent / "shfmt")
needs_shfmt = pytest.mark.skipif(not Path(SHFMT).exists(), reason="shfmt is not installed")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


@needs_shfmt
def test_it_names_the_programs_of_all_calls() -> None:
    line = 'time ls | grep "$(pwd)"; A=b timeout 5 cat f; $X y; "q" z; if a; then b; fi'
    assert programs_named(line, SHFMT) == {"ls", "grep", "pwd", "timeout", "", "a", "b"}
    assert programs_named("echo 'x", SHFMT) is None


def test_what_cannot_be_run_is_no_opinion(tmp_path: Path) -> None:
    assert programs_named("ls", str(tmp_path / "none")) is None


@needs_shfmt
def test_both_parsers_read_the_ordinary_commands_alike(bench: Bench) -> None:
    asked = [
        each.command
        for each in listed("ordinary")[::4]
        if judge(
            "bash",
            {"command": each.command},
            mode=Mode.ASK,
            rules=(),
            places=bench.places,
            sandboxed=True,
            second=lambda text: programs_named(text, SHFMT),
        ).verdict
        is not Verdict.ALLOW
    ]
    assert len(asked) < 6, asked


@pytest.mark.parametrize("opinion", [None, frozenset({"ls", "touch"}), frozenset({""})])
def test_a_command_that_is_read_otherwise_is_asked(
    bench: Bench, opinion: frozenset[str] | None
) -> None:
    judged = judge(
        "bash",
        {"command": "ls"},
        mode=Mode.ASK,
        rules=(),
        places=bench.places,
        second=lambda _: opinion,
    )
    assert judged.verdict is Verdict.ASK and "second parser" in judged.reason
