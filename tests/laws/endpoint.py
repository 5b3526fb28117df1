"""An endpoint that a test plays by hand: it checks each request as the API does, and answers byte by byte.

Thinking is signed over what stands in front of it, as current models do: the system prompt, the tools and all earlier
messages. Each answer carries its number, so that the endpoint knows its own words again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2

from tests.wire import sse
from tests.wire.api_rules import complaints
from tests.wire.server import pieces

EVENT_STREAM = {"content-type": "text/event-stream"}


@dataclass
class Exchange:
    """One request that is being answered."""

    raw: bytes
    body: Any
    head: asyncio.Future[tuple[int, Mapping[str, str]]]
    chunks: asyncio.Queue[bytes | Exception | None] = field(default_factory=asyncio.Queue)
    plan: list[bytes] = field(default_factory=list)
    """What is still to be sent of a begun answer."""
    closed: bool = False

    @property
    def is_summary(self) -> bool:
        last = self.body["messages"][-1]["content"][-1].get("text", "")
        return "The conversation is about to be compressed" in last

    @property
    def begun(self) -> bool:
        return self.head.done()


class _Stream(httpx2.AsyncByteStream):
    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (chunk := await self.exchange.chunks.get()) is not None:
            if isinstance(chunk, Exception):
                raise chunk
            yield chunk

    async def aclose(self) -> None:
        self.exchange.closed = True


@dataclass
class Signed:
    """A thinking block that was given out."""

    block: dict[str, Any]
    prefix: str
    before: list[str]
    """Signatures of the thinking in front of it."""
    answer: int


class Endpoint(httpx2.AsyncBaseTransport):
    """Holds each request until it is told what to answer."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.faults: list[str] = []
        """What was wrong with the requests."""
        self.answers = 0
        self.signed: dict[str, Signed] = {}
        """Thinking by its signature."""
        self.paused = False
        """Whether the newest answer was a pause."""
        self.bodies: list[bytes] = []
        self.blind = False
        """Whether usage is left out."""
        self.rate = 0.35
        """Tokens a byte."""
        self._client: Any = None

    @property
    def open(self) -> list[Exchange]:
        """Requests that still wait for a part of their answer."""
        return [e for e in self.exchanges if not e.closed]

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            return httpx2.Response(
                404, json={"type": "error", "error": {"type": "not_found_error"}}
            )
        raw = await request.aread()
        self.bodies.append(raw)
        self.faults += complaints(raw, continuing=self.paused)
        self.faults += self.thinking_faults(json.loads(raw))
        exchange = Exchange(raw, json.loads(raw), asyncio.get_running_loop().create_future())
        self.exchanges.append(exchange)
        try:
            status, headers = await exchange.head
        except BaseException:
            exchange.closed = True
            raise
        return httpx2.Response(status, headers=headers, stream=_Stream(exchange))

    # Answering

    def begin(self, exchange: Exchange, blocks: list[Any], stop: str | None, size: int) -> None:
        """Plan an answer in pieces of so many bytes; `send` sends them.

        Args:
            exchange: The request.
            blocks: Text for a text block; a dict for any other block, its ``input`` JSON text or an object.
            stop: The stop reason; None leaves the end away.
            size: Bytes in a piece.
        """
        prompt = round(len(exchange.raw) * self.rate)
        usage = {} if self.blind else {"input_tokens": prompt // 4, "output_tokens": 1}
        usage |= {} if self.blind else {"cache_read_input_tokens": prompt - prompt // 4}
        body = sse.start(usage=usage)
        for index, block in enumerate(blocks):
            body += self._block(exchange, index, block)
        if stop is not None:
            body += sse.stop(stop, usage={} if self.blind else {"output_tokens": 40})
            body += sse.end()
        exchange.plan = pieces(body, size)
        exchange.head.set_result((200, EVENT_STREAM))

    def send(self, exchange: Exchange, count: int | None = None) -> None:
        """Send some pieces of the plan, all with None; the answer ends with the last."""
        count = len(exchange.plan) if count is None else count
        for chunk in exchange.plan[:count]:
            exchange.chunks.put_nowait(chunk)
        del exchange.plan[:count]
        if not exchange.plan:
            exchange.chunks.put_nowait(None)

    def refuse(self, exchange: Exchange, status: int, kind: str, message: str, **more: str) -> None:
        """Answer with an error."""
        headers = {"content-type": "application/json", **more}
        exchange.head.set_result((status, headers))
        body = {"type": "error", "error": {"type": kind, "message": message}}
        exchange.chunks.put_nowait(json.dumps(body).encode())
        exchange.chunks.put_nowait(None)

    def break_off(self, exchange: Exchange, error: Exception | None) -> None:
        """End the connection: with an error, or without a word."""
        if not exchange.begun:
            exchange.head.set_exception(error or httpx2.RemoteProtocolError("gone"))
        else:
            exchange.plan.clear()
            exchange.chunks.put_nowait(error)

    def number(self) -> int:
        """Return the number of a new answer."""
        self.answers += 1
        return self.answers

    def think(self, exchange: Exchange, text: str, *, redacted: bool = False) -> dict[str, Any]:
        """Return a new signed thinking block for an answer to this request."""
        messages = exchange.body["messages"]
        going_on = messages[-1]["role"] == "assistant"
        until = len(messages) - going_on
        prefix, before = _prefix(exchange.body, until), _signatures(messages[:until])
        secret = hashlib.sha256(f"{prefix}{text}{len(self.signed)}".encode()).hexdigest()
        if redacted:
            block = {"type": "redacted_thinking", "data": secret}
        else:
            block = {"type": "thinking", "thinking": text, "signature": secret}
        self.signed[secret] = Signed(block, prefix, before, self.answers)
        return block

    def _block(self, exchange: Exchange, index: int, block: Any) -> bytes:
        if isinstance(block, str):
            half = len(block) // 2
            return sse.text(index, block[:half], block[half:])
        match block.get("type"):
            case "thinking":
                return (
                    sse.block_start(index, type="thinking", thinking="")
                    + sse.delta(index, "thinking_delta", thinking=block["thinking"])
                    + sse.delta(index, "signature_delta", signature=block["signature"])
                    + sse.block_stop(index)
                )
            case "tool_use":
                raw = block["input"]
                text = raw if isinstance(raw, str) else json.dumps(raw)
                return sse.call(index, block["name"], text[:5], text[5:], id_=block["id"])
            case _:
                return sse.block_start(index, **block) + sse.block_stop(index)

    # Judging

    def thinking_faults(self, body: Any) -> list[str]:
        """Return where thinking does not come back as it was given out.

        In front of it all must be as it was, but for other thinking, of which the oldest or the newest may be gone.
        """
        found: list[str] = []
        for at, message in enumerate(body["messages"]):
            names = _signatures([message])
            signed = [self.signed[name] for name in names if name in self.signed]
            answers = {one.answer for one in signed}
            whole = [one.block for one in self.signed.values() if one.answer in answers]
            if [block for block in message["content"] if _thinks(block)] != whole:
                found.append(f"messages.{at}: thinking was altered, or only a part of it is there")
            before = _signatures(body["messages"][:at])
            for one in signed:
                if one.prefix != _prefix(body, at):
                    found.append(f"messages.{at}: thinking is bound to another conversation")
                elif not _is_slice(before, one.before):
                    found.append(f"messages.{at}: thinking in front of it is gone from the middle")
        return found


def _thinks(block: dict[str, Any]) -> bool:
    return block["type"] in ("thinking", "redacted_thinking")


def _signatures(messages: list[Any]) -> list[str]:
    blocks = [block for message in messages for block in message["content"] if _thinks(block)]
    return [block.get("signature") or block.get("data") for block in blocks]


def _is_slice(part: list[str], whole: list[str]) -> bool:
    """Whether a list is a piece of another without a gap."""
    starts = range(len(whole) - len(part) + 1)
    return any(whole[at : at + len(part)] == part for at in starts)


def _prefix(body: Any, until: int) -> str:
    """What thinking in a message is bound to, as a hash: what stands in front of it, whatever is cached of it."""
    messages = [
        [m["role"], [_plain(b) for b in m["content"] if not _thinks(b)]]
        for m in body["messages"][:until]
    ]
    system = body.get("system", [])
    system = [{"type": "text", "text": system}] if isinstance(system, str) else system
    system = [_plain(block) for block in system]
    tools = [_plain(tool) for tool in body.get("tools", ())]
    return hashlib.sha256(json.dumps([system, tools, messages]).encode()).hexdigest()


def _plain(block: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != "cache_control"}
