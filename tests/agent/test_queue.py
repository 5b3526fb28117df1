"""Messages typed ahead: none is lost, none is said twice."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from app.agent.queue import Typed, TypedAhead
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
    assert await queue.take_back() == Typed("second")
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


async def test_of_two_messages_with_the_same_words_a_crash_leaves_the_one_that_was_not_delivered(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, ScriptedModel())
    session = await rig.open()
    for _ in range(2):
        await session.enqueue("go on")
    assert await session._queue.deliver(session._dialogue.say)
    await session.close()
    again = await rig.open(session.name)
    assert again.queue == ("go on",)
    await again.close()


@pytest.mark.parametrize("last", [remarks.DELIVERING, "message"])
async def test_a_crash_in_a_delivery_neither_loses_a_message_nor_says_it_twice(
    tmp_path: Path, last: str
) -> None:
    rig = Rig(tmp_path, ScriptedModel())
    session = await rig.open()
    before = await session._dialogue.say("before")
    await session.enqueue("go on")
    await session.enqueue("go on")
    record = session._parts.record
    await record.remark(remarks.DELIVERING, {"id": next(iter(session._queue.waiting))})
    if last == "message":
        await session._dialogue.say("go on")
    await session.close()
    again = await rig.open(session.name)
    left = ("go on",) if last == "message" else ("go on", "go on")
    assert again.queue == left
    await again._dialogue.rewind(before.seq + 1, message="", files=False)
    await again.close()
    once_more = await rig.open(session.name)
    assert once_more.queue == left, "going back does not bring back what was delivered"
    await once_more.close()


async def test_a_pin_set_while_a_message_is_written_loses_neither(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedModel())
    session = await rig.open()
    await asyncio.gather(session.pin("r1"), session._dialogue.say("hello"), session.pin("r2"))
    assert session.conversation.pinned == {"r1", "r2"}
    assert [entry.words for entry in session.conversation.entries] == ["hello"]
    await session.close()
