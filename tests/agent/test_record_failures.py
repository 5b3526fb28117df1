"""What a session does when its record cannot be written for a while: nothing is told too early, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from app.adapters.journal import Journal
from app.core.events import Compacted, ErrorRaised, ToolFinished, ToolOutput, TurnEnd, TurnStarted
from app.core.messages import JsonObject, Message
from app.core.policy import MicroRule
from app.core.reports import Outcome
from app.errors import RecordUnwritable, Unreachable
from tests.agent.rig import Handy, Rig, all_valid, ended, of, read, small
from tests.fakes.model import ScriptedModel, calls, says
from tests.fakes.summaries import GOOD

LOOKS = (
    *(
        calls((f"c{n}", "look", {"text": f"{n} words about the code, ", "times": 200}))
        for n in range(6)
    ),
    says("Seen."),
)


class FailingDisk(Journal):
    """Refuses to write what a test names, as often as it says."""

    refused: dict[str, int] = {}

    def _check(self, what: str) -> None:
        if self.refused.get(what, 0) > 0:
            self.refused[what] -= 1
            raise RecordUnwritable("the disk is full", hint="Free some space, then retry.")

    async def append(self, message: Message, **more: object):
        self._check("results" if message.tool_results else message.role)
        return await super().append(message, **more)

    async def remark(self, kind: str, data: JsonObject):
        self._check(kind)
        return await super().remark(kind, data)

    async def commit(self, draft):
        self._check("commit")
        return await super().commit(draft)


def rig_of(tmp_path: Path, script: list, *tools: Handy, **refused: int) -> Rig:
    disk = type("Disk", (FailingDisk,), {"refused": dict(refused)})
    return Rig(tmp_path, ScriptedModel(script), journal=disk, tools=tools)


def counting(runs: list[int]) -> Handy:
    """A tool that changes something; it must not run twice."""
    return Handy("change", lambda a, e: runs.append(1) or f"change {len(runs)} done", False)


def results(rig: Rig) -> dict[str, str]:
    return {r.tool_use_id: r.text for m in rig.model.requests[-1].messages for r in m.tool_results}


async def test_a_result_that_could_not_be_written_is_told_and_used_once_it_can(
    tmp_path: Path,
) -> None:
    runs: list[int] = []
    script = [calls(("a", "change", {})), says("Good.")]
    rig = rig_of(tmp_path, script, counting(runs), results=1)
    session = await rig.open()
    events = await read(session.submit("go"))
    assert ended(events).end is TurnEnd.FAILED
    assert [e.unwritten for e in of(events, ErrorRaised)] == [True]
    assert of(events, ToolFinished) == []
    events = await read(session.go_on())
    assert [e.text for e in of(events, ToolFinished)] == ["change 1 done"]
    assert results(rig) == {"a": "change 1 done"} and runs == [1]
    all_valid(rig.model)
    await session.close()


async def test_of_parallel_results_those_that_came_are_used_after_a_failure(
    tmp_path: Path,
) -> None:
    runs: list[int] = []
    script = [calls(("a", "change", {}), ("b", "change", {}), ("c", "look", {})), says("Good.")]
    rig = rig_of(tmp_path, script, counting(runs), result=1)
    session = await rig.open()
    assert ended(await read(session.submit("go"))).end is TurnEnd.FAILED
    await read(session.submit("again"))
    assert results(rig)["a"] == "change 1 done" and runs == [1]
    assert "interrupted" in results(rig)["b"] and "interrupted" in results(rig)["c"]
    all_valid(rig.model)
    await session.close()


async def test_after_a_crash_the_model_is_told_that_a_call_may_have_taken_effect(
    tmp_path: Path,
) -> None:
    runs: list[int] = []
    script = [calls(("a", "change", {})), says("I will look.")]
    rig = rig_of(tmp_path, script, counting(runs), results=1)
    session = await rig.open()
    await read(session.submit("go"))
    await session.close()
    again = await rig.open(session.name)
    await read(again.submit("go on"))
    assert "may have taken effect" in results(rig)["a"] and runs == [1]
    await again.close()


async def test_a_model_that_fails_while_the_disk_is_full_is_told_and_so_is_the_disk(
    tmp_path: Path,
) -> None:
    rig = rig_of(tmp_path, [Unreachable("no connection"), says("Here.")], error=1)
    session = await rig.open()
    events = await read(session.submit("go"))
    assert [e.message for e in of(events, ErrorRaised)] == ["no connection", "the disk is full"]
    assert ended(events).error == "no connection"
    assert ended(await read(session.go_on())).end is TurnEnd.DONE
    await session.close()


async def test_a_turn_that_is_cancelled_while_the_disk_is_full_ends_and_is_mended_later(
    tmp_path: Path,
) -> None:
    async def hang(arguments, emit):
        emit("so far")
        await asyncio.Event().wait()

    rig = rig_of(
        tmp_path, [calls(("a", "hang", {})), says("Again.")], Handy("hang", hang, False), results=1
    )
    session = await rig.open()
    events = []
    async for event in session.submit("go"):
        events.append(event)
        if isinstance(event, ToolOutput):
            session.cancel()
    assert ended(events).end is TurnEnd.CANCELLED
    assert [e.unwritten for e in of(events, ErrorRaised)] == [True]
    await read(session.submit("hi"))
    assert results(rig)["a"].startswith("so far\n[interrupted")
    all_valid(rig.model)
    await session.close()


async def test_a_message_that_could_not_be_written_did_not_begin_a_turn(tmp_path: Path) -> None:
    rig = rig_of(tmp_path, [], user=1)
    session = await rig.open()
    events = await read(session.submit("go"))
    assert of(events, TurnStarted) == [] and ended(events).end is TurnEnd.FAILED
    assert rig.model.requests == []
    await session.close()


async def test_a_compaction_that_could_not_be_written_leaves_the_view_and_can_be_made_again(
    tmp_path: Path,
) -> None:
    rig = rig_of(tmp_path, [*LOOKS, says(GOOD), says(GOOD)], commit=1)
    rig.policy = small(50_000, rule=MicroRule.OFF)
    session = await rig.open()
    await read(session.submit("write much"))
    before = session.conversation.view()
    events = await read(session.compact())
    assert [e.unwritten for e in of(events, ErrorRaised)] == [True]
    assert of(events, Compacted) == [] and session.conversation.view() == before
    assert len(list(tmp_path.glob(".transcripts/*/transcript_*"))) == 1
    (report,) = [e.report for e in of(await read(session.compact()), Compacted)]
    assert report.outcome is Outcome.APPLIED
    await session.close()


async def test_an_undo_is_the_last_thing_written_that_matters(tmp_path: Path) -> None:
    rig = rig_of(tmp_path, [*LOOKS, says(GOOD)])
    rig.policy = small(50_000, rule=MicroRule.OFF)
    session = await rig.open()
    await read(session.submit("write much"))
    await read(session.compact())
    await read(session.undo())
    await session.close()
    path = tmp_path / ".transcripts" / session.name / "events.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    kinds = [row.get("kind") or row.get("mark") for row in rows]
    assert kinds.index("muted") < kinds.index("undone")
