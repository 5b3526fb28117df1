"""An endpoint on 127.0.0.1 that speaks what the compared programs speak, and answers as their prompts ask.

It knows Messages, Chat Completions and Responses, streamed or whole. A prompt holds ``bench KIND N``: ``first`` gets a
short answer at once, ``stream`` one of 2,000 tokens in small pieces over five seconds, ``big`` 20 kB at once. Each
answer begins with `begin(N)` and ends with `end(N)`.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.benchmarks.sessions import markdown

MODEL = "house-model-1"
STREAM_CHARS, BIG_CHARS = 8_000, 20_000
DELTA, GAP = 8, 0.005
"""Characters of a piece, and seconds between pieces: 1,600 characters a second."""
BIG_DELTA = 2_000
_ASKED = re.compile(r"bench (first|stream|big) (\d+)")
Events = Iterator[tuple[str, dict[str, Any]]]


def begin(number: int) -> str:
    return f"BEGIN{number}W"


def end(number: int) -> str:
    return f"END{number}W"


class PeerEndpoint:
    """The running endpoint. Use as a context manager."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> PeerEndpoint:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def pieces_of(body: dict[str, Any]) -> tuple[list[str], float]:
    """Return the pieces of the answer to a request, and the seconds between them.

    A request without tools is one for a title or the like, beside the turn.
    """
    asked = _ASKED.findall(json.dumps(body))
    if not asked or not body.get("tools"):
        return ["ok"], 0.0
    kind, number = asked[-1][0], int(asked[-1][1])
    first, last = f"{begin(number)} ", f"\n\n{end(number)}\n"
    if kind == "first":
        return [first, last], 0.0
    size, delta = (STREAM_CHARS, DELTA) if kind == "stream" else (BIG_CHARS, BIG_DELTA)
    text = f"is the answer.\n\n{markdown(number, size)}"
    cut = [text[at : at + delta] for at in range(0, len(text), delta)]
    return [first, *cut, last], GAP if kind == "stream" else 0.0


def messages_events(pieces: list[str]) -> Events:
    """The stream of the Messages API."""
    usage = {"input_tokens": 3_000, "output_tokens": 1}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": []}
    head |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
    yield "message_start", {"message": head}
    yield "content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}
    for piece in pieces:
        yield "content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": piece}}
    yield "content_block_stop", {"index": 0}
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    yield "message_delta", {"delta": stop, "usage": {"output_tokens": 500}}
    yield "message_stop", {}


def chat_events(pieces: list[str]) -> Events:
    """The stream of Chat Completions; its events have no names."""
    head = {"id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    for piece in pieces:
        delta = {"role": "assistant", "content": piece}
        yield "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    usage = {"prompt_tokens": 3_000, "completion_tokens": 500, "total_tokens": 3_500}
    done = {"index": 0, "delta": {}, "finish_reason": "stop"}
    yield "", {**head, "choices": [done], "usage": usage}


def responses_events(pieces: list[str]) -> Events:
    """The stream of the Responses API."""
    base = {"id": "resp_1", "object": "response", "created_at": 1, "model": MODEL}
    usage = {"input_tokens": 3_000, "output_tokens": 500, "total_tokens": 3_500}
    usage_parts = {
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    content = {"type": "output_text", "text": "".join(pieces), "annotations": []}
    item = {"type": "message", "id": "item_1", "role": "assistant"}
    whole = {**item, "status": "completed", "content": [content]}
    yield "response.created", {"response": {**base, "status": "in_progress", "output": []}}
    begun = {**item, "status": "in_progress", "content": []}
    yield "response.output_item.added", {"output_index": 0, "item": begun}
    for piece in pieces:
        where = {"item_id": "item_1", "output_index": 0, "content_index": 0}
        yield "response.output_text.delta", {**where, "delta": piece}
    yield "response.output_item.done", {"output_index": 0, "item": whole}
    done = {**base, "status": "completed", "output": [whole], "usage": {**usage, **usage_parts}}
    yield "response.completed", {"response": done}


def whole(path: str, pieces: list[str]) -> dict[str, Any]:
    """The answer to a request that asks for no stream."""
    text = "".join(pieces)
    if path.endswith("/chat/completions"):
        choice = {"index": 0, "finish_reason": "stop"}
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": 3_000, "completion_tokens": 500, "total_tokens": 3_500}
        head = {"id": "chat_1", "object": "chat.completion", "created": 1, "model": MODEL}
        return {**head, "choices": [{**choice, "message": message}], "usage": usage}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL}
    head |= {"stop_reason": "end_turn", "stop_sequence": None}
    usage = {"input_tokens": 3_000, "output_tokens": 500}
    return {**head, "content": [{"type": "text", "text": text}], "usage": usage}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._json({})

    def do_GET(self) -> None:
        entry = {"id": MODEL, "type": "model", "object": "model", "display_name": "House model"}
        entry |= {"created": 1, "created_at": "2026-01-01T00:00:00Z"}
        if self.path.split("?")[0].endswith("/models"):
            page = {"has_more": False, "first_id": MODEL, "last_id": MODEL}
            self._json({"object": "list", "data": [entry], "models": [], **page})
        else:
            self._json(entry)

    def do_POST(self) -> None:
        body = json.loads(self._body() or b"{}")
        path = self.path.split("?")[0]
        if path.endswith("/count_tokens"):
            self._json({"input_tokens": 3_000})
            return
        pieces, gap = pieces_of(body)
        if not body.get("stream"):
            self._json(whole(path, pieces))
        elif path.endswith("/chat/completions"):
            self._stream(chat_events(pieces), gap, last=b"data: [DONE]\n\n")
        elif path.endswith("/responses"):
            self._stream(responses_events(pieces), gap)
        else:
            self._stream(messages_events(pieces), gap)

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length", "0")))
        data = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def _stream(self, events: Events, gap: float, *, last: bytes = b"") -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("connection", "close")
        self.end_headers()
        due = time.monotonic()
        try:
            for name, value in events:
                value = {"type": name, **value} if name else value
                head = f"event: {name}\n" if name else ""
                self.wfile.write(f"{head}data: {json.dumps(value)}\n\n".encode())
                due += gap
                if gap:
                    time.sleep(max(0.0, due - time.monotonic()))
            self.wfile.write(last)
        except (BrokenPipeError, ConnectionResetError):
            pass
        self.close_connection = True

    def _json(self, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
