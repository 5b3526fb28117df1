"""Kinds of fault that compaction is known for elsewhere, tried through a whole session with several inputs each."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.budget import Usage
from app.core.events import Compacted, Notice
from app.core.messages import Message
from app.core.policy import CompactionPolicy, EntryPolicy, MicroRule
from app.core.reports import Layer, Outcome
from app.core.requests import Answer, ModelRequest
from tests.agent.rig import Handy, Rig, all_valid, ended, of, read, small
from tests.agent.test_session_layers import PARAGRAPH, SUMMARY, wants_summary
from tests.fakes.fast_time import run_fast
from tests.fakes.model import ScriptedModel, calls, says
from tests.wire import sse
from tests.wire.bench import Brain, bench, is_summary_call
from tests.wire.server import Received, Reply


def counting(*steps: Answer, summary: str = SUMMARY) -> tuple[ScriptedModel, list[int]]:
    """A model that follows the steps and then says ok, and the numbers of the requests that asked for a summary."""
    left = list(steps)
    asked: list[int] = []

    def answer(request: ModelRequest) -> Answer:
        if wants_summary(request):
            asked.append(len(model.requests))
            return says(summary)
        return left.pop(0) if left else says("ok")

    model = ScriptedModel([answer] * 400)
    return model, asked


def whole(policy: CompactionPolicy) -> CompactionPolicy:
    """The policy without layer 0, so that results are as large as a test makes them."""
    return replace(policy, entry=EntryPolicy(enabled=False))


def look(number: int, size: int, text: str = PARAGRAPH) -> Answer:
    return calls((f"c{number}", "look", {"text": f"{number} {text}", "times": size}))


@pytest.mark.parametrize("threshold", [1, 100, 500, 900])
async def test_a_threshold_that_cannot_be_reached_costs_no_endless_summaries(
    tmp_path: Path, threshold: int
) -> None:
    model, asked = counting()
    rig = Rig(tmp_path, model, policy=small(threshold))
    (tmp_path / "AGENTS.md").write_text("Mind this rule. " * 600)
    session = await rig.open()
    told = []
    for turn in range(12):
        events = await read(session.submit(f"hi {turn}"))
        assert ended(events).text == "ok"
        told += [e.text for e in of(events, Notice)] + [
            e.report.reason for e in of(events, Compacted)
        ]
    assert len(asked) <= 2
    assert any("floor" in text or "system prompt" in text for text in told), told
    all_valid(model)
    await session.close()


@pytest.mark.parametrize(("results", "size"), [(1, 500), (3, 190), (8, 90)])
async def test_one_crossing_of_the_threshold_is_one_compaction(
    tmp_path: Path, results: int, size: int
) -> None:
    model, asked = counting(*(look(n, size) for n in range(results)))
    rig = Rig(tmp_path, model, policy=whole(small(6_000, rule=MicroRule.OFF)))
    session = await rig.open()
    await read(session.submit("look at it all"))
    for turn in range(4):
        await read(session.submit(f"and {turn}?"))
    assert len(asked) == 1
    assert session.budget.used < 6_000
    await session.close()


@pytest.mark.parametrize("words", [600, 4_000])
async def test_a_summary_larger_than_what_it_stands_for_changes_nothing(
    tmp_path: Path, words: int
) -> None:
    model, _ = counting(summary=f"{SUMMARY}\n{'word ' * words}")
    rig = Rig(tmp_path, model, policy=small(50_000))
    session = await rig.open()
    for text in ("one", "two", "three"):
        await read(session.submit(text))
    before = session.conversation.view().messages
    events = await read(session.compact())
    assert session.conversation.view().messages == before
    assert not [e for e in of(events, Compacted) if e.report.outcome is Outcome.APPLIED]
    assert events, "the user is told"
    await session.close()


async def test_rules_of_the_project_are_in_every_request_and_read_again_at_a_compaction(
    tmp_path: Path,
) -> None:
    rules = tmp_path / "AGENTS.md"
    rules.write_text("Odd rule: every function is named after a fish.")
    model, asked = counting(*(look(n, 60) for n in range(6)))
    rig = Rig(tmp_path, model, policy=small(3_000, rule=MicroRule.OFF))
    session = await rig.open()
    await read(session.submit("look"))
    assert asked and all("named after a fish" in r.system for r in model.requests)
    rules.write_text("Odd rule: every function is named after a bird.")
    await read(session.compact("the rest"))
    await read(session.submit("go on"))
    assert "named after a bird" in model.requests[-1].system
    await session.close()


@pytest.mark.parametrize("files", [4, 6, 9])
async def test_a_model_that_reads_again_what_was_cleared_comes_to_an_end(
    tmp_path: Path, files: int
) -> None:
    """Each placeholder it sees makes it read that file again; pins and kept results let it finish."""
    reads: list[str] = []

    def read_file(arguments, emit) -> str:
        reads.append(arguments["path"])
        return f"content of {arguments['path']} " + "x y " * 200

    def answer(request: ModelRequest) -> Answer:
        if wants_summary(request):
            return says(SUMMARY)
        text = json.dumps([[b.text for b in m.tool_results] for m in request.messages])
        missing = [f"f{n}.py" for n in range(files) if f"content of f{n}.py" not in text]
        if not missing:
            return says("all in sight")
        return calls((f"t{len(model.requests)}", "page", {"path": missing[0]}))

    model = ScriptedModel([answer] * 300)
    policy = small(50_000, rule=MicroRule.EVERY_TURN, preserve_tools=frozenset({"page"}))
    rig = Rig(tmp_path, model, policy=policy, tools=(Handy("page", read_file),))
    session = await rig.open()
    events = await asyncio.wait_for(read(session.submit("compare the files")), 60)
    assert ended(events).text == "all in sight"
    assert len(reads) <= 3 * files
    await session.close()


async def test_a_second_read_of_what_was_cleared_brings_the_content(tmp_path: Path) -> None:
    steps = [look(0, 40, "first"), *(look(n, 40) for n in range(1, 6)), look(0, 40, "first")]
    steps[-1] = calls(("again", "look", {"text": "0 first", "times": 40}))
    model, _ = counting(*steps)
    policy = small(50_000, rule=MicroRule.EVERY_TURN, preserve_tools=frozenset())
    rig = Rig(tmp_path, model, policy=policy)
    session = await rig.open()
    await read(session.submit("look"))
    shown = [b.text for m in model.requests[-1].messages for b in m.tool_results]
    assert shown[0].startswith("[Previous: used look")
    assert shown[-1] == "0 first" * 40
    await session.close()


async def test_requests_share_their_beginning_but_where_an_edit_was_announced(
    tmp_path: Path,
) -> None:
    """An endpoint that shows cache reads: what was sent once is sent again as it was."""

    def answer(request: ModelRequest) -> Answer:
        number = len(model.requests)
        if number % 3 == 0:
            return says("ok", usage=_cached(request))
        use = (f"t{number}", "look", {"text": f"{number} {PARAGRAPH}", "times": 30})
        return calls(use, usage=_cached(request))

    model = ScriptedModel([answer] * 80)
    rig = Rig(tmp_path, model, policy=whole(small(60_000, rule=MicroRule.AUTO)))
    session = await rig.open()
    edits = []
    for turn in range(20):
        events = await read(session.submit(f"turn {turn}"))
        edits += [e for e in of(events, Compacted) if e.report.outcome is Outcome.APPLIED]
    broken = sum(
        not _begins(later.messages, earlier.messages)
        for earlier, later in zip(model.requests, model.requests[1:], strict=False)
    )
    assert len(model.requests) >= 55
    assert broken <= len(edits) <= 3
    await session.close()


def _cached(request: ModelRequest) -> Usage:
    size = len(str(request.messages)) // 3 + 500
    return Usage(input=size // 10, cache_read=size - size // 10, output=50)


def _begins(later: tuple[Message, ...], earlier: tuple[Message, ...]) -> bool:
    return all(
        a.content == b.content[: len(a.content)] for a, b in zip(earlier, later, strict=False)
    )


@pytest.mark.parametrize("seconds", [70, 100])
def test_a_slow_summary_has_all_the_time_it_needs_while_it_is_alive(
    tmp_path: Path, seconds: int
) -> None:
    class Slow(Brain):
        def __call__(self, received: Received) -> Reply:
            if received.method == "GET" or not is_summary_call(received.json):
                return super().__call__(received)
            self.bodies.append(received.json)
            gate = asyncio.Event()
            asyncio.get_running_loop().call_later(seconds, gate.set)
            return Reply(
                [sse.start(), sse.text(0, SUMMARY) + sse.stop("end_turn") + sse.end()], gate=gate
            )

    async def check() -> None:
        async with bench(tmp_path, Slow(), policy=small(50_000)) as desk:
            for text in ("tell me", "and more", "still more", "the rest"):
                await desk.run(text)
            events = [event async for event in desk.session.compact()]
            (report,) = [e.report for e in of(events, Compacted)]
            assert report.outcome is Outcome.APPLIED and report.method == "summary"
            assert report.layer is Layer.MANUAL
            assert sum(map(is_summary_call, desk.brain.bodies)) == 1

    run_fast(check())


async def test_the_first_act_after_a_resume_can_be_a_compaction(tmp_path: Path) -> None:
    model, asked = counting(*(look(n, 2_000) for n in range(4)))
    rig = Rig(tmp_path, model, policy=whole(small(500_000, rule=MicroRule.OFF)), window=1_000_000)
    session = await rig.open()
    await read(session.submit("look at it all"))
    name, used = session.name, session.budget.used
    await session.close()
    session = await rig.open(name)
    assert session.budget.used > 90_000
    assert session.budget.used == pytest.approx(used, rel=0.1)
    events = await read(session.compact())
    (report,) = [e.report for e in of(events, Compacted)]
    assert report.outcome is Outcome.APPLIED and report.after < report.before
    assert len(asked) == 1
    await session.close()
