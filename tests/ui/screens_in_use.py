"""Apps for the tests of the screen: a fake session behind the real app, with folder and clock fixed."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any

from app.settings import Settings
from app.ui.app import PalApp
from app.ui.wiring import Wiring
from tests.ui.fake_session import FakeSession


class Clock:
    """Monotonic seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def pal_app(
    session: FakeSession | None = None, *, theme: str = "palimpsest-dark", **wiring: Any
) -> PalApp:
    """The app on a fake session; `app.time` is a `Clock`."""
    opened = session or FakeSession()

    async def open_session(approver: Any) -> Any:
        opened.approver = approver
        return opened

    settings = wiring.pop("settings", None) or Settings(
        folder=Path("/srv/project"),
        api_key="sk-test-key",
        model="claude-sonnet-4-5",
        theme=theme,
        sources=MappingProxyType({"api_key": ".env", "model": ".env"}),
    )
    return PalApp(
        Wiring(wiring.pop("open_session", open_session), settings, **wiring), clock=Clock()
    )
