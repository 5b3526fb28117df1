"""A session opened again: what its remarks say comes back, and what they cannot say is left out."""

from __future__ import annotations

from app.adapters.journal import Journal
from app.core import remarks
from app.core.messages import Message, ToolResult, ToolUse, block_to_json, user
from tests.agent.rig import Rig
from tests.fakes.model import ScriptedModel


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
