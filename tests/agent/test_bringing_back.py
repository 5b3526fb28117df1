from pathlib import Path

import pytest

from app.core.policy import MicroRule
from app.errors import PalError
from tests.agent.rig import Rig, all_valid, read, small
from tests.agent.test_session_layers import answers, looks
from tests.fakes.model import ScriptedModel, says

EVERY_TURN = {"rule": MicroRule.EVERY_TURN, "preserve_tools": frozenset()}


async def with_cleared(folder: Path) -> tuple[Rig, str]:
    """A rig whose session has cleared r1; returns it and the session's name."""
    model = ScriptedModel([*looks(4), says("ok"), says("I see."), says("And now.")])
    rig = Rig(folder, model, policy=small(50_000, **EVERY_TURN))
    session = await rig.open()
    await read(session.submit("look around"))
    assert "r1" in session.conversation.stubs
    await session.close()
    return rig, session.name


async def test_the_original_goes_with_the_next_message_and_nothing_before_it_changes(
    tmp_path: Path,
) -> None:
    rig, name = await with_cleared(tmp_path)
    session = await rig.open(name)
    before = session.conversation.view().messages
    await session.bring_back("r1")
    await read(session.submit("what was in it?"))
    sent = rig.model.requests[-1].messages
    assert sent[: len(before)] == before
    assert "[The user brought r1" in sent[-1].text and "0 words and more words" in sent[-1].text
    await read(session.submit("and now?"))
    assert "brought" not in rig.model.requests[-1].messages[-1].text
    all_valid(rig.model)
    await session.close()


async def test_it_is_not_forgotten_when_the_session_is_left_in_between(tmp_path: Path) -> None:
    rig, name = await with_cleared(tmp_path)
    session = await rig.open(name)
    await session.bring_back("r1")
    await session.close()
    session = await rig.open(name)
    await read(session.submit("what was in it?"))
    assert "[The user brought r1" in rig.model.requests[-1].messages[-1].text
    await session.close()


async def test_what_stands_in_the_view_or_nowhere_is_not_brought_back(tmp_path: Path) -> None:
    rig, name = await with_cleared(tmp_path)
    session = await rig.open(name)
    for result in ("r4", "r99"):
        with pytest.raises(PalError):
            await session.bring_back(result)
    await session.close()


async def test_runs_are_told_apart_and_only_those_that_worked_count(tmp_path: Path) -> None:
    rig, name = await with_cleared(tmp_path)
    session = await rig.open(name)
    assert [run.requests for run in session.runs] == [0]
    await session.close()
    session = await rig.open(name)
    await read(session.submit("go on"))
    assert [run.requests for run in session.runs] == [0, 5]
    await session.close()
    session = await rig.open(name)
    assert [run.requests for run in session.runs] == [0, 5]
    await session.close()


async def test_the_views_around_a_compaction_that_was_taken_back_can_still_be_compared(
    tmp_path: Path,
) -> None:
    rig = Rig(
        tmp_path,
        ScriptedModel(answers(*looks(6, size=200), says("ok"))),
        policy=small(50_000, rule=MicroRule.OFF),
    )
    session = await rig.open()
    await read(session.submit("look around"))
    whole = session.conversation.view().messages
    await read(session.compact())
    await read(session.undo())
    assert [report.outcome for report in session.reports if report.commit] == ["applied", "undone"]
    before, after = await session.around(1)
    assert before.view().messages == whole and after.head is not None
    with pytest.raises(PalError):
        await session.around(2)
    await session.close()
