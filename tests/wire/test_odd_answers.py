"""Answers that are whole and odd: each is taken for what it is, told where needed, and the next request is valid."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.core.events import ErrorRaised, Notice, RetryWaiting, ToolFinished, TurnEnd
from tests.agent.rig import ended, of
from tests.fakes.fast_time import run_fast
from tests.wire import sse
from tests.wire.bench import AGAIN, PRICE, TASK, Bench, Brain, bench
from tests.wire.server import Reply, json_reply

DONE = sse.end()
STEP = '{"command": "step"}'


class Script(Brain):
    """Gives these replies first, and good ones after them; remembers after which one the model had paused."""

    def __init__(self, *replies: Reply) -> None:
        super().__init__()
        self.script = list(replies)

    def _good(self, body: Any) -> Reply:
        if not self.script:
            self.paused = False
            return super()._good(body)
        reply = self.script.pop(0)
        self.paused = b"pause_turn" in b"".join(reply.chunks)
        return reply


def sent(*parts: bytes, reason: str = "end_turn", **stop: Any) -> Reply:
    return Reply([sse.start() + b"".join(parts) + sse.stop(reason, **stop) + DONE])


async def goes_on(desk: Bench) -> None:
    events = await desk.run(AGAIN)
    assert ended(events).end is TurnEnd.DONE, of(events, ErrorRaised)
    assert desk.brain.problems == []


def trial(
    tmp_path: Path, *replies: Reply, text: str = TASK
) -> Callable[[Callable[[Bench, list[Any]], None]], None]:
    """Run a turn on a script; the decorated function checks what came of it, and the session must go on."""

    def with_check(check: Callable[[Bench, list[Any]], None]) -> None:
        async def work() -> None:
            async with bench(tmp_path, Script(*replies)) as desk:
                check(desk, await desk.run(text))
                await goes_on(desk)

        run_fast(work())

    return with_check


def warned(events: list[Any], *words: str) -> None:
    """One warning holds all of the words."""
    notices = [notice.text for notice in of(events, Notice) if notice.warning]
    assert any(all(word in notice for word in words) for notice in notices), notices


def test_a_refusal_is_shown_with_its_reason_and_stays_out_of_the_conversation(
    tmp_path: Path,
) -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "not that"}
    reply = sent(sse.text(0, "I will not"), reason="refusal", stop_details=details)

    @trial(tmp_path, reply)
    def check(desk: Bench, events: list[Any]) -> None:
        assert ended(events).end is TurnEnd.REFUSED
        warned(events, "refused", "not that")
        assert "I will not" not in json.dumps(
            [m.text for m in desk.session.conversation.view().messages]
        )


def test_a_refusal_that_holds_a_call_runs_nothing(tmp_path: Path) -> None:
    @trial(tmp_path, sent(sse.call(0, "write", STEP), reason="refusal"))
    def check(desk: Bench, events: list[Any]) -> None:
        assert ended(events).end is TurnEnd.REFUSED
        assert desk.ran == []


def test_a_paused_turn_goes_on_from_its_own_words(tmp_path: Path) -> None:
    pause = sent(sse.text(0, "so far"), reason="pause_turn")

    @trial(tmp_path, pause, pause, sent(sse.text(0, "and done")))
    def check(desk: Bench, events: list[Any]) -> None:
        assert ended(events).end is TurnEnd.DONE
        assert desk.posts() == 3
        assert desk.brain.bodies[1]["messages"][-1]["role"] == "assistant"


def test_a_model_that_only_pauses_is_asked_six_times_and_told(tmp_path: Path) -> None:
    pause = sent(sse.text(0, "so far"), reason="pause_turn")

    @trial(tmp_path, *[pause] * 6)
    def check(desk: Bench, events: list[Any]) -> None:
        assert desk.posts() == 6
        warned(events, "paused", "go on")
        desk.brain.paused = False


def test_text_cut_at_the_output_limit_is_told_with_a_way_to_go_on(tmp_path: Path) -> None:
    @trial(tmp_path, sent(sse.text(0, "half a"), reason="max_tokens"))
    def check(desk: Bench, events: list[Any]) -> None:
        assert ended(events).end is TurnEnd.CUT
        warned(events, "output limit", "go on")


@pytest.mark.parametrize("piece", ['{"command": "ghost"', '{"command": "ghost"}', ""])
def test_a_call_cut_at_the_output_limit_never_runs_and_the_model_is_told(
    piece: str, tmp_path: Path
) -> None:
    @trial(tmp_path, sent(sse.call(0, "write", piece, id_="toolu_cut"), reason="max_tokens"))
    def check(desk: Bench, events: list[Any]) -> None:
        assert desk.ran == []
        (finished,) = of(events, ToolFinished)
        assert not finished.ok
        last = desk.brain.bodies[1]["messages"][-1]["content"][0]
        assert last["type"] == "tool_result" and "not run" in json.dumps(last)
        assert ended(events).end is TurnEnd.DONE


def test_equal_ids_in_one_answer_become_different_ones_and_each_call_runs_once(
    tmp_path: Path,
) -> None:
    calls = [sse.call(n, "write", f'{{"command": "{n}"}}', id_="call_0") for n in range(3)]

    @trial(tmp_path, sent(*calls, reason="tool_use"))
    def check(desk: Bench, events: list[Any]) -> None:
        assert desk.ran == ["0", "1", "2"]
        assert len({event.call_id for event in of(events, ToolFinished)}) == 3


def test_an_id_that_an_earlier_answer_had_becomes_another(tmp_path: Path) -> None:
    replies = [
        sent(sse.call(0, "write", f'{{"command": "{n}"}}', id_="call_0"), reason="tool_use")
        for n in range(3)
    ]

    @trial(tmp_path, *replies)
    def check(desk: Bench, events: list[Any]) -> None:
        assert desk.ran == ["0", "1", "2"]
        assert len({event.call_id for event in of(events, ToolFinished)}) == 3
        assert desk.brain.problems == []


@pytest.mark.parametrize(
    "parts",
    [(), (sse.text(0, ""),), (sse.text(0, "  \n"),), (sse.block_start(0, type="text", text=""),)],
    ids=["no blocks", "empty text", "blanks", "no stop of the block"],
)
def test_an_empty_answer_is_told_and_leaves_nothing_behind(
    parts: tuple[bytes, ...], tmp_path: Path
) -> None:
    @trial(tmp_path, sent(*parts))
    def check(desk: Bench, events: list[Any]) -> None:
        assert ended(events).end is TurnEnd.DONE
        warned(events, "empty answer", "/retry")


@pytest.mark.parametrize(
    "body",
    [
        sse.start() + sse.text(3, "in ") + sse.text(7, "order") + sse.stop() + DONE,
        sse.start()
        + sse.event({"type": "news", "x": 1})
        + sse.text(0, "in ", "order")
        + sse.delta(0, "odd_delta", x=1)
        + sse.stop()
        + DONE,
        sse.start() + sse.delta(0, "text_delta", text="in order") + sse.stop() + DONE,
        sse.answer("in order").replace(b"event: ", b": "),
        sse.answer("in order").replace(b"\n\n", b"\r\n\r\n"),
        b"event: ping\ndata: {}\n\n: hello\n\n" + sse.answer("in order"),
        sse.answer("in order") + b"data: [DONE]\n\n",
        b"\xef\xbb\xbf" + sse.answer("in order"),
    ],
    ids=["gaps", "unknown", "no start", "no names", "crlf", "pings", "done", "bom"],
)
def test_a_stream_with_oddities_is_read(body: bytes, tmp_path: Path) -> None:
    @trial(tmp_path, Reply([body]))
    def check(desk: Bench, events: list[Any]) -> None:
        assert ended(events).end is TurnEnd.DONE
        assert ended(events).text == "in order"
        assert of(events, RetryWaiting) == []


def test_an_unknown_block_goes_back_as_it_came(tmp_path: Path) -> None:
    odd = sse.block_start(0, type="hologram", beam="green") + sse.block_stop(0)

    @trial(tmp_path, sent(odd, sse.text(1, "look")))
    def check(desk: Bench, events: list[Any]) -> None:
        assert ended(events).end is TurnEnd.DONE
        view = desk.session.conversation.view().messages[-1]
        assert view.content[0].raw == {"type": "hologram", "beam": "green"}  # type: ignore[union-attr]


def test_an_answer_as_one_json_object_is_taken(tmp_path: Path) -> None:
    whole = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "a", "name": "write", "input": {"command": "step"}}],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }

    @trial(tmp_path, json_reply(whole))
    def check(desk: Bench, events: list[Any]) -> None:
        assert desk.ran == ["step"]
        assert ended(events).end is TurnEnd.DONE


def test_an_unknown_stop_reason_is_told_and_no_call_of_it_runs(tmp_path: Path) -> None:
    @trial(tmp_path, sent(sse.call(0, "write", STEP), reason="solar_eclipse"))
    def check(desk: Bench, events: list[Any]) -> None:
        assert desk.ran == []
        warned(events, "solar_eclipse")


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ({}, {}),
        ({"input_tokens": 0, "output_tokens": 0}, {}),
        ({"input_tokens": None}, {"output_tokens": None}),
    ],
    ids=["none", "zero", "null"],
)
def test_an_answer_without_token_counts_is_counted_by_an_estimate(
    first: dict[str, Any], last: dict[str, Any], tmp_path: Path
) -> None:
    body = sse.start(usage=first) + sse.text(0, "word " * 400) + sse.stop(usage=last) + DONE

    async def check() -> None:
        async with bench(tmp_path, Script(Reply([body]))) as desk:
            before = desk.session.budget.used
            events = await desk.run("say much")
            usage = desk.session.usage
            assert ended(events).usage == usage
            assert before < usage.input < 2 * before
            assert 200 < usage.output < 1_000
            assert desk.session.cost == pytest.approx(PRICE.of(usage))
            assert not desk.session.budget.measured
            assert desk.session.requests == 1
            await goes_on(desk)
            assert desk.session.usage == usage + desk.brain.billed

    run_fast(check())
