"""A record that cannot be written any more goes on elsewhere, with nothing missing."""

from __future__ import annotations

from pathlib import Path

from app.adapters.journal import Journal
from app.core.conversation import replay
from app.core.messages import user
from tests.fakes.clock import FakeClock


async def test_a_moved_session_goes_on_with_all_it_had(tmp_path: Path) -> None:
    journal = await Journal.create(tmp_path / "old", clock=FakeClock())
    first = await journal.append(user("before"), spoken=(0,))
    await journal.move(tmp_path / "new", display_root="elsewhere")
    second = await journal.append(user("after"), spoken=(0,))
    assert journal.transcript.startswith("elsewhere/")
    assert second.number == first.number + 1
    conversation = replay(await journal.history())
    assert [entry.words for entry in conversation.entries] == ["before", "after"]
    await journal.close()
    again = await Journal.open(tmp_path / "new", journal.session, clock=FakeClock())
    assert len(await again.page(None, 10)) == 2
    await again.close()


async def test_the_old_place_is_free_after_a_move(tmp_path: Path) -> None:
    journal = await Journal.create(tmp_path / "old", clock=FakeClock())
    await journal.append(user("before"))
    await journal.move(tmp_path / "new", display_root="elsewhere")
    old = await Journal.open(tmp_path / "old", journal.session, clock=FakeClock())
    assert [e.message.text for e in await old.page(None, 10)] == ["before"]
    await old.close()
    await journal.close()
