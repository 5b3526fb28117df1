"""The program's own key is hidden in whatever a tool returns or shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from app.core.effects import Effects
from app.core.masking import HIDDEN, hide
from app.core.messages import JsonObject, Text
from app.core.ports import Emit, Proposal, ToolOutcome
from app.core.requests import ToolSpec
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


def test_a_stand_in_of_a_few_letters_is_left_alone() -> None:
    assert hide("the key of a kettle", ("ke", "k")) == "the key of a kettle"
