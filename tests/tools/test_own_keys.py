"""The program's own key is hidden in whatever a tool returns or shows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import pytest

from app.core.effects import Effects
from app.core.masking import HIDDEN, hide
from app.core.messages import JsonObject, Text
from app.core.ports import Emit, Proposal, ToolOutcome
from app.core.requests import ToolSpec
from app.errors import ToolError
from app.tools.registry import CheckedTool

KEY = "sk-ant-probe-0000"


@dataclass(frozen=True, slots=True)
class Leaking:
    spec: ClassVar[ToolSpec] = ToolSpec("leak", "", {"type": "object", "properties": {}})
    read_only: ClassVar[bool] = True

    def target(self, arguments: JsonObject) -> str:
        return ""

    async def propose(self, arguments: JsonObject) -> Proposal:
        return Proposal("leak", "")

    async def run(self, arguments: JsonObject, emit: Emit) -> ToolOutcome:
        emit(f"live {KEY}")
        parts = (Text(f"a {KEY}"), Text("b"))
        return ToolOutcome(parts, Effects(target=f"echo {KEY}", outcome=KEY), diff=f"+{KEY}")


async def test_no_way_out_of_a_tool_shows_the_key() -> None:
    shown: list[str] = []
    outcome = await CheckedTool(Leaking(), (KEY,)).run({}, shown.append)
    assert KEY not in repr(outcome) and KEY not in "".join(shown)
    assert shown == [f"live {HIDDEN}"]


@pytest.mark.parametrize("error", [ToolError(f"near {KEY}"), OSError(2, f"no {KEY}")])
async def test_no_error_of_a_tool_shows_the_key(error: Exception) -> None:
    class Failing(Leaking):
        async def propose(self, arguments: JsonObject) -> Proposal:
            raise error

        async def run(self, arguments: JsonObject, emit: Emit) -> ToolOutcome:
            raise error

    tool = CheckedTool(Failing(), (KEY,))
    for call in (tool.propose({}), tool.run({}, lambda text: None)):
        with pytest.raises(ToolError, match=re.escape(HIDDEN)) as caught:
            await call
        assert KEY not in str(caught.value)


def test_a_stand_in_of_a_few_letters_is_left_alone() -> None:
    assert hide("the key of a kettle", ("ke", "k")) == "the key of a kettle"
