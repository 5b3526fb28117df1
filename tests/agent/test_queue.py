"""Messages typed ahead: none is lost, none is said twice."""

from __future__ import annotations

import asyncio
from pathlib import Path

from app.agent.queue import TypedAhead
from app.core import remarks
from app.core.events import QueuedDelivered
from tests.agent.rig import Rig, of, read
from tests.fakes.model import ScriptedModel, says


async def test_a_message_on_its_way_to_the_conversation_cannot_be_taken_back(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, ScriptedModel())
    session = await rig.open()
    queue = TypedAhead(session._parts.record)
    await queue.add("first")
    await queue.add("second")
    writing = asyncio.Event()

    async def say(text: str, pictures):
        await writing.wait()
        return await session._dialogue.say(text)

    delivery = asyncio.create_task(queue.deliver(say))
    await asyncio.sleep(0)
    assert await queue.take_back() == "second"
    assert await queue.take_back() is None
    writing.set()
    text, entry = await delivery
    assert (text, entry.words) == ("first", "first")
    assert queue.texts == ()
    await session.close()


async def test_what_waits_after_a_turn_begins_the_next_one_and_is_never_off_the_disk(
    tmp_path: Path,
) -> None:
    async def waiting_on_disk() -> set[str]:
        kept = await session._parts.record.remarks({remarks.QUEUED, remarks.UNQUEUED})
        gone = {r.data["id"] for r in kept if r.kind == remarks.UNQUEUED}
        return {r.data["text"] for r in kept if r.data["id"] not in gone}

    rig = Rig(tmp_path, ScriptedModel([says("One."), says("Two.")]))
    session = await rig.open()
    await read(session.submit("one"))
    await session.enqueue("two")
    assert await waiting_on_disk() == {"two"}
    events = await read(session.go_on())
    assert [event.text for event in of(events, QueuedDelivered)] == ["two"]
    said = [m.text for m in rig.model.requests[-1].messages if m.role == "user"]
    assert said == ["one", "two"], "and nothing was said for the user"
    assert await waiting_on_disk() == set()
    await session.close()


async def test_a_pin_set_while_a_message_is_written_loses_neither(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedModel())
    session = await rig.open()
    await asyncio.gather(session.pin("r1"), session._dialogue.say("hello"), session.pin("r2"))
    assert session.conversation.pinned == {"r1", "r2"}
    assert [entry.words for entry in session.conversation.entries] == ["hello"]
    await session.close()
