"""A damaged record through a whole session: it opens, says what is lost, and the next request is valid."""

from __future__ import annotations

import itertools
import shutil

import pytest

from app.core.policy import AutoPolicy, CompactionPolicy, ManualPolicy, MicroPolicy, MicroRule
from tests.agent.rig import Rig, read
from tests.fakes.message_rules import problems
from tests.fakes.model import ScriptedModel, calls, says
from tests.fakes.summaries import GOOD


def a_turn(number: int):
    two = (("a", {"text": f"first {number} ", "times": 300}), ("b", {"text": "second "}))
    uses = tuple((f"{key}{number}", "look", given) for key, given in two)
    return [calls(*uses, text=f"I look {number}."), says(f"answer {number}")]


async def lived(folder) -> str:
    """A session with clears, two compactions, one of them taken back, and its name."""
    model = ScriptedModel()
    rig = Rig(folder, model, policy=POLICY)
    session = await rig.open()
    for number in range(1, 13):
        model.script += a_turn(number)
        await read(session.submit(f"question {number}"))
        if number in (5, 9):
            model.script.append(says(GOOD))
            await read(session.compact())
        if number == 10:
            await read(session.undo())
    assert [report.outcome.value for report in session.reports if report.layer.value == "manual"] == [
        "applied", "applied", "undone"
    ]  # fmt: skip
    assert any(report.layer.value == "micro" for report in session.reports)
    await session.close()
    return session.name


POLICY = CompactionPolicy(
    micro=MicroPolicy(rule=MicroRule.EVERY_TURN, preserve_tools=frozenset()),
    auto=AutoPolicy(enabled=False, threshold=3_000),
    manual=ManualPolicy(notes_at=()),
)


def without(data: bytes, at: int) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join(lines[:at] + lines[at + 1 :])


def glued(data: bytes, at: int) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join([*lines[:at], lines[at].rstrip(b"\n"), *lines[at + 1 :]])


def halved(data: bytes, at: int) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join([*lines[:at], lines[at][: len(lines[at]) // 2] + b"\n", *lines[at + 1 :]])


def zeroed(data: bytes, at: int) -> bytes:
    lines = data.splitlines(keepends=True)
    middle = len(lines[at]) // 2
    lines[at] = lines[at][:middle] + b"\0" * 5 + lines[at][middle + 5 :]
    return b"".join(lines)


def torn(data: bytes, at: int) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join([*lines[:at], lines[at][: len(lines[at]) * 2 // 3]])


DAMAGES = (without, glued, halved, zeroed, torn)


@pytest.mark.parametrize("damage", DAMAGES)
async def test_whatever_line_is_damaged_the_session_goes_on(tmp_path, damage) -> None:
    name = await lived(tmp_path / "whole")
    whole = tmp_path / "whole" / ".transcripts" / name
    files = sorted(path.name for path in whole.glob("*.jsonl"))
    cases = [(f, at) for f in files for at in range(len((whole / f).read_bytes().splitlines()))]
    step, start = max(1, len(cases) // 18), DAMAGES.index(damage)
    for file, at in itertools.islice(cases, start, None, step):
        place = tmp_path / "damaged"
        copy = place / ".transcripts" / name
        shutil.copytree(whole, copy)
        (copy / file).write_bytes(damage((whole / file).read_bytes(), at))
        for round_ in (1, 2):
            model = ScriptedModel([says("still here")])
            session = await Rig(place, model, policy=POLICY).open(name)
            await read(session.submit(f"and now {round_}?"))
            (request,) = model.requests
            assert problems(request.messages) == (), (file, at)
            assert request.messages[-1].text.endswith(f"and now {round_}?")
            await session.close()
        shutil.rmtree(place)
