"""A session opened again: what its remarks say comes back, and what they cannot say is left out."""

from __future__ import annotations

import asyncio

from app.adapters.journal import Journal
from app.core import remarks
from app.core.effects import Effects
from app.core.messages import Message, ToolResult, ToolUse, block_to_json, user
from app.core.ports import ToolOutcome
from tests.agent.rig import Handy, Rig, read
from tests.fakes.model import ScriptedModel, calls, says


async def record(rig: Rig) -> Journal:
    return await Journal.create(rig.folder / ".transcripts", clock=rig.clock)


async def test_remarks_of_another_shape_are_left_out_and_the_others_count(tmp_path) -> None:
    rig = Rig(tmp_path, ScriptedModel())
    journal = await record(rig)
    await journal.append(user("hello"), spoken=(0,))
    for kind in ("usage", "prompt", "report", "todo", "muted", "note", "queued", "unqueued"):
        await journal.remark(kind, {"id": 7, "tools": 3, "items": [1], "until": "soon"})
    usage = {"input": 10, "cache_read": 0, "cache_write": 0, "output": 5, "sent": 1.0, "cost": 0.5}
    await journal.remark("usage", {**usage, "purpose": "turn", "model": "scripted"})
    await journal.remark("queued", {"id": "q", "text": "still to say"})
    await journal.close()
    session = await rig.open(journal.session)
    assert (session.usage.input, session.cost, session.queue) == (10, 0.5, ("still to say",))
    await session.close()


async def test_only_results_of_the_calls_that_are_open_are_read(tmp_path) -> None:
    rig = Rig(tmp_path, ScriptedModel())
    journal = await record(rig)
    await journal.append(user("look twice"), spoken=(0,))
    calls = (ToolUse("a", "look", {}), ToolUse("b", "look", {}))
    for _ in range(2):
        await journal.append(Message("assistant", calls))
        finished = block_to_json(ToolResult("a", "seen"))
        await journal.remark(
            remarks.RESULT, {"tool_use_id": "a", "result": finished, "effects": {}}
        )
        await journal.append(Message("user", (ToolResult("a", "seen"), ToolResult("b", "seen"))))
    await journal.append(Message("assistant", calls))
    await journal.close()
    session = await rig.open(journal.session)
    newest = session.conversation.entries[-1].message
    assert [r.text for r in newest.tool_results if r.text == "seen"] == []
    assert all("interrupted" in result.text for result in newest.tool_results)
    await session.close()


async def test_cut_answers_and_diffs_stand_beside_the_page_that_they_belong_to(tmp_path) -> None:
    changing = Handy("change", lambda a, e: ToolOutcome("done", Effects(), diff="-old\n+new\n"))
    hold = asyncio.Event()
    model = ScriptedModel([calls(("c", "change", {})), says("changed"), says("a long answer")])
    rig = Rig(tmp_path, model, tools=(changing,))
    session = await rig.open()
    await read(session.submit("change it"))
    model.hold = hold
    async for event in session.submit("and explain"):
        if type(event).__name__ == "TextArrived":
            session.cancel()
    await session.close()
    session = await rig.open(session.name)
    newest = await session.page(None, 1)
    (cut,) = await session.asides(newest)
    assert (cut.kind, cut.data) == ("partial", {"text": "a"})
    older = await session.page(newest[0].number, 10)
    (diff,) = await session.asides(older)
    assert diff.data == {"tool_use_id": "c", "diff": "-old\n+new\n"}
    assert await session.asides(()) == ()
    await session.close()
