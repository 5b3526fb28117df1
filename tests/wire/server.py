"""A scriptable HTTP server on 127.0.0.1 with real sockets: chunks, pauses, cuts, stalls and resets."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

PING = b'event: ping\ndata: {"type": "ping"}\n\n'
PING_SECONDS = 40.0


@dataclass
class Received:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Reply:
    """What the server does with one request.

    `ending` is how it ends after the last chunk: "whole" (proper end of the chunked body), "cut" (the socket closes
    inside the chunked body), "close" (no length was announced, the socket closes), "reset" (TCP reset), "stall"
    (nothing more, until the client goes), "ping" (pings and nothing else, until the client goes), "open" (like whole,
    but the chunked body is never ended). With status 0 not even a header is sent: "close" and "reset" end the
    connection, anything else leaves the client waiting.
    """

    chunks: Iterable[bytes] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    ending: str = "whole"
    gate: asyncio.Event | None = None
    """When set, waits for it after the first chunk."""


def pieces(body: bytes, size: int) -> list[bytes]:
    """The body in chunks of `size` bytes."""
    return [body[i : i + size] for i in range(0, len(body), size)]


def json_reply(body: Any, status: int = 200, **headers: str) -> Reply:
    head = {
        "content-type": "application/json",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    return Reply([json.dumps(body).encode()], status, head)


def error_reply(status: int, kind: str, message: str, **headers: str) -> Reply:
    return json_reply(
        {"type": "error", "error": {"type": kind, "message": message}}, status, **headers
    )


Brain = Callable[[Received], Reply]
"""Gives the reply to each request in turn."""


def in_turn(replies: Iterable[Reply]) -> Brain:
    """Answers the nth request with the nth reply; the last reply repeats."""
    left = list(replies)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


class WireServer:
    """Answers each request as its brain says."""

    def __init__(self, brain: Brain) -> None:
        self.brain = brain
        self.requests: list[Received] = []
        self.connections = 0
        self.client_gone = asyncio.Event()
        """Set when a client closed a connection in the middle of a reply."""
        self.url = ""
        self.tasks: set[asyncio.Task[None] | None] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.tasks.add(asyncio.current_task())
        try:
            while await self._one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            self.client_gone.set()
        except asyncio.CancelledError:
            pass  # the test is over
        finally:
            self.tasks.discard(asyncio.current_task())
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        received = Received(method, path, headers, body)
        self.requests.append(received)
        return await self._answer(self.brain(received), reader, writer)

    async def _answer(
        self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        if reply.status == 0:
            if reply.ending == "reset":
                _reset(writer)
            elif reply.ending != "close":
                await reader.read(1)
                self.client_gone.set()
            return False
        chunked = reply.ending != "close"
        headers = {
            **reply.headers,
            **({"transfer-encoding": "chunked"} if chunked else {"connection": "close"}),
        }
        writer.write(f"HTTP/1.1 {reply.status} Scripted\r\n".encode())
        writer.write("".join(f"{k}: {v}\r\n" for k, v in headers.items()).encode() + b"\r\n")
        for number, chunk in enumerate(filter(None, reply.chunks)):
            writer.write(b"%x\r\n%s\r\n" % (len(chunk), chunk) if chunked else chunk)
            await writer.drain()
            if number == 0 and reply.gate is not None:
                await reply.gate.wait()
        match reply.ending:
            case "whole":
                writer.write(b"0\r\n\r\n")
                await writer.drain()
                return True
            case "stall" | "open":
                await writer.drain()
                if not await reader.read(1):
                    self.client_gone.set()
            case "ping":
                await self._ping(reader, writer)
            case "reset":
                await writer.drain()
                _reset(writer)
        return False

    async def _ping(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        gone = asyncio.ensure_future(reader.read(1))
        while not (await asyncio.wait([gone], timeout=PING_SECONDS))[0]:
            writer.write(b"%x\r\n%s\r\n" % (len(PING), PING))
        self.client_gone.set()


def _reset(writer: asyncio.StreamWriter) -> None:
    linger = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()


@asynccontextmanager
async def wire_server(*replies: Reply, brain: Brain | None = None) -> AsyncIterator[WireServer]:
    """A running server that gives the replies in turn, or what a brain says; `url` is its base URL."""
    script = WireServer(brain or in_turn(replies))
    server = await asyncio.start_server(script.serve, "127.0.0.1", 0)
    script.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield script
    finally:
        server.close()
        left = [task for task in script.tasks if task is not None]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


def unused_port() -> int:
    """A port at which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
