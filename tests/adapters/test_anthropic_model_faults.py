"""What goes wrong on the wire: each fault is retried or told in plain words, and never taken for an answer."""

from __future__ import annotations

import asyncio
import dataclasses
import ssl

import pytest

from app.adapters.anthropic_model import AnthropicModel
from app.adapters.connection_errors import ConnectionFailed, Reach
from app.adapters.endpoint import Endpoint
from app.adapters.endpoint_errors import Call
from app.adapters.retry import RetryPolicy
from app.core.messages import Message, Text, Thinking, ToolUse, user
from app.core.requests import Answer, FieldDropped, StopReason
from app.errors import (
    Busy,
    ContextOverflow,
    NotMessagesApi,
    Rejected,
    SignatureRejected,
    StreamBroken,
)
from tests.wire import sse
from tests.wire.ask import REQUEST, ask
from tests.wire.server import Reply, error_reply, json_reply, unused_port, wire_server
from tests.wire.transport import ScriptedTransport

HALF = (
    sse.start() + sse.block_start(0, type="text", text="") + sse.delta(0, "text_delta", text="half")
)
GOOD = Reply([sse.answer("whole")])
HTML = {"content-type": "text/html"}


@pytest.mark.parametrize("ending", ["cut", "close", "reset", "stall"])
async def test_an_answer_that_breaks_off_is_tried_again_and_its_text_is_void(ending):
    async with wire_server(Reply([HALF], ending=ending), GOOD) as server:
        asked = await ask(server.url, silence=0.3)
    assert asked.answer.message.text == "whole"
    assert asked.text == "whole"
    (wait,) = asked.waits
    assert (wait.attempt, wait.attempts, wait.seconds) == (1, 3, 1.0)
    assert server.url in wait.reason


@pytest.mark.parametrize("ending", ["cut", "close", "reset"])
async def test_an_answer_that_always_breaks_off_fails_after_three_attempts(ending):
    async with wire_server(Reply([HALF], ending=ending)) as server:
        asked = await ask(server.url)
    assert isinstance(asked.error, StreamBroken)
    assert asked.error.hint
    assert not any(isinstance(event, Answer) for event in asked.events)
    assert len(server.requests) == 3


async def test_a_call_whose_input_is_cut_never_becomes_an_answer():
    body = sse.start() + sse.block_start(0, type="tool_use", id="t", name="bash", input={})
    body += sse.delta(0, "input_json_delta", partial_json='{"command": "rm')
    for rest in (b"", sse.block_stop(0) + sse.stop("tool_use") + sse.end()):
        async with wire_server(Reply([body + rest])) as server:
            asked = await ask(server.url)
        assert isinstance(asked.error, StreamBroken)
        assert not any(isinstance(event, Answer) for event in asked.events)


async def test_a_call_cut_by_the_output_limit_has_no_input_and_says_why():
    body = sse.start() + sse.call(0, "bash", '{"command": "rm') + sse.stop("max_tokens") + sse.end()
    async with wire_server(Reply([body])) as server:
        asked = await ask(server.url)
    assert asked.answer.stop is StopReason.MAX_TOKENS
    assert asked.answer.message.tool_uses == (ToolUse("toolu_1", "bash", {}),)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\n\n: keep-alive\n\n",
        sse.start() + sse.stop(None) + sse.end(),
        sse.start() + sse.text(0, "x") + b'event: content_block_delta\ndata: {"type": "content_bl',
        sse.start() + b"event: content_block_delta\ndata: {broken}\n\n" + sse.stop() + sse.end(),
        sse.start() + b'data: {"type": "x", "y": "\xff\xfe"}\n\n' + sse.stop() + sse.end(),
        sse.start() + sse.delta(4, "input_json_delta", partial_json="{}") + sse.stop() + sse.end(),
        sse.start() + sse.call(0, "bash", "[1]") + sse.stop("tool_use") + sse.end(),
        sse.start() + sse.call(0, "bash", '{"a": NaN}') + sse.stop("tool_use") + sse.end(),
        sse.start() + sse.call(0, "bash", "[" * 100_000) + sse.stop("tool_use") + sse.end(),
        b'{"type": "message", "content": [{"type": "te',
    ],
    ids=[
        "empty",
        "comments",
        "no stop",
        "torn",
        "bad json",
        "bad utf-8",
        "orphan",
        "list",
        "nan",
        "deep",
        "torn json",
    ],
)
async def test_a_damaged_answer_is_one_protocol_error_and_is_tried_again(body):
    async with wire_server(Reply([body]), GOOD) as server:
        asked = await ask(server.url)
    assert asked.answer.message.text == "whole"
    assert len(asked.waits) == 1
    async with wire_server(Reply([body])) as server:
        asked = await ask(server.url)
    assert isinstance(asked.error, StreamBroken)
    assert server.url in str(asked.error)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            b"<!doctype html><html><title>Sign in &amp; go</title>" + b"x" * 20_000,
            "web page (Sign in & go)",
        ),
        (b"\xef\xbb\xbf  <html></html>", "web page"),
        (b"Service is up\n", "Service is up"),
        (b'{"message": {"content": "hi"}, "done": false}\n{"done": true}\n', "no answer"),
        (b'{"id": "x", "choices": [{"message": {"content": "hi"}}]}', "OpenAI's format"),
        (
            b'data: {"id": "x", "object": "chat.completion.chunk", "choices": []}\n\ndata: [DONE]\n\n',
            "OpenAI's format",
        ),
    ],
    ids=["page", "bom", "text", "ollama", "openai", "openai stream"],
)
async def test_another_language_is_recognised_at_once(body, words):
    async with wire_server(Reply([body], headers=HTML)) as server:
        asked = await ask(server.url)
    assert isinstance(asked.error, NotMessagesApi)
    assert words in str(asked.error)
    assert f"{server.url}/v1/messages" in str(asked.error)
    assert "ANTHROPIC_BASE_URL" in asked.error.hint
    assert len(server.requests) == 1


async def test_an_overloaded_event_in_the_middle_is_waited_out():
    async with wire_server(
        Reply([HALF + sse.error("overloaded_error", "Overloaded")]), GOOD
    ) as server:
        asked = await ask(server.url)
    assert asked.text == "whole"
    assert "overloaded" in asked.waits[0].reason


async def test_a_final_error_in_the_stream_is_not_tried_again():
    async with wire_server(Reply([sse.error("authentication_error", "invalid key")])) as server:
        asked = await ask(server.url)
    assert type(asked.error) is Rejected
    assert asked.error.status == 401
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (error_reply(429, "rate_limit_error", "slow down"), 429),
        (error_reply(529, "overloaded_error", "Overloaded"), 529),
        (error_reply(500, "api_error", "oops"), 500),
        (Reply([b"<html><title>502 Bad Gateway</title></html>"], 502, HTML), 502),
        (error_reply(408, "timeout_error", "late"), 408),
    ],
)
async def test_a_busy_endpoint_is_tried_six_times_with_growing_pauses(reply, status):
    async with wire_server(reply) as server:
        asked = await ask(server.url)
    assert isinstance(asked.error, Busy)
    assert asked.error.status == status
    assert asked.slept == [1.0, 2.0, 4.0, 8.0, 16.0]
    assert [wait.attempt for wait in asked.waits] == [1, 2, 3, 4, 5]
    assert len(server.requests) == 6


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"retry_after": "7"}, 7.0), ({"retry_after_ms": "1500", "retry_after": "9"}, 1.5)],
)
async def test_the_pause_that_the_server_asks_for_is_kept(headers, seconds):
    async with wire_server(
        error_reply(429, "rate_limit_error", "slow down", **headers), GOOD
    ) as server:
        asked = await ask(server.url)
    assert asked.slept == [seconds]
    assert asked.answer.message.text == "whole"


async def test_a_pause_of_a_day_is_told_and_not_slept():
    async with wire_server(
        error_reply(429, "rate_limit_error", "slow down", retry_after="86400")
    ) as server:
        asked = await ask(server.url)
    assert isinstance(asked.error, Busy)
    assert "24 h" in str(asked.error)
    assert asked.slept == []
    assert len(server.requests) == 1


async def test_a_server_that_forbids_retries_is_obeyed():
    async with wire_server(
        error_reply(429, "rate_limit_error", "tier limit", x_should_retry="false")
    ) as server:
        asked = await ask(server.url)
    assert type(asked.error) is Rejected
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "words", "hint"),
    [
        (error_reply(400, "invalid_request_error", "messages: bad"), "messages: bad", "pal doctor"),
        (
            error_reply(400, "invalid_request_error", "Your credit balance is too low"),
            "credit",
            "credit",
        ),
        (
            error_reply(401, "authentication_error", "invalid x-api-key"),
            "does not accept the key",
            "disabled",
        ),
        (error_reply(402, "billing_error", "pay"), "credit", "Add credit"),
        (
            json_reply({"error": {"message": "claude-opus-5-5 is not a valid model ID"}}, 400),
            "does not know",
            "/model",
        ),
        (error_reply(403, "permission_error", "no access"), "forbids", "workspace"),
        (
            error_reply(404, "not_found_error", "model: claude-opus-5-5"),
            "does not know the model",
            "/model",
        ),
        (json_reply({"detail": "Not Found"}, 404), "no Messages API", "/v1"),
        (
            Reply([b"<html><title>404</title></html>"], 404, HTML),
            "no Messages API",
            "ANTHROPIC_BASE_URL",
        ),
        (
            json_reply(
                {
                    "error": {
                        "message": "Invalid URL (POST /v1/messages)",
                        "type": "x",
                        "param": None,
                        "code": None,
                    }
                },
                404,
            ),
            "OpenAI's format",
            "ANTHROPIC_BASE_URL",
        ),
        (
            json_reply({"detail": [{"loc": ["body", "x"], "msg": "wrong"}]}, 422),
            "body.x: wrong",
            "pal doctor",
        ),
        (
            error_reply(
                400,
                "invalid_request_error",
                "max_tokens: 90000 > 64000, which is the maximum for claude-opus-5-5",
            ),
            "does not write answers of that length",
            "max_output_tokens",
        ),
        (
            json_reply({"error": "llama does not support tools"}, 400),
            "cannot use tools",
            "MODEL_ID",
        ),
    ],
)
async def test_a_final_no_is_told_in_plain_words_and_not_tried_again(reply, words, hint):
    async with wire_server(reply) as server:
        asked = await ask(server.url)
    assert type(asked.error) is Rejected
    assert words in str(asked.error)
    assert hint in asked.error.hint
    assert asked.error.url == f"{server.url}/v1/messages"
    assert len(server.requests) == 1


async def test_our_own_key_in_the_servers_words_is_not_shown():
    async with wire_server(
        error_reply(401, "authentication_error", "bad key sk-test-1 given")
    ) as server:
        asked = await ask(server.url)
    assert "sk-test-1" not in str(asked.error)


@pytest.mark.parametrize(
    ("reply", "sent", "window"),
    [
        (
            error_reply(
                400, "invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum"
            ),
            213_462,
            200_000,
        ),
        (
            json_reply(
                {
                    "error": {
                        "type": "exceed_context_size_error",
                        "message": "x",
                        "n_prompt_tokens": 9_000,
                        "n_ctx": 8192,
                    }
                },
                400,
            ),
            9_000,
            8_192,
        ),
        (
            json_reply(
                {
                    "message": "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens "
                    "(1000 in the messages, 8000 in the completion)."
                },
                400,
            ),
            9_000,
            8_192,
        ),
        (error_reply(413, "request_too_large", "Request exceeds the maximum size"), None, None),
        (Reply([b"<html><title>413 Too Large</title></html>"], 413, HTML), None, None),
        (
            error_reply(500, "api_error", "the request exceeds the available context size"),
            None,
            None,
        ),
        (
            Reply(
                [
                    sse.error(
                        "invalid_request_error",
                        "prompt is too long: 213462 tokens > 200000 maximum",
                    )
                ]
            ),
            213_462,
            200_000,
        ),
    ],
)
async def test_an_overflow_carries_its_figures_and_is_not_tried_again(reply, sent, window):
    async with wire_server(reply) as server:
        asked = await ask(server.url)
    assert isinstance(asked.error, ContextOverflow)
    assert (asked.error.sent, asked.error.window) == (sent, window)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "words",
    [
        "messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation",
        "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified",
    ],
)
async def test_refused_signed_thinking_is_an_error_of_its_own(words):
    message = Message(
        "assistant", (Thinking({"type": "thinking", "thinking": "", "signature": "s"}), Text("x"))
    )
    request = dataclasses.replace(REQUEST, messages=(user("a"), message, user("b")))
    async with wire_server(error_reply(400, "invalid_request_error", words)) as server:
        asked = await ask(server.url, request)
    assert isinstance(asked.error, SignatureRejected)
    assert len(server.requests) == 1


async def test_an_unknown_field_is_left_out_once_and_for_all():
    refusal = json_reply(
        {"detail": [{"loc": ["body", "system", 0, "cache_control"], "msg": "extra not permitted"}]},
        422,
    )
    async with wire_server(refusal, Reply([sse.answer()])) as server:
        model = AnthropicModel(base_url=server.url)
        first = [event async for event in model.stream(REQUEST)]
        second = [event async for event in model.stream(REQUEST)]
        await model.close()
    assert first[0] == FieldDropped("cache_control")
    assert not any(isinstance(event, FieldDropped) for event in second)
    bodies = [request.json for request in server.requests]
    assert isinstance(bodies[0]["system"], list)
    assert [body["system"] for body in bodies[1:]] == ["Be brief."] * 2


async def test_two_unknown_fields_are_left_out_one_after_the_other():
    request = dataclasses.replace(REQUEST, no_tools=True)
    tool_choice = json_reply({"error": {"message": "tool_choice is not supported"}}, 400)
    cache = json_reply({"error": {"message": "unknown field cache_control"}}, 400)
    async with wire_server(tool_choice, cache, Reply([sse.answer()])) as server:
        asked = await ask(server.url, request)
    assert asked.dropped == ["tool_choice", "cache_control"]
    assert "cache_control" not in server.requests[-1].body.decode()
    assert "tool_choice" not in server.requests[-1].json


async def test_a_server_that_refuses_the_version_gets_the_first_one():
    refusal = json_reply(
        {"error": {"message": "anthropic-version 2026-10-21 is not supported"}}, 400
    )
    async with wire_server(refusal, Reply([sse.answer()])) as server:
        asked = await ask(server.url)
    assert asked.dropped == ["anthropic-version"]
    assert [request.headers["anthropic-version"] for request in server.requests] == [
        "2026-10-21",
        "2023-06-01",
    ]


async def test_a_refusal_that_only_mentions_a_field_drops_nothing():
    refusal = error_reply(
        400, "invalid_request_error", "at most 4 blocks with cache_control may be provided"
    )
    async with wire_server(refusal) as server:
        asked = await ask(server.url)
    assert asked.dropped == []
    assert type(asked.error) is Rejected


async def test_a_field_named_as_the_parameter_at_fault_is_dropped():
    refusal = json_reply(
        {"error": {"message": "Bad value", "param": "cache_control", "code": None}}, 400
    )
    async with wire_server(refusal, Reply([sse.answer()])) as server:
        asked = await ask(server.url)
    assert asked.dropped == ["cache_control"]


async def test_an_error_object_with_status_200_is_an_error():
    overloaded = json_reply(
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    )
    async with wire_server(overloaded, GOOD) as server:
        asked = await ask(server.url)
    assert asked.text == "whole"
    assert len(asked.waits) == 1


async def test_nothing_listening_here_is_told_after_two_attempts():
    port = unused_port()
    asked = await ask(f"http://127.0.0.1:{port}")
    assert isinstance(asked.error, ConnectionFailed)
    assert asked.error.reach is Reach.REFUSED
    assert "Nothing listens" in str(asked.error)
    assert str(port) in str(asked.error)
    assert len(asked.slept) == 1


async def test_a_dead_proxy_is_named_without_its_password(monkeypatch):
    proxy = f"http://127.0.0.1:{unused_port()}"
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, proxy.replace("//", "//me:secret@"))
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    asked = await ask("http://gateway.test", retry=RetryPolicy(attempts=2))
    assert isinstance(asked.error, ConnectionFailed)
    assert asked.error.reach is Reach.PROXY
    assert proxy in str(asked.error)
    assert "secret" not in str(asked.error)
    assert "HTTP_PROXY" in asked.error.hint


async def test_an_unknown_host_is_named():
    asked = await ask("https://no-such-host.invalid")
    assert isinstance(asked.error, ConnectionFailed)
    assert asked.error.reach is Reach.NO_SUCH_HOST
    assert "no-such-host.invalid" in str(asked.error)


async def test_https_to_a_plain_server_is_told_and_not_tried_again():
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    asked = await ask(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    server.close()
    assert isinstance(asked.error, ConnectionFailed)
    assert asked.error.reach is Reach.TLS
    assert "http://" in asked.error.hint
    assert asked.slept == []


@pytest.mark.parametrize("reply", [Reply(status=0), Reply(ending="stall")])
async def test_silence_before_the_first_byte_is_told_with_its_seconds(reply):
    async with wire_server(reply) as server:
        asked = await ask(server.url, silence=0.2, retry=RetryPolicy(attempts=1))
    assert isinstance(asked.error, StreamBroken | ConnectionFailed)
    assert "0.2 s" in str(asked.error)


async def test_a_redirect_is_not_followed_and_its_target_is_named():
    async with wire_server(GOOD) as other:
        there = Reply(status=307, headers={"location": f"{other.url}/v1/messages"})
        async with wire_server(there) as server:
            asked = await ask(server.url)
    assert type(asked.error) is Rejected
    assert other.url in str(asked.error)
    assert other.requests == []


async def test_an_untrusted_certificate_is_told_and_not_tried_again():
    import httpx2

    def refuse(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("bad") from ssl.SSLCertVerificationError(
            "self-signed certificate"
        )

    asked = await ask("https://gateway.test", transport=httpx2.MockTransport(refuse))
    assert isinstance(asked.error, ConnectionFailed)
    assert asked.error.reach is Reach.CERTIFICATE
    assert "SSL_CERT_FILE" in asked.error.hint
    assert asked.slept == []


@pytest.mark.parametrize("url", ["gateway.test", "ftp://gateway.test", "http://"])
async def test_an_address_that_is_none_is_told_as_such(url):
    asked = await ask(url)
    assert asked.error is not None
    assert asked.error.hint


async def test_a_session_goes_on_after_every_fault():
    transport = ScriptedTransport(Reply([b"<html>"]), Reply([b""]), Reply(status=500), GOOD)

    async def sleep(_: float) -> None:
        return None

    model = AnthropicModel(
        base_url="http://gateway.test", api_key="k", transport=transport, sleep=sleep
    )
    with pytest.raises(NotMessagesApi):
        [event async for event in model.stream(REQUEST)]
    assert [event async for event in model.stream(REQUEST)][-1].message.text == "whole"
    await model.close()


@pytest.mark.parametrize(
    ("secret", "said", "shown"),
    [
        ("k", "invalid x-api-key: 41 tokens", "invalid x-api-key: 41 tokens"),
        ("k", "the key 'k' is wrong", "the key '[key]' is wrong"),
        ("sk-ant-0123456789", "key=sk-ant-0123456789abc", "key=[key]abc"),
    ],
)
def test_a_key_is_hidden_without_hiding_the_words_that_a_short_one_is_part_of(secret, said, shown):
    assert Call(Endpoint("http://127.0.0.1:8080"), "m", (secret,)).clean(said) == shown
