"""The doctor: every check says what it saw, and what to do when it is not well."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.adapters.anthropic_model import AnthropicModel
from app.adapters.retry import RetryPolicy
from app.core.policy import AutoPolicy, CompactionPolicy
from app.core.requests import ModelInfo, ModelRequest, TextDelta
from app.doctor import State, run_doctor
from app.errors import ConfigError
from app.settings import Conflict, Settings
from tests.fakes.model import ScriptedModel, says
from tests.wire import sse
from tests.wire.faults import FAULTS, Point
from tests.wire.server import Reply, error_reply, json_reply, unused_port, wire_server
from tests.wire.transport import ScriptedTransport

KEY = "sk-ant-api03-abcdefghijklmnop-wxyz"
HTML = {"content-type": "text/html"}


def settings(folder: Path, **changes: object) -> Settings:
    base = Settings(
        folder=folder,
        api_key=KEY,
        model="claude-opus-5-5",
        sources={"api_key": ".env", "model": "flag"},
    )
    return replace(base, **changes)


async def examined(
    values: Settings, model: object, **options: object
) -> tuple[int, dict[str, dict[str, str]], str]:
    """Exit code, the checks by name, and everything printed."""
    lines: list[str] = []
    options = {"sandbox": "bubblewrap", "as_json": True, **options}
    code = await run_doctor(values, model=model, write=lines.append, **options)
    text = "\n".join(lines)
    if not options["as_json"]:
        return code, {}, text
    report = json.loads(text)
    assert report["ok"] is (code == 0)
    for check in report["checks"]:
        assert set(check) == {"name", "state", "saw", "todo"}
        assert check["state"] == "ok" or check["todo"] or check["name"] == "settings"
    return code, {check["name"]: check for check in report["checks"]}, text


class Speechless(ScriptedModel):
    """Takes every question and answers none."""

    async def stream(self, request: ModelRequest):
        await asyncio.Event().wait()
        yield TextDelta("never")

    async def info(self, model: str) -> ModelInfo | None:
        await asyncio.Event().wait()


async def test_an_endpoint_that_never_answers_is_told_in_the_end(tmp_path: Path) -> None:
    code, checks, _ = await examined(settings(tmp_path), Speechless(), patience=0.01)
    assert code == 1
    assert "no answer within" in checks["request"]["saw"]
    assert checks["transcripts"]["state"] == "ok", "the other checks go on"


async def over_the_wire(folder: Path, *replies: Reply, **changes: object):
    async with wire_server(*replies) as server:
        values = settings(folder, base_url=server.url, **changes)
        model = AnthropicModel(
            base_url=server.url, api_key=values.api_key, retry=RetryPolicy(attempts=1)
        )
        try:
            code, checks, text = await examined(values, model)
        finally:
            await model.close()
    return code, checks, text, server


async def test_everything_well(tmp_path):
    code, checks, text = await examined(
        settings(tmp_path), ScriptedModel([says("OK")], window=1_000_000)
    )
    assert code == 0
    assert list(checks) == [
        "base URL",
        "key",
        "model",
        "request",
        "compaction",
        "transcripts",
        "sandbox",
    ]
    assert {check["state"] for check in checks.values()} == {State.OK}
    assert "(default)" in checks["base URL"]["saw"]
    assert ".env" in checks["key"]["saw"]
    assert "flag" in checks["model"]["saw"]
    assert "'OK'" in checks["request"]["saw"]
    assert "1,000,000 (endpoint)" in checks["compaction"]["saw"]
    assert KEY not in text
    assert KEY[-4:] in text
    assert not list(tmp_path.iterdir()), "nothing is left behind"


async def test_the_text_form_names_each_state_and_ends_with_a_verdict(tmp_path):
    code, _, text = await examined(
        settings(tmp_path), ScriptedModel([says("OK")]), as_json=False, sandbox=""
    )
    assert code == 0
    assert text.splitlines()[0].startswith("ok       base URL")
    assert "warning  sandbox" in text
    assert text.endswith("Ready, with 1 warning.")


async def test_without_a_key_it_says_what_to_set_and_asks_nobody(tmp_path):
    model = ScriptedModel([])
    code, checks, _ = await examined(settings(tmp_path, api_key=None), model)
    assert code == 0
    assert checks["key"]["state"] == checks["request"]["state"] == "not set"
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "MODEL_ID", "--demo"):
        assert name in checks["key"]["todo"]
    assert checks["request"]["saw"] == "not tried: there is no key"
    assert checks["transcripts"]["state"] == "ok", "the rest is still looked at"
    assert model.requests == []
    _, _, text = await examined(settings(tmp_path, api_key=None), model, as_json=False)
    assert text.endswith("Ready without a key: `pal` answers with the embedded demo model.")


async def test_the_demo_model_needs_no_key(tmp_path):
    values = settings(tmp_path, api_key=None, model="", demo=True)
    code, checks, _ = await examined(values, ScriptedModel([says("OK")]))
    assert code == 0
    assert checks["key"]["state"] == "ok"
    assert checks["request"]["state"] == "ok"
    assert "embedded" in checks["base URL"]["saw"]
    assert "(endpoint)" in checks["compaction"]["saw"]


async def test_an_endpoint_on_this_machine_needs_no_key(tmp_path):
    answer = Reply([sse.answer("OK")])
    code, checks, _, _ = await over_the_wire(
        tmp_path, answer, json_reply({}, 404), api_key=None, context_window=90_000
    )
    assert code == 0
    assert "needs none" in checks["key"]["saw"]


async def test_a_key_without_a_model_offers_the_list(tmp_path):
    code, checks, _ = await examined(settings(tmp_path, model=""), ScriptedModel([]))
    assert code == 1
    assert "MODEL_ID" in checks["model"]["todo"]
    assert "scripted" in checks["models"]["saw"]


async def test_a_key_without_a_model_and_without_a_list_says_where_to_look(tmp_path):
    code, checks, _, server = await over_the_wire(tmp_path, json_reply({}, 404), model="")
    assert code == 1
    assert "provider" in checks["models"]["todo"]
    assert [request.method for request in server.requests] == ["GET"]


async def test_sources_that_disagree_are_named_with_the_winner(tmp_path):
    conflict = Conflict("model", "a", "environment", "b", ".env")
    _, checks, _ = await examined(
        settings(tmp_path, conflicts=(conflict,)), ScriptedModel([says("OK")])
    )
    assert checks["conflict"]["state"] == "warning"
    assert all(word in checks["conflict"]["saw"] for word in ("environment", ".env", "a", "b"))


async def test_a_setting_that_cannot_be_used_fails_with_its_source(tmp_path):
    error = ConfigError("threshold", "'many' is not a whole number", source=".env")
    code, checks, _ = await examined(settings(tmp_path), ScriptedModel([]), errors=[error])
    assert code == 1
    assert "threshold (from .env)" in checks["settings"]["saw"]


@pytest.mark.parametrize(
    ("reply", "saw", "todo"),
    [
        (
            error_reply(401, "authentication_error", "invalid x-api-key"),
            "does not accept the key",
            "disabled",
        ),
        (error_reply(403, "permission_error", "no"), "forbids", "workspace"),
        (
            error_reply(404, "not_found_error", "model: claude-opus-5-5"),
            "does not know the model",
            "MODEL_ID",
        ),
        (json_reply({"detail": "Not Found"}, 404), "no Messages API", "ANTHROPIC_BASE_URL"),
        (json_reply({"choices": []}), "OpenAI's format", "gateway"),
        (
            Reply([b"<html><title>Login</title>"], headers=HTML),
            "web page (Login)",
            "ANTHROPIC_BASE_URL",
        ),
        (error_reply(429, "rate_limit_error", "slow down"), "Too many requests", "Try again"),
        (error_reply(529, "overloaded_error", "Overloaded"), "overloaded", "Try again"),
        (
            error_reply(400, "invalid_request_error", "prompt is too long: 9 tokens > 5 maximum"),
            "too long",
            "",
        ),
        (error_reply(402, "billing_error", "pay"), "no credit", "Add credit"),
    ],
)
async def test_each_failure_of_the_request_is_explained(tmp_path, reply, saw, todo):
    code, checks, text, server = await over_the_wire(tmp_path, reply, json_reply({}, 404))
    assert code == 1
    assert checks["request"]["state"] == "failed"
    assert saw in checks["request"]["saw"]
    assert todo in checks["request"]["todo"]
    assert KEY not in text
    assert len([r for r in server.requests if r.path == "/v1/messages"]) == 1


DOCTORED = [fault for fault in FAULTS if Point.FIRST in fault.at and not fault.silence]


@pytest.mark.parametrize("fault", DOCTORED, ids=lambda fault: fault.name)
async def test_each_fault_is_told_in_the_words_of_a_session_and_asked_about_once(tmp_path, fault):
    async with wire_server(fault.reply(Point.FIRST), json_reply({}, 404)) as server:
        values = settings(tmp_path, base_url=server.url, model="scripted")
        retry = RetryPolicy(attempts=1)
        model = AnthropicModel(base_url=server.url, api_key=KEY, retry=retry)
        code, checks, text = await examined(values, model)
    assert code == 1
    assert fault.says in checks["request"]["saw"]
    assert fault.todo in checks["request"]["todo"]
    assert KEY not in text
    assert len([r for r in server.requests if r.path == "/v1/messages"]) == 1


async def test_an_unknown_model_is_answered_with_the_nearest_of_the_list(tmp_path):
    listed = json_reply(
        {"data": [{"id": f"other-{n}"} for n in range(20)] + [{"id": "claude-opus-5"}]}
    )
    missing = error_reply(404, "not_found_error", "model: claude-opus-5-5")
    _, checks, _, _ = await over_the_wire(tmp_path, missing, listed)
    assert "offers claude-opus-5, other-0" in checks["request"]["todo"]
    assert "and 13 more" in checks["request"]["todo"]


async def test_nothing_listening_is_told_with_the_address(tmp_path):
    url = f"http://127.0.0.1:{unused_port()}"
    model = AnthropicModel(base_url=url, retry=RetryPolicy(attempts=1))
    code, checks, _ = await examined(settings(tmp_path, base_url=url), model)
    assert code == 1
    assert url in checks["request"]["saw"]
    assert "Start the local server" in checks["request"]["todo"]


async def test_plain_http_to_another_machine_is_a_warning(tmp_path):
    transport = ScriptedTransport(Reply([sse.answer("OK")]), json_reply({}, 404))
    model = AnthropicModel(base_url="http://gateway.test", api_key=KEY, transport=transport)
    code, checks, _ = await examined(settings(tmp_path, base_url="http://gateway.test"), model)
    assert code == 0
    assert checks["base URL"]["state"] == "warning"
    assert "https" in checks["base URL"]["todo"]


async def test_an_endpoint_without_token_counts_and_with_unknown_fields_is_a_warning(tmp_path):
    refusal = json_reply({"error": {"message": "unknown field cache_control"}}, 400)
    body = sse.event({"type": "message", "content": "OK", "stop_reason": "end_turn"})
    code, checks, _, _ = await over_the_wire(tmp_path, refusal, Reply([body]), json_reply({}, 404))
    assert code == 0
    assert checks["request"]["state"] == "warning"
    assert "cache_control" in checks["request"]["todo"]
    assert "estimate" in checks["request"]["todo"]


@pytest.mark.parametrize(
    ("window", "changes", "state", "words"),
    [
        (200_000, {}, "ok", ""),
        (32_000, {}, "warning", "23,000"),
        (16_000, {}, "failed", "8,000 tokens are left"),
        (200_000, {"max_output_tokens": 9_000}, "warning", "8,000 tokens at most"),
        (
            200_000,
            {"policy": CompactionPolicy(auto=AutoPolicy(enabled=False))},
            "warning",
            "switched off",
        ),
        (None, {"model": "new"}, "warning", "PAL_CONTEXT_WINDOW"),
        (None, {"model": "new", "context_window": 100_000}, "ok", ""),
        (
            1_000_000,
            {"policy": CompactionPolicy(auto=AutoPolicy(threshold_share=0.5))},
            "ok",
            "",
        ),
    ],
)
async def test_the_window_is_held_against_the_threshold(tmp_path, window, changes, state, words):
    class Windowed(ScriptedModel):
        async def info(self, model: str) -> ModelInfo | None:
            return ModelInfo(model, window=window, max_output=8_000) if window else None

    _, checks, _ = await examined(settings(tmp_path, **changes), Windowed([says("OK")]))
    assert checks["compaction"]["state"] == state
    assert words in checks["compaction"]["todo"]


async def test_a_file_where_the_transcripts_should_be_fails(tmp_path):
    (tmp_path / ".transcripts").write_text("x")
    code, checks, _ = await examined(settings(tmp_path), ScriptedModel([says("OK")]))
    assert code == 1
    assert "PAL_TRANSCRIPT_DIR" in checks["transcripts"]["todo"]


async def test_a_folder_that_cannot_be_written_fails(tmp_path):
    code, checks, _ = await examined(
        settings(tmp_path, transcript_dir="/proc/1"), ScriptedModel([says("OK")])
    )
    assert code == 1
    assert checks["transcripts"]["state"] == "failed"


@pytest.mark.parametrize(
    ("wish", "found", "state"),
    [
        ("auto", "bubblewrap", "ok"),
        ("auto", "", "warning"),
        ("require", "", "failed"),
        ("off", "", "ok"),
    ],
)
async def test_the_sandbox_is_judged_by_what_was_wished(tmp_path, wish, found, state):
    values = settings(tmp_path, sandbox=wish)
    _, checks, _ = await examined(values, ScriptedModel([says("OK")]), sandbox=found)
    assert checks["sandbox"]["state"] == state


async def test_what_a_server_says_cannot_act_on_the_terminal(tmp_path):
    async with wire_server(
        error_reply(400, "invalid_request_error", "\x1b]0;evil\x07\u202eback"), json_reply({})
    ) as server:
        values = settings(tmp_path, base_url=server.url)
        model = AnthropicModel(base_url=server.url, api_key=KEY, retry=RetryPolicy(attempts=1))
        _, _, text = await examined(values, model, as_json=False)
        await model.close()
    assert "evil" in text
    assert not any(char in text for char in "\x1b\x07\u202e")
