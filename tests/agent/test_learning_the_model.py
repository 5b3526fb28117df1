"""What the session learns of its model from the endpoint, and when it asks again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from app.agent import upkeep
from app.core.requests import ModelInfo
from app.errors import Busy, ModelError, Rejected
from tests.agent.rig import Handy, Rig, read
from tests.fakes.model import ScriptedModel, calls, says

TOLD = 150_000
ASSUMED = 32_000


class Described(ScriptedModel):
    """Tells its window, or fails first."""

    def __init__(self, *failures: ModelError) -> None:
        super().__init__([says("One."), says("Two.")])
        self.failures = list(failures)
        self.asked = 0
        self.warm = asyncio.Event()

    async def warm_up(self) -> None:
        self.warm.set()

    async def info(self, model: str) -> ModelInfo | None:
        self.asked += 1
        if self.failures:
            raise self.failures.pop(0)
        return ModelInfo(model, model, TOLD, 8_000)


def rig(folder: Path, model: ScriptedModel) -> Rig:
    made = Rig(folder, model)
    made.window_of = lambda info, _: (
        (info.window, "endpoint") if info and info.window else (ASSUMED, "assumed")
    )
    return made


async def test_an_endpoint_that_is_busy_at_first_is_asked_again_before_the_next_turn(
    tmp_path: Path,
) -> None:
    model = Described(Busy("come back later"))
    session = await rig(tmp_path, model).open()
    await read(session.submit("one"))
    assert session.budget.window == ASSUMED
    await read(session.submit("two"))
    assert session.budget.window == TOLD
    await session.close()


async def test_an_endpoint_that_knows_no_such_question_is_asked_once(tmp_path: Path) -> None:
    model = Described(Rejected("no such path", status=404))
    session = await rig(tmp_path, model).open()
    await read(session.submit("one"))
    await read(session.submit("two"))
    assert (model.asked, session.budget.window) == (1, ASSUMED)
    await session.close()


async def test_the_time_in_which_the_sdk_loads_does_not_count_as_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class LoadsFirst(Described):
        async def info(self, model: str) -> ModelInfo | None:
            await self.warm.wait()  # would never end if nothing had loaded it
            return await super().info(model)

    monkeypatch.setattr(upkeep, "MODEL_INFO_SECONDS", 0.5)
    session = await rig(tmp_path, LoadsFirst()).open()
    await read(session.submit("one"))
    assert session.budget.window == TOLD
    await session.close()


async def test_a_model_chosen_in_a_turn_answers_from_its_next_request_on(tmp_path: Path) -> None:
    async def choose(arguments, emit) -> str:
        await session.set_model("another")
        return "chosen"

    script = [calls(("a", "choose", {})), says("Hello from another.")]
    rig = Rig(tmp_path, ScriptedModel(script), tools=(Handy("choose", choose),))
    session = await rig.open()
    await read(session.submit("go"))
    assert [request.model for request in rig.model.requests] == ["scripted", "another"]
    await session.close()


async def test_the_window_is_known_before_the_first_message(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedModel([], window=64_000))
    rig.window_of = lambda info, _: (
        (info.window, "endpoint") if info and info.window else (32_000, "assumed")
    )
    session = await rig.open()
    assert session.budget.window_source == "assumed"
    await session.learn_model()
    assert (session.budget.window, session.budget.window_source) == (64_000, "endpoint")
    assert session.runs == () and rig.model.requests == []
    await session.close()
