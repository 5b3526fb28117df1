"""Collecting tests: unasked where it is confined, asked elsewhere."""

from __future__ import annotations

import pytest

from app.core.permission import Mode, Verdict
from app.permission.collecting import needs_confinement
from app.permission.script import parse_script
from tests.permission.bench import Bench, rule

COLLECTING = (
    "pytest --collect-only",
    "pytest --collect-only -q",
    "pytest --co -qq src",
    "pytest --collect-only -k 'a and b' src/a.py::test_x",
    "python -m pytest --collect-only -q",
    "timeout 60 pytest --collect-only -q 2>&1 | tail -5",
    "cd src && pytest --co -q",
    "ls; pytest --co -q >/dev/null && git status",
)
DOING_MORE = (
    "pytest -q",
    "pytest --collect-only -p evil",
    "pytest --collect-only -c f",
    "pytest --collect-only --rootdir=$OUT",
    "pytest --collect-only $OUT",
    "pytest --collect-only door",
    "pytest --collect-only --junitxml=x",
    "pytest --collect-only > f",
    "pytest --collect-only; make",
    "pytest --collect-only | sh",
    "PYTEST_ADDOPTS=-px pytest --collect-only",
    "env PYTHONPATH=. pytest --collect-only",
    'pytest --collect-only "$X"',
    "pytest --collect-only @f",
    "echo x | xargs pytest --collect-only",
    "./pytest --collect-only",
    "python -m pytest -q",
)


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.ACCEPT_EDITS, Mode.AUTO])
def test_collecting_runs_unasked_where_it_is_confined(bench: Bench, mode: Mode) -> None:
    for command in COLLECTING:
        confined = bench.bash(command, mode=mode, rules=(), sandboxed=True)
        assert confined.verdict is Verdict.ALLOW, command
        assert needs_confinement(parse_script(command, str(bench.folder)), bench.places)
        if mode is not Mode.AUTO:
            assert bench.bash(command, mode=mode, rules=()).verdict is Verdict.ASK, command


def test_collecting_with_anything_more_is_asked_or_not_taken_for_collecting(bench: Bench) -> None:
    for command in map(bench.fill, DOING_MORE):
        judgement = bench.bash(command, rules=(), sandboxed=True)
        assert judgement.verdict is Verdict.ASK, command
        assert not needs_confinement(parse_script(command, str(bench.folder)), bench.places)


def test_a_rule_for_another_command_on_the_line_does_not_let_collecting_run_free(
    bench: Bench,
) -> None:
    judgement = bench.bash("pytest --co; make", rules=(rule("bash: make"),), sandboxed=True)
    assert judgement.verdict is Verdict.ASK


def test_the_read_only_mode_does_not_run_the_projects_code(bench: Bench) -> None:
    judgement = bench.bash("pytest --co", mode=Mode.READ_ONLY, rules=(), sandboxed=True)
    assert judgement.verdict is Verdict.DENY
