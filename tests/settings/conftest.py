"""The fixtures of the settings tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.settings.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folder, home = tmp_path / "project", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    return Desk(folder, home)
