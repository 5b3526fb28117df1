"""The table of kinds names tests that are there."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.kinds.kind import Kind
from tests.kinds.table import KINDS

TESTS = Path(__file__).parents[1]
NODES = sorted({node for kind in KINDS for node in kind.tests})


@cache
def names_in(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text("utf-8"))
    found = (n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(n.name.removeprefix("test_") for n in found if n.name.startswith("test_"))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.theme}: {kind.name}")
def test_every_kind_is_held_by_tests_that_exist(kind: Kind) -> None:
    assert kind.tests and kind.holds
    for node in kind.tests:
        file, _, name = node.partition("::")
        assert Path(file).name.startswith("test_") and (TESTS / file).is_file(), file
        assert name in names_in(file), node


def test_no_kind_stands_twice() -> None:
    names = [(kind.theme, kind.name) for kind in KINDS]
    assert len(names) == len(set(names))
    assert all(len(kind.tests) == len(set(kind.tests)) for kind in KINDS)


@pytest.mark.slow
def test_all_of_them_are_collected() -> None:
    nodes = [f"tests/{f}::test_{name}" for f, _, name in (n.partition("::") for n in NODES)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-o", "addopts=", *nodes],
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-2_000:]
    collected = {line.split("[")[0] for line in done.stdout.splitlines() if "::" in line}
    assert set(nodes) <= collected
