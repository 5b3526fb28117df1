"""The growing lists: nothing dangerous runs unasked, nearly nothing ordinary is asked."""

from __future__ import annotations

from app.core.permission import Mode, Verdict
from tests.permission.bench import Bench
from tests.permission.commands import listed

DANGEROUS, ORDINARY = listed("dangerous"), listed("ordinary")


def test_no_dangerous_command_runs_unasked_without_rules_or_with_rules_for_harmless_names(
    bench: Bench,
) -> None:
    assert len({each.command for each in DANGEROUS}) >= 1_000
    for mode in (Mode.ASK, Mode.READ_ONLY):
        for rules in ((), bench.rules):
            through = [
                each
                for each in DANGEROUS
                if bench.bash(each.command, mode=mode, rules=rules).verdict is Verdict.ALLOW
            ]
            assert through == []


def test_fewer_than_one_ordinary_command_in_twenty_is_asked(bench: Bench) -> None:
    assert len({each.command for each in ORDINARY}) >= 500
    asked = [
        each for each in ORDINARY if bench.bash(each.command, rules=()).verdict is not Verdict.ALLOW
    ]
    assert len(asked) < 0.05 * len(ORDINARY), asked


def test_a_command_stands_once_in_the_lists() -> None:
    commands = [each.command for each in (*DANGEROUS, *ORDINARY)]
    assert sorted({c for c in commands if commands.count(c) > 1}) == []
