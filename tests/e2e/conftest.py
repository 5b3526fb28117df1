"""What end-to-end tests share: a desk in a folder of its own, and an endpoint that answers like the embedded model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.desk import Desk
from tests.e2e.endpoint import Endpoint
from tests.e2e.project import make_project


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk with a small project."""
    project = make_project(tmp_path / "shop-project", modules=5)
    return Desk(project, tmp_path / "home")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A running endpoint without a prompt cache."""
    with Endpoint() as running:
        yield running
