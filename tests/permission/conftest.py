"""The fixtures of the permission tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.permission.bench import Bench, make_bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)
