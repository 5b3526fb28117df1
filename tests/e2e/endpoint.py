"""A Messages API endpoint on 127.0.0.1 for a program in another process: it checks and keeps every request.

What it answers is a function of the request's body: a script written in the test, or the embedded model's own
understanding (`demo_brain`). Each request is kept with the sizes of the session's files at the instant it arrived.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from app.adapters.demo.prompt_cache import PromptCache, count_tokens
from app.adapters.demo.script import answer
from app.adapters.demo.stream import Reply, events
from app.adapters.demo.validation import InvalidRequest, check_request
from app.core.budget import Usage
from app.core.messages import Text, ToolUse

MODEL = "house-model-1"
KEY = "test-key-of-no-worth"
Body = Mapping[str, Any]


@dataclass(frozen=True)
class Refusal:
    """An HTTP error."""

    status: int
    kind: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """A web page where an answer should be."""

    html: str


@dataclass(frozen=True)
class Cut:
    """An answer whose connection is reset once its stream holds a text."""

    reply: Reply
    after: str


@dataclass(frozen=True)
class Held:
    """An answer whose stream stops after its first pieces until `release` is set."""

    reply: Reply
    release: threading.Event = field(default_factory=threading.Event)
    pieces: int = 8


Reaction = Reply | Refusal | Held | Page | Cut
Brain = Callable[[Body], Reaction]


@dataclass(frozen=True)
class Sent:
    """One request as it arrived at ``POST /v1/messages``."""

    body: dict[str, Any]
    headers: dict[str, str]
    on_disk: dict[str, int]
    """Lines of each transcript segment when the request arrived."""
    stored: str
    """Everything in those segments at that instant."""

    @property
    def is_summary_call(self) -> bool:
        return "The conversation is about to be compressed" in json.dumps(self.body["messages"][-1])

    @property
    def tokens(self) -> int:
        """Size of the prompt, in the measure by which the answers bill it."""
        return count_tokens(self.body)

    @property
    def text(self) -> str:
        """All messages as JSON."""
        return json.dumps(self.body["messages"], ensure_ascii=False)

    @property
    def results(self) -> list[str]:
        """Text of each tool result, oldest first."""
        found: list[str] = []
        for message in self.body["messages"]:
            if isinstance(message["content"], str):
                continue
            for block in message["content"]:
                if block["type"] == "tool_result":
                    content = block.get("content", "")
                    found.append(
                        content
                        if isinstance(content, str)
                        else "\n".join(part.get("text", "") for part in content)
                    )
        return found

    def user_texts(self) -> list[str]:
        """Every text block of the user's messages, oldest first."""
        found: list[str] = []
        for message in self.body["messages"]:
            if message["role"] != "user":
                continue
            if isinstance(message["content"], str):
                found.append(message["content"])
            else:
                found += [b["text"] for b in message["content"] if b["type"] == "text"]
        return found


def demo_brain(body: Body) -> Reply:
    """Answer as the embedded model would."""
    return answer(body)


def says(text: str) -> Reply:
    """An answer of words alone."""
    return Reply((Text(text),), "end_turn")


def calls(tool: str, id_: str, **arguments: Any) -> Reply:
    """An answer with one tool call."""
    return Reply((ToolUse(id_, tool, arguments),), "tool_use")


class Endpoint:
    """The running endpoint. Use as a context manager."""

    def __init__(
        self,
        brain: Brain = demo_brain,
        *,
        caches: bool = False,
        key: str = KEY,
        window: int = 200_000,
    ) -> None:
        """Make it.

        Args:
            brain: Gives the answer to a request's body.
            caches: Whether usage shows a prompt cache; without one everything is plain input.
            key: The only key it accepts.
            window: Input tokens of its model.
        """
        self.brain = brain
        self.sent: list[Sent] = []
        self.invalid: list[str] = []
        """Why requests were not valid; stays empty when all were."""
        self.watched: Path | None = None
        """The transcript folder to look at when a request arrives."""
        self._cache = PromptCache(lambda: 0.0) if caches else None
        self.key = key
        self._window = window
        self._numbers = iter(range(1, 1_000_000))
        endpoint = self

        class Handler(_Handler):
            owner = endpoint

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Endpoint:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Listen no more; once is enough."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    @property
    def turns(self) -> list[Sent]:
        """The agent's requests, summary calls left out."""
        return [sent for sent in self.sent if not sent.is_summary_call]

    @property
    def summaries(self) -> list[Sent]:
        return [sent for sent in self.sent if sent.is_summary_call]

    def model_json(self) -> dict[str, Any]:
        return {
            "id": MODEL,
            "type": "model",
            "display_name": "House model",
            "created_at": "2026-01-01T00:00:00Z",
            "max_input_tokens": self._window,
            "max_tokens": 32_000,
        }

    def react(self, body: dict[str, Any], headers: dict[str, str]) -> Reaction:
        """Keep a request and return what to answer."""
        if headers.get("x-api-key") != self.key:
            return Refusal(401, "authentication_error", "invalid x-api-key")
        if body.get("model") != MODEL:
            return Refusal(404, "not_found_error", f"model: {body.get('model')}")
        sizes, stored = self._look()
        self.sent.append(Sent(body, headers, sizes, stored))
        try:
            check_request({**body, "model": "palimpsest-demo"})
        except InvalidRequest as error:
            self.invalid.append(str(error))
            return Refusal(400, "invalid_request_error", str(error))
        return self.brain(body)

    def bill(self, body: Body) -> Usage:
        if self._cache is not None:
            return self._cache.bill(body)
        return Usage(input=count_tokens(body))

    def next_id(self) -> str:
        return f"msg_e2e_{next(self._numbers):06d}"

    def _look(self) -> tuple[dict[str, int], str]:
        if self.watched is None:
            return {}, ""
        files = sorted(self.watched.glob("*/transcript_*.jsonl"))
        texts = {file.name: file.read_text() for file in files}
        return {name: len(text.splitlines()) for name, text in texts.items()}, "".join(
            texts.values()
        )


class _Handler(BaseHTTPRequestHandler):
    owner: Endpoint
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.path.startswith("/v1/models/"):
            if self.path.endswith(f"/{MODEL}"):
                self._json(200, self.owner.model_json())
            else:
                self._error(Refusal(404, "not_found_error", f"model: {self.path[11:]}"))
        elif self.path.startswith("/v1/models"):
            page = {"has_more": False, "first_id": MODEL, "last_id": MODEL}
            self._json(200, {"data": [self.owner.model_json()], **page})
        else:
            self._error(Refusal(404, "not_found_error", "Not Found"))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reaction = self.owner.react(body, headers)
        if isinstance(reaction, Refusal):
            self._error(reaction)
            return
        if isinstance(reaction, Page):
            self._body(200, "text/html", reaction.html.encode())
            return
        reply = reaction if isinstance(reaction, Reply) else reaction.reply
        pieces = events(reply, self.owner.bill(body), self.owner.next_id())
        try:
            self._stream(pieces, None if isinstance(reaction, Reply) else reaction)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _stream(self, pieces: Iterator[bytes], trouble: Held | Cut | None) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.send_header("connection", "close")
        self.end_headers()
        sent = b""
        for number, piece in enumerate(pieces):
            if isinstance(trouble, Held) and number == trouble.pieces:
                trouble.release.wait(60)
            if isinstance(trouble, Cut) and trouble.after.encode() in sent:
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.close_connection = True
                return
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            sent += piece
        self.wfile.write(b"0\r\n\r\n")

    def _json(self, status: int, value: Any, **headers: str) -> None:
        self._body(status, "application/json", json.dumps(value).encode(), **headers)

    def _body(self, status: int, kind: str, data: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def _error(self, refusal: Refusal) -> None:
        error = {"type": refusal.kind, "message": refusal.message}
        self._json(
            refusal.status,
            {"type": "error", "error": error, "request_id": "req_e2e"},
            **refusal.headers,
        )


class Pause:
    """Holds back the answer to the first request that a test is waiting for, so that the screen can be looked at.

    Use `brain` as an endpoint's brain; `reached` is set when the request has arrived, and `go_on` lets it be answered.
    """

    def __init__(self, wanted: Callable[[Body], bool], brain: Brain = demo_brain) -> None:
        self.reached = threading.Event()
        self._wanted = wanted
        self._inner = brain
        self._held: Held | None = None

    def brain(self, body: Body) -> Reply | Refusal | Held:
        reply = self._inner(body)
        if self._held is not None or not isinstance(reply, Reply) or not self._wanted(body):
            return reply
        self._held = Held(reply, pieces=0)
        self.reached.set()
        return self._held

    def go_on(self) -> None:
        assert self._held is not None
        self._held.release.set()
