import pytest

from app.core.permission import Mode
from app.core.policy import MicroRule
from app.core.reports import Layer
from tests.adapters.demo_desk import Desk, Nod, policy, write_project


async def small_budget(folder):
    async with Desk(folder) as desk:
        return policy(desk.session.budget.used + 6_000, MicroRule.EVERY_TURN)


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".transcripts" not in path.parts
    }


@pytest.mark.parametrize("words", ["tour", "导览"])
async def test_the_tour_shows_all_layers_in_an_empty_folder(tmp_path, words):
    async with Desk(tmp_path, await small_budget(tmp_path), Mode.READ_ONLY) as desk:
        said = await desk.say(words)
        assert desk.compactions(Layer.MICRO) >= 1
        assert desk.compactions(Layer.AUTO) >= 1
        assert desk.compactions(Layer.MANUAL) == 1
        assert all(call.ok for call in desk.calls())
        assert len(desk.transport.bodies) < 30
        assert "/undo" in said
    assert contents(tmp_path) == {}


async def test_the_tour_reads_a_projects_own_files_and_changes_none(tmp_path):
    write_project(tmp_path)
    before = contents(tmp_path)
    async with Desk(tmp_path, await small_budget(tmp_path), Mode.READ_ONLY) as desk:
        said = await desk.say("tour")
        assert desk.compactions(Layer.AUTO) >= 1
        assert desk.compactions(Layer.MANUAL) == 1
        assert "README.md" in desk.targets("read_file")
        assert "steered by the focus" in said
    assert contents(tmp_path) == before


async def test_a_second_tour_in_the_same_session_is_a_whole_one(tmp_path):
    async with Desk(tmp_path, await small_budget(tmp_path), Mode.READ_ONLY) as desk:
        await desk.say("tour")
        await desk.say("tour")
        assert desk.compactions(Layer.AUTO) >= 1
        assert desk.compactions(Layer.MANUAL) == 1


async def test_the_tour_comes_to_its_end_when_commands_are_refused(tmp_path):
    async with Desk(tmp_path, await small_budget(tmp_path), user=Nod("bash")) as desk:
        desk.session.set_mode(Mode.ASK)
        said = await desk.say("tour")
        assert "/undo" in said
        assert len(desk.transport.bodies) < 35


async def test_the_tour_asks_for_layer_three_where_the_threshold_is_out_of_reach(tmp_path):
    async with Desk(tmp_path, policy(50_000, MicroRule.EVERY_TURN), Mode.READ_ONLY) as desk:
        await desk.say("tour")
        assert desk.compactions(Layer.AUTO) == 0
        assert desk.compactions(Layer.MANUAL) == 1
