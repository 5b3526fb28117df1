"""The HTTP side: an in-process transport that answers the routes of the Messages API which this program calls."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

import httpx2

from app.adapters.demo import DEMO_MAX_OUTPUT, DEMO_MODEL_ID, DEMO_WINDOW
from app.adapters.demo.prompt_cache import PromptCache, count_tokens
from app.adapters.demo.script import answer
from app.adapters.demo.signing import check_signatures, sign
from app.adapters.demo.stream import Reply, cut_to, events, message_json
from app.adapters.demo.validation import InvalidRequest, check_request
from app.core.messages import Thinking, ToolUse

JSON = {"content-type": "application/json"}
SSE = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}


class DemoTransport(httpx2.AsyncBaseTransport):
    """Answers as the API would; no request leaves the process.

    What it says depends only on the request's body. The prompt cache is the only state.
    """

    def __init__(
        self,
        *,
        delay: float = 0.012,
        window: int = DEMO_WINDOW,
        thinking: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make a transport.

        Args:
            delay: Seconds between two pieces of a streamed answer.
            window: Input tokens it accepts.
            thinking: Whether answers begin with a short signed thinking block.
            now: Seconds that never run backwards, for the life of cache entries.
        """
        self._delay = delay
        self._window = window
        self._thinking = thinking
        self._cache = PromptCache(now)
        self._ids = count(1)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer one HTTP request."""
        id_ = f"req_demo_{next(self._ids):06d}"
        try:
            response = self._route(request.method, request.url.path, await request.aread(), id_)
        except InvalidRequest as error:
            response = _error(error, id_)
        response.headers["request-id"] = id_
        return response

    def _route(self, method: str, path: str, data: bytes, id_: str) -> httpx2.Response:
        match method, path:
            case "POST", "/v1/messages":
                return self._answer(_parse(data), id_)
            case "POST", "/v1/messages/count_tokens":
                body = _parse(data)
                check_request(body, counting=True)
                return _json({"input_tokens": count_tokens(body)})
            case "GET", "/v1/models":
                only = self._model()
                ends = {"first_id": DEMO_MODEL_ID, "last_id": DEMO_MODEL_ID}
                return _json({"data": [only], "has_more": False, **ends})
            case "GET", _ if path == f"/v1/models/{DEMO_MODEL_ID}":
                return _json(self._model())
            case _:
                missing = path.removeprefix("/v1/models/") if path.startswith("/v1/models/") else ""
                message = f"model: {missing}" if missing else f"{method} {path}: Not Found"
                raise InvalidRequest(message, status=404, kind="not_found_error")

    def _answer(self, body: Mapping[str, Any], id_: str) -> httpx2.Response:
        check_request(body)
        check_signatures(body)
        tokens = count_tokens(body)
        if tokens > self._window:
            raise InvalidRequest(f"prompt is too long: {tokens} tokens > {self._window} maximum")
        usage = self._cache.bill(body)
        reply = answer(body)
        if self._thinking:
            reply = _with_thinking(reply, body)
        reply = cut_to(reply, body["max_tokens"])
        message_id = f"msg_{id_}"
        if not body.get("stream"):
            return _json(message_json(reply, usage, message_id))
        stream = _Paced(events(reply, usage, message_id), self._delay)
        return httpx2.Response(200, headers=SSE, stream=stream)

    def _model(self) -> dict[str, Any]:
        return {
            "id": DEMO_MODEL_ID,
            "type": "model",
            "display_name": "Palimpsest demo (scripted)",
            "created_at": "2026-01-01T00:00:00Z",
            "max_input_tokens": self._window,
            "max_tokens": DEMO_MAX_OUTPUT,
        }


class _Paced(httpx2.AsyncByteStream):
    """Chunks with a pause in front of each."""

    def __init__(self, chunks: Iterable[bytes], delay: float) -> None:
        self._chunks = chunks
        self._delay = delay

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            await asyncio.sleep(self._delay)
            yield chunk


def _with_thinking(reply: Reply, body: Mapping[str, Any]) -> Reply:
    """Return the answer with a thinking block in front that says what is being done."""
    calls = [block.name for block in reply.blocks if isinstance(block, ToolUse)]
    thought = f"Next: {', '.join(calls)}." if calls else "Nothing left to look up; answer."
    signature = sign(body, len(body["messages"]), thought)
    block = Thinking({"type": "thinking", "thinking": thought, "signature": signature})
    return replace(reply, blocks=(block, *reply.blocks))


def _parse(data: bytes) -> dict[str, Any]:
    try:
        body = json.loads(data)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise InvalidRequest("The request body is not valid JSON")
    return body


def _json(value: Any, status: int = 200) -> httpx2.Response:
    return httpx2.Response(status, headers=JSON, content=json.dumps(value).encode())


def _error(error: InvalidRequest, id_: str) -> httpx2.Response:
    body = {
        "type": "error",
        "error": {"type": error.kind, "message": str(error)},
        "request_id": id_,
    }
    return _json(body, error.status)
