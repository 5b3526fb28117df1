"""What an endpoint refused is known in the next run, for a while."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.launch.endpoint import build_model
from app.launch.refused_fields import LIFE_SECONDS, MOST, RefusedFields
from app.settings import Settings
from tests.wire.bench import Brain, bench
from tests.wire.server import Received, Reply, json_reply

HERE, THERE = "http://127.0.0.1:1", "http://127.0.0.1:2"
REFUSAL = {
    "type": "error",
    "error": {
        "type": "invalid_request_error",
        "message": "system.0.cache_control: Extra inputs are not permitted",
    },
}


def test_a_refusal_is_known_to_the_same_endpoint_until_it_is_old(tmp_path: Path) -> None:
    file, clock = tmp_path / "state" / "refused.json", [1_000.0]
    RefusedFields(file, HERE, lambda: clock[0]).add("cache_control")
    again = RefusedFields(file, HERE, lambda: clock[0])
    assert again.known() == {"cache_control"}
    assert RefusedFields(file, THERE, lambda: clock[0]).known() == frozenset()
    assert "127.0.0.1" not in file.read_text() and file.stat().st_mode & 0o077 == 0
    clock[0] += LIFE_SECONDS
    assert again.known() == frozenset()


def test_only_the_newest_refusals_are_kept(tmp_path: Path) -> None:
    clock = [1_000.0]
    fields = RefusedFields(tmp_path / "f", HERE, lambda: clock[0])
    for number in range(MOST + 5):
        clock[0] += 1
        fields.add(f"field{number}")
    assert len(fields.known()) == MOST
    assert "field4" not in fields.known() and "field5" in fields.known()


@pytest.mark.parametrize("content", ["", "{", "[1]", "[[1,2]]", '[["a","b","c"]]', "null", "7"])
def test_a_damaged_file_is_as_good_as_none_and_is_written_anew(
    tmp_path: Path, content: str
) -> None:
    file = tmp_path / "f"
    file.write_text(content)
    fields = RefusedFields(file, HERE)
    assert fields.known() == frozenset()
    fields.add("thinking")
    assert fields.known() == {"thinking"} and len(json.loads(file.read_text())) == 1


def test_a_folder_that_cannot_be_written_keeps_nothing_and_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    fields = RefusedFields(tmp_path / "file" / "refused.json", HERE)
    fields.add("thinking")
    assert fields.known() == frozenset()


async def test_the_next_run_leaves_out_at_once_what_the_endpoint_refused(tmp_path: Path) -> None:
    class Strict(Brain):
        refused = 0

        def __call__(self, received: Received) -> Reply:
            if received.method == "POST" and b"cache_control" in received.body:
                self.refused += 1
                return json_reply(REFUSAL, 400)
            return super().__call__(received)

    async def refusals_of_a_run(folder: Path, refusals: RefusedFields) -> int:
        folder.mkdir()
        async with bench(folder, brain := Strict(), refusals=refusals) as desk:
            await desk.run("hello")
            assert brain.answered == 1
            return brain.refused

    kept = RefusedFields(tmp_path / "state.json", HERE)
    assert await refusals_of_a_run(tmp_path / "one", kept) > 0
    assert await refusals_of_a_run(tmp_path / "two", kept) == 0


def test_a_model_of_the_settings_keeps_them_in_the_state_folder(tmp_path: Path) -> None:
    model = build_model(Settings(api_key="k", base_url=HERE), demo=False, state=tmp_path)
    assert model._refusals is not None
    model._refusals.add("thinking")
    assert [path.name for path in tmp_path.iterdir()] == ["refused_fields.json"]
    assert build_model(Settings(api_key="k"), demo=False)._refusals is None
