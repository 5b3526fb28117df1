"""The model adapter over a real socket: what it sends, what it makes of answers, how it is cancelled."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import pytest

from app.adapters.anthropic_model import AnthropicModel
from app.adapters.retry import RetryPolicy
from app.core.budget import Usage
from app.core.messages import Message, Opaque, Text, Thinking, ToolUse
from app.core.requests import Answer, CallDelta, InputCounted, StopReason, TextDelta, ThinkingDelta
from app.errors import Rejected
from tests.wire import sse
from tests.wire.ask import REQUEST, ask
from tests.wire.server import Reply, json_reply, pieces, unused_port, wire_server
from tests.wire.transport import ScriptedTransport

SIGNATURE = "EqQBCgIYAhIkMGVm+/=="
FULL = (
    sse.start(usage={"input_tokens": 12, "cache_read_input_tokens": 90_000, "output_tokens": 1})
    + sse.block_start(0, type="thinking", thinking="", signature="")
    + sse.delta(0, "thinking_delta", thinking="let me ")
    + sse.delta(0, "thinking_delta", thinking="see — 看")
    + sse.delta(0, "signature_delta", signature=SIGNATURE)
    + sse.block_stop(0)
    + sse.event({"type": "ping"})
    + sse.block_start(1, type="redacted_thinking", data="b64==")
    + sse.block_stop(1)
    + sse.text(2, "I read ", "the file: ✓")
    + sse.call(3, "read_file", '{"pa', 'th": "ä', '.py"}')
    + sse.stop(
        "tool_use",
        usage={"input_tokens": 12, "cache_creation_input_tokens": 7, "output_tokens": 44},
    )
    + sse.end()
)


@pytest.mark.parametrize("size", [7, 3, 10_000])
async def test_thinking_text_and_a_call_arrive_whole_whatever_the_chunks(size):
    async with wire_server(Reply(pieces(FULL, size))) as server:
        asked = await ask(server.url)
    assert asked.answer == Answer(
        Message(
            "assistant",
            (
                Thinking(
                    {"type": "thinking", "thinking": "let me see — 看", "signature": SIGNATURE}
                ),
                Thinking({"type": "redacted_thinking", "data": "b64=="}),
                Text("I read the file: ✓"),
                ToolUse("toolu_1", "read_file", {"path": "ä.py"}),
            ),
        ),
        Usage(input=12, cache_read=90_000, cache_write=7, output=44),
        StopReason.TOOL_USE,
        "tool_use",
        "claude-opus-5-5",
    )
    assert asked.text == "I read the file: ✓"
    assert (
        "".join(e.text for e in asked.events if isinstance(e, ThinkingDelta)) == "let me see — 看"
    )
    calls = [e for e in asked.events if isinstance(e, CallDelta)]
    assert calls[0] == CallDelta("toolu_1", "read_file", 0)
    assert calls[-1] == CallDelta("toolu_1", "read_file", len('{"path": "ä.py"}'))


async def test_text_is_yielded_before_the_answer_ends():
    gate = asyncio.Event()
    body = (
        sse.start()
        + sse.block_start(0, type="text", text="")
        + sse.delta(0, "text_delta", text="first")
    )
    rest = sse.delta(0, "text_delta", text=" second") + sse.block_stop(0) + sse.stop() + sse.end()
    async with wire_server(Reply([body, rest], gate=gate)) as server:
        model = AnthropicModel(base_url=server.url)
        stream = model.stream(REQUEST)
        assert isinstance(await anext(stream), InputCounted)
        assert await anext(stream) == TextDelta("first")
        gate.set()
        assert [e async for e in stream][-1].message.text == "first second"
        await model.close()


async def test_the_answer_counts_when_message_stop_came_even_if_the_body_is_never_ended():
    async with wire_server(Reply([sse.answer("done")], ending="open")) as server:
        asked = await ask(server.url)
    assert asked.answer.message.text == "done"
    assert not asked.waits


async def test_the_connection_is_used_again():
    async with wire_server(Reply([sse.answer()])) as server:
        model = AnthropicModel(base_url=server.url)
        for _ in range(3):
            assert [e async for e in model.stream(REQUEST)][-1].message.text == "OK"
        await model.close()
    assert server.connections == 1


async def test_closing_the_iterator_closes_the_connection():
    async with wire_server(Reply([sse.start() + sse.text(0, "one")], ending="stall")) as server:
        model = AnthropicModel(base_url=server.url)
        stream = model.stream(REQUEST)
        assert [await anext(stream), await anext(stream)][1] == TextDelta("one")
        await stream.aclose()
        await asyncio.wait_for(server.client_gone.wait(), 5)
        await model.close()


async def test_cancelling_the_task_closes_the_connection_and_the_model_can_be_asked_again():
    stalled = Reply([sse.start() + sse.text(0, "one")], ending="stall")
    async with wire_server(stalled, Reply([sse.answer("again")])) as server:
        model = AnthropicModel(base_url=server.url)
        seen = asyncio.Event()

        async def read() -> None:
            async for _ in model.stream(REQUEST):
                seen.set()

        task = asyncio.create_task(read())
        await seen.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.client_gone.wait(), 5)
        assert [e async for e in model.stream(REQUEST)][-1].message.text == "again"
        await model.close()


async def test_a_cancel_during_the_pause_before_a_retry_sends_nothing_more():
    async with wire_server(Reply(status=529)) as server:
        waiting = asyncio.Event()

        async def sleep(_: float) -> None:
            waiting.set()
            await asyncio.Event().wait()

        model = AnthropicModel(base_url=server.url, sleep=sleep)

        async def read() -> None:
            async for _ in model.stream(REQUEST):
                pass

        task = asyncio.create_task(read())
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await model.close()
    assert len(server.requests) == 1


async def test_the_same_request_is_sent_as_the_same_bytes():
    async with wire_server(Reply([sse.answer()])) as server:
        await ask(server.url)
        await ask(server.url)
    first, second = server.requests
    assert first.body == second.body
    assert first.path == "/v1/messages"


async def test_environment_headers_and_credentials_stay_out(monkeypatch, tmp_path):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-from-environment")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-from-environment")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("ANTHROPIC_PROFILE", "work")
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "x-leak: yes\nAuthorization: Bearer leaked")
    async with wire_server(Reply([sse.answer()])) as server:
        await ask(server.url, api_key="sk-mine")
        await ask(server.url, api_key=None)
    mine, local = (request.headers for request in server.requests)
    assert mine["authorization"] == "Bearer sk-mine"
    assert mine["x-api-key"] == "sk-mine"
    assert local["authorization"] == "Bearer local"
    assert "x-leak" not in mine | local
    assert "environment" not in str(mine | local)


async def test_the_official_host_gets_the_key_once_and_a_token_goes_alone():
    transport = ScriptedTransport(Reply([sse.answer()]))
    for options in (
        {"api_key": "sk-k"},
        {"api_key": None, "auth_token": "tok"},
        {"auth_token": "tok"},
    ):
        await ask("https://api.anthropic.com", transport=transport, **options)
    key, token, both = (request.headers for request in transport.requests)
    assert key["authorization"] == "Bearer sk-k"
    assert token["authorization"] == "Bearer tok"
    assert both["authorization"] == "Bearer sk-test-1", "the key wins over the token"
    assert not any("x-api-key" in headers for headers in (key, token, both))


async def test_without_a_base_url_the_official_api_is_called_and_an_empty_one_is_no_address():
    transport = ScriptedTransport(Reply([sse.answer()]))
    await ask(None, transport=transport)
    await ask("", transport=transport)
    assert transport.urls == ["https://api.anthropic.com/v1/messages"] * 2


async def test_a_path_in_the_base_url_is_kept():
    transport = ScriptedTransport(Reply([sse.answer()]))
    await ask("https://gateway.test/api/anthropic/", transport=transport)
    assert transport.urls == ["https://gateway.test/api/anthropic/v1/messages"]
    assert transport.requests[0].headers["x-api-key"] == "sk-test-1"


@pytest.mark.parametrize("key", ["sk with blank", "sk-one\nsk-two", "sk-schlüssel"])
async def test_a_key_that_cannot_be_one_is_told_before_anything_is_sent(key):
    transport = ScriptedTransport(Reply([sse.answer()]))
    asked = await ask("https://gateway.test", transport=transport, api_key=key)
    assert isinstance(asked.error, Rejected)
    assert "blank" in str(asked.error)
    assert key not in str(asked.error)
    assert "ANTHROPIC_API_KEY" in asked.error.hint
    assert not transport.requests


async def test_a_line_break_after_the_key_does_no_harm():
    transport = ScriptedTransport(Reply([sse.answer()]))
    await ask("https://gateway.test", transport=transport, api_key="sk-1\n")
    assert transport.requests[0].headers["authorization"] == "Bearer sk-1"


async def test_no_key_for_a_foreign_host_names_the_variables():
    asked = await ask("https://gateway.test", api_key=None)
    assert isinstance(asked.error, Rejected)
    assert "ANTHROPIC_API_KEY" in asked.error.hint


async def test_a_proxy_in_the_environment_is_not_used_for_this_machine(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    async with wire_server(Reply([sse.answer()])) as server:
        assert (await ask(server.url)).answer.message.text == "OK"


async def test_a_numbered_address_of_this_machine_is_called(monkeypatch):
    for url in (f"http://[::1]:{unused_port()}", f"http://127.0.0.9:{unused_port()}"):
        asked = await ask(url, api_key=None, retry=RetryPolicy(attempts=1))
        assert "Nothing listens" in str(asked.error)


def test_a_debug_log_asked_for_in_the_environment_stays_off_the_terminal():
    code = """
import asyncio
from tests.wire import sse
from tests.wire.ask import ask
from tests.wire.server import Reply
from tests.wire.transport import ScriptedTransport
asyncio.run(ask("http://gateway.test", transport=ScriptedTransport(Reply([sse.answer()]))))
"""
    environment = {**os.environ, "ANTHROPIC_LOG": "debug"}
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, env=environment
    )
    assert run.stderr == b""


async def test_a_deprecated_model_and_odd_fields_print_nothing(capfd, recwarn):
    body = sse.start(model="claude-sonnet-4-5") + sse.block_start(
        0, type="tool_use", id="t", name="x", input=""
    )
    body += (
        sse.block_stop(0)
        + sse.block_start(1, type="brand_new", payload={"a": 1})
        + sse.block_stop(1)
    )
    async with wire_server(Reply([body + sse.stop("tool_use") + sse.end()])) as server:
        asked = await ask(server.url)
    assert asked.answer.message.content == (
        ToolUse("t", "x", {}),
        Opaque({"type": "brand_new", "payload": {"a": 1}}),
    )
    assert capfd.readouterr() == ("", "")
    assert not recwarn.list


async def test_the_list_of_models_is_read_over_pages_and_remembered():
    first = {"data": [{"id": "m1", "max_input_tokens": 1_000}], "has_more": True, "last_id": "m1"}
    second = {"data": [{"id": "m2", "display_name": "Two", "max_tokens": 64}], "has_more": False}
    async with wire_server(json_reply(first), json_reply(second)) as server:
        model = AnthropicModel(base_url=server.url)
        names = [info.id for info in await model.models()]
        assert (await model.info("m2")).max_output == 64
        assert (await model.info("m1")).window == 1_000
        assert await model.info("m3") is None
        await model.close()
    assert names == ["m1", "m2"]
    assert [r.path for r in server.requests] == [
        "/v1/models?limit=1000",
        "/v1/models?limit=1000&after_id=m1",
    ]


async def test_one_model_is_asked_for_by_its_quoted_id():
    async with wire_server(json_reply({"id": "a/b", "max_input_tokens": 9_000})) as server:
        model = AnthropicModel(base_url=server.url)
        assert (await model.info("a/b")).window == 9_000
        await model.close()
    assert server.requests[0].path == "/v1/models/a%2Fb"


@pytest.mark.parametrize(
    "reply",
    [
        json_reply({"error": "no"}, 404),
        json_reply([1]),
        json_reply({"data": "x"}),
        Reply([b"<html>"]),
        Reply([b""]),
    ],
)
async def test_an_endpoint_without_a_list_has_no_models_and_no_error(reply):
    async with wire_server(reply) as server:
        model = AnthropicModel(base_url=server.url)
        assert await model.models() == ()
        assert await model.info("m") is None
        known = await model.info("claude-opus-4-5")
        assert (known.max_output, known.window) == (
            64_000,
            None,
        )  # the answer's limit is the table's
        await model.close()


async def test_an_unreachable_endpoint_has_no_models_and_no_error():
    model = AnthropicModel(base_url="http://127.0.0.1:1")
    assert await model.models() == ()
    await model.close()


def test_importing_the_module_imports_no_sdk():
    code = "import sys, app.adapters.anthropic_model; sys.exit(any(m in sys.modules for m in ('anthropic', 'httpx2')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
