"""What a tool wrote and memory did not hold is in the record whole, whatever the layers do."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.policy import CompactionPolicy, EntryPolicy
from app.core.ports import ToolOutcome
from tests.agent.rig import Handy, Rig, read
from tests.fakes.model import ScriptedModel, calls, says

WHOLE = [f"line {number}\n" for number in range(60_000)]
PART = WHOLE[0] + "[… dropped here …]\n" + WHOLE[-1]


@pytest.mark.parametrize("enabled", [True, False])
async def test_a_result_that_holds_only_a_part_is_recalled_whole(
    tmp_path: Path, enabled: bool
) -> None:
    model = ScriptedModel([calls(("toolu_1", "flood", {})), says("done")])
    rig = Rig(tmp_path, model, policy=CompactionPolicy(entry=EntryPolicy(enabled=enabled)))
    rig.tools = (
        Handy(
            "flood",
            lambda a, e: ToolOutcome(PART * (200 if enabled else 1), full=lambda: iter(WHOLE)),
        ),
    )
    session = await rig.open()
    await read(session.submit("go"))
    is_whole = await session.recall("r1") == "".join(WHOLE)
    assert is_whole
    sent = model.requests[-1].messages[-1].tool_results[0].text
    assert len(sent) < 20_000
    assert "dropped here" in sent
    await session.close()
