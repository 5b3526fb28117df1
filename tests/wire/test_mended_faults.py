"""What a changed request mends: sent again once, remembered, told; and a fault that stays is told and blocks nothing."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.core.effects import Effects
from app.core.events import Compacted, ErrorRaised, Notice, RetryWaiting, TurnEnd
from app.core.messages import Image, Text
from app.core.ports import ToolOutcome
from app.core.reports import Layer, Outcome
from tests.agent.rig import Handy, ended, of, small
from tests.fakes.fast_time import run_fast
from tests.wire import sse
from tests.wire.bench import AGAIN, TASK, Bench, Brain, bench, last_text
from tests.wire.server import Reply, error_reply, json_reply

Is = Callable[[Any], bool]
"""Whether a request's body is one that the endpoint refuses."""


class Picky(Brain):
    """Refuses every request that is of a kind."""

    def __init__(self, refuses: Is, reply: Reply) -> None:
        super().__init__()
        self.refuses, self.refusal = refuses, reply
        self.refused = 0

    def _good(self, body: Any) -> Reply:
        if self.refuses(body):
            self.refused += 1
            return self.refusal
        return super()._good(body)


def bad(message: str, status: int = 400) -> Reply:
    return error_reply(status, "invalid_request_error", message)


def picture(data: bytes = b"a picture") -> Image:
    encoded = base64.b64encode(data).decode()
    source = {"type": "base64", "media_type": "image/png", "data": encoded}
    return Image({"type": "image", "source": source})


def shows(*pictures: Image) -> Handy:
    """A tool whose nth call returns the nth picture."""
    left = list(pictures)
    return Handy(
        "write",
        lambda _arguments, _emit: ToolOutcome(
            (Text("a picture:"), left.pop(0)), Effects(outcome="shown")
        ),
    )


def has_picture(body: Any) -> bool:
    return '"type": "image"' in json.dumps(body["messages"])


@pytest.mark.parametrize(
    ("reply", "for_good"),
    [
        (bad("messages.2.content.0.image.source.base64: image exceeds 5 MB maximum"), False),
        (bad("Could not process image"), False),
        (bad("image dimensions exceed max allowed size: 8000 pixels", 413), False),
        (bad("scripted does not support image input"), True),
        (json_reply({"error": {"message": "image input is not supported"}}, 500), True),
        (json_reply({"error": {"message": "No endpoints that support image input"}}, 404), True),
        (
            json_reply({"detail": [{"loc": ["body", "messages", 2, "image"], "msg": "bad"}]}, 422),
            False,
        ),
        (Reply([sse.error("invalid_request_error", "Could not process image")]), False),
    ],
)
def test_a_refused_picture_is_left_out_and_the_session_goes_on(
    reply: Reply, for_good: bool, tmp_path: Path
) -> None:
    async def check() -> None:
        brain = Picky(has_picture, reply)
        tool = shows(picture(b"one"), picture(b"two"))
        async with bench(tmp_path, brain, tools=(tool,)) as desk:
            events = await desk.run(TASK)
            assert ended(events).end is TurnEnd.DONE, of(events, ErrorRaised)
            assert of(events, RetryWaiting) == []
            assert brain.refused == 1
            (notice,) = of(events, Notice)
            assert "picture" in notice.text and notice.warning
            assert "[image left out: " in json.dumps(brain.bodies[-1])
            await still_works(desk)
            assert brain.refused == 1
            events = await desk.run(f"{TASK} again")
            assert ended(events).end is TurnEnd.DONE
            assert brain.refused == (1 if for_good else 2)
            record = (tmp_path / desk.session.transcript).read_text()
            assert record.count('"type":"image"') + record.count('"type": "image"') == 2

    run_fast(check())


def test_only_the_picture_that_the_refusal_names_is_left_out(tmp_path: Path) -> None:
    broken = picture(b"broken")

    def refuses(body: Any) -> bool:
        return str(broken.raw["source"]["data"]) in json.dumps(body)

    async def check() -> None:
        brain = Picky(refuses, bad("messages.6.content.1.image.source: Could not process image"))
        async with bench(tmp_path, brain, tools=(shows(picture(), broken),)) as desk:
            await desk.run(TASK)
            await desk.run(f"{TASK} again")
            assert brain.refused == 1
            text = json.dumps(brain.bodies[-1])
            assert text.count('"type": "image"') == 1
            assert str(picture().raw["source"]["data"]) in text

    run_fast(check())


def test_a_body_that_its_pictures_make_too_large_goes_without_them(tmp_path: Path) -> None:
    async def check() -> None:
        brain = Picky(has_picture, Reply([b"<title>413 Too Large</title>"], 413))
        async with bench(tmp_path, brain, tools=(shows(picture(b"x" * 200_000)),)) as desk:
            events = await desk.run(TASK)
            assert ended(events).end is TurnEnd.DONE, of(events, ErrorRaised)
            assert brain.refused == 1
            await still_works(desk)

    run_fast(check())


FIELDS = {
    "cache_control": lambda body: "cache_control" in json.dumps(body),
}


@pytest.mark.parametrize(
    "reply",
    [
        bad("system.0.cache_control: Extra inputs are not permitted"),
        json_reply({"detail": [{"loc": ["body", "cache_control"], "msg": "extra forbidden"}]}, 422),
        json_reply({"error": "unknown field: cache_control"}, 400),
    ],
)
def test_a_field_the_endpoint_does_not_know_is_left_out_once_and_for_all(
    reply: Reply, tmp_path: Path
) -> None:
    async def check() -> None:
        brain = Picky(FIELDS["cache_control"], reply)
        async with bench(tmp_path, brain) as desk:
            events = await desk.run(TASK)
            assert ended(events).end is TurnEnd.DONE
            (notice,) = of(events, Notice)
            assert "cache_control" in notice.text
            await still_works(desk)
            assert brain.refused == 1

    run_fast(check())


TOO_LONG = [
    bad("prompt is too long: 9000 tokens > 8000 maximum"),
    bad("input length and max_tokens exceed context limit: 9000 + 800 > 8000"),
    error_reply(413, "request_too_large", "Request exceeds the maximum size"),
    Reply([b"<html><title>413 Too Large</title></html>"], 413, {"content-type": "text/html"}),
    json_reply(
        {"error": {"type": "exceed_context_size_error", "message": "x", "n_ctx": 8000}}, 400
    ),
    error_reply(500, "api_error", "the request exceeds the available context size"),
    Reply([sse.error("invalid_request_error", "prompt is too long: 9000 tokens > 8000 maximum")]),
    Reply(
        [
            sse.start(usage={"input_tokens": 9_000, "output_tokens": 1})
            + sse.text(0, "as far as")
            + sse.stop("model_context_window_exceeded")
            + sse.end()
        ]
    ),
]


def is_long(body: Any) -> bool:
    return len(json.dumps(body["messages"])) > 14_000 and "compressed" not in json.dumps(
        body["messages"][-1]
    )


@pytest.mark.parametrize("reply", TOO_LONG)
def test_a_conversation_too_long_is_compacted_once_and_sent_again(
    reply: Reply, tmp_path: Path
) -> None:
    async def check() -> None:
        brain = Picky(is_long, reply)
        async with bench(tmp_path, brain, policy=small(40_000)) as desk:
            for text in ("one", "two", "three"):
                events = await desk.run(text)
            assert ended(events).end is TurnEnd.DONE, of(events, ErrorRaised)
            assert brain.refused == 1
            assert [e.report.outcome for e in of(events, Compacted)] == [Outcome.APPLIED]
            await desk.run(TASK)
            assert brain.refused == 1
            await still_works(desk)

    run_fast(check())


@pytest.mark.parametrize("reply", TOO_LONG)
def test_an_endpoint_that_finds_everything_too_long_is_asked_a_few_times_and_told(
    reply: Reply, tmp_path: Path
) -> None:
    async def check() -> None:
        brain = Picky(lambda body: True, reply)
        async with bench(tmp_path, brain, policy=small(40_000)) as desk:
            brain.refuses = lambda body: False
            for text in ("one", "two", "three"):
                await desk.run(text)
            brain.refuses = lambda body: True
            before = desk.posts()
            events = await desk.run(TASK)
            assert ended(events).end in (TurnEnd.FAILED, TurnEnd.CUT)
            assert desk.posts() - before <= 8
            assert desk.ran == []
            for error in of(events, ErrorRaised):
                assert "too long" in error.message or "window" in error.message
                assert "/compact" in error.hint or "/clear" in error.hint
            assert of(events, ErrorRaised) or any(n.warning for n in of(events, Notice))
            brain.refuses = lambda body: False
            await still_works(desk, calm=False)

    run_fast(check())


def has_thinking(body: Any) -> bool:
    return '"type": "thinking"' in json.dumps(body["messages"])


@pytest.mark.parametrize(
    "words",
    [
        "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation",
        "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified",
    ],
)
def test_signed_thinking_that_is_refused_is_left_out_for_good(words: str, tmp_path: Path) -> None:
    class Thinker(Picky):
        def _good(self, body: Any) -> Reply:
            reply = super()._good(body)
            if reply is self.refusal or last_text(body) != "think":
                return reply
            thought = sse.block_start(0, type="thinking", thinking="", signature="")
            thought += sse.delta(0, "signature_delta", signature="abc") + sse.block_stop(0)
            return Reply([sse.start() + thought + sse.text(1, "so") + sse.stop() + sse.end()])

    async def check() -> None:
        brain = Thinker(has_thinking, bad(words))
        async with bench(tmp_path, brain) as desk:
            await desk.run("think")
            events = await desk.run(TASK)
            assert ended(events).end is TurnEnd.DONE, of(events, ErrorRaised)
            assert brain.refused == 1
            assert any("thinking" in notice.text for notice in of(events, Notice))
            await still_works(desk)
            assert brain.refused == 1

    run_fast(check())


def test_a_signature_refusal_without_any_thinking_is_told_and_does_not_loop(tmp_path: Path) -> None:
    words = "Invalid `signature` in `thinking` block"

    async def check() -> None:
        brain = Picky(lambda body: True, bad(words))
        async with bench(tmp_path, brain) as desk:
            events = await desk.run(TASK)
            (error,) = of(events, ErrorRaised)
            assert "thinking" in error.message and error.hint
            assert desk.posts() <= 2
            brain.refuses = lambda body: False
            await still_works(desk)

    run_fast(check())


async def still_works(desk: Bench, *, calm: bool = True) -> None:
    events = await desk.run(AGAIN)
    assert ended(events).end is TurnEnd.DONE, of(events, ErrorRaised)
    assert desk.brain.problems == []
    assert not calm or not any(e.report.layer is Layer.AUTO for e in of(events, Compacted))


def test_one_refusal_for_size_that_nothing_confirms_changes_no_window(tmp_path: Path) -> None:
    """A proxy may refuse a small request by mistake: the session must not be cramped for ever."""

    async def check() -> None:
        brain = Picky(lambda body: True, error_reply(413, "request_too_large", "too large"))
        async with bench(tmp_path, brain) as desk:
            before = desk.session.budget
            await desk.run(TASK)
            brain.refuses = lambda body: False
            await still_works(desk)
            after = desk.session.budget
            assert (after.window, after.threshold) == (before.window, before.threshold)

    run_fast(check())


def test_what_is_mended_in_a_summary_call_is_told_too(tmp_path: Path) -> None:
    async def check() -> None:
        brain = Picky(lambda body: False, Reply())
        async with bench(tmp_path, brain, policy=small(40_000)) as desk:
            for text in ("one", "two", "three"):
                await desk.run(text)
            brain.refuses = lambda body: "cache_control" in json.dumps(body)
            brain.refusal = bad("system.0.cache_control: Extra inputs are not permitted")
            events = [event async for event in desk.session.compact()]
            assert any("cache_control" in notice.text for notice in of(events, Notice))
            await still_works(desk)

    run_fast(check())
