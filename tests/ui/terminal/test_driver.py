"""Going on after a stop, and not after the end."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from app.ui.terminal.driver import PalDriver
from tests.ui.fake_session import FakeSession
from tests.ui.screens_in_use import pal_app


@pytest.fixture
def signals_kept() -> Iterator[None]:
    kept = {number: signal.getsignal(number) for number in (signal.SIGTSTP, signal.SIGCONT)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("signals_kept")
async def test_a_program_that_leaves_is_not_begun_again_by_the_signal_that_follows_a_hangup(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[bool] = []
    monkeypatch.setattr(PalDriver, "start_application_mode", lambda _: begun.append(True))
    app = pal_app(FakeSession())
    async with app.run_test():
        driver = PalDriver(app)
        driver._sigcont_application()
        assert begun == [True]
        app.exit()
        driver._sigcont_application()
        assert begun == [True]
    driver._sigcont_application()
    assert begun == [True]
