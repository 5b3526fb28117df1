"""What crash tests share: the process that starts runs, and a place to work in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.spawner import Spawner
from tests.crash.work import Place


@pytest.fixture(scope="session")
def spawner() -> Iterator[Spawner]:
    """The program, loaded once."""
    with Spawner() as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, spawner: Spawner) -> Place:
    """A project in which nothing was said yet."""
    return Place(tmp_path, spawner)
