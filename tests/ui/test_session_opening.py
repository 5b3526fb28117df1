"""What is said when a session opens."""

from __future__ import annotations

from tests.ui.chat_app import chat_markdown
from tests.ui.fake_session import FakeSession
from tests.ui.screens_in_use import pal_app


async def test_damage_of_the_record_is_said_when_a_session_opens() -> None:
    session = FakeSession()
    session.notices = ("events.jsonl: 2 damaged lines were skipped (lines 3, 9).",)
    app = pal_app(session)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        await app.workers.wait_for_complete()
        assert "2 damaged lines were skipped" in chat_markdown(app.pair.chat)
