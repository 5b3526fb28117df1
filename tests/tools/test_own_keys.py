"""The program's own key is hidden in whatever a tool returns or shows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.effects import Effects
from app.core.masking import HIDDEN, hide
from app.core.messages import JsonObject, Text
from app.core.ports import Emit, Proposal, ToolOutcome
from app.core.requests import ToolSpec
from app.errors import ToolError
from app.tools.own_keys import Pieces
from app.tools.registry import CheckedTool

KEY = "sk-ant-probe-0000"
OTHER = "ant-probe-0000-sk-an"


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


@given(text=st.lists(st.sampled_from(("a", " ", "sk", "sk-ant-", KEY, OTHER))), data=st.data())
def test_no_border_between_pieces_of_live_output_shows_a_key(
    text: list[str], data: st.DataObject
) -> None:
    whole = "".join(text)
    borders = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    parts = [whole[a:b] for a, b in pairwise([0, *borders, len(whole)])]
    pieces = Pieces((KEY, OTHER, "sk"))
    shown = [*map(pieces.take, parts), pieces.rest()]
    assert "".join(shown) == hide(whole, (KEY, OTHER))


async def test_live_output_that_ends_like_a_key_begins_is_shown_to_its_end() -> None:
    class Chatty(Leaking):
        async def run(self, arguments: JsonObject, emit: Emit) -> ToolOutcome:
            for piece in (KEY[:9], KEY[9:], " and sk-ant"):
                emit(piece)
            return ToolOutcome("", Effects(), full=lambda: iter((KEY[:9], KEY[9:], " s")))

    shown: list[str] = []
    outcome = await CheckedTool(Chatty(), (KEY,)).run({}, shown.append)
    assert "".join(shown) == f"{HIDDEN} and sk-ant"
    assert outcome.full is not None and "".join(outcome.full()) == f"{HIDDEN} s"


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
