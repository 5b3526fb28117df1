"""The same replies without sockets: an httpx2 transport for any host name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

import httpx2

from tests.wire.server import Received, Reply


class _Chunks(httpx2.AsyncByteStream):
    def __init__(self, chunks: Iterable[bytes]) -> None:
        self.chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            await asyncio.sleep(0)
            yield chunk


class ScriptedTransport(httpx2.MockTransport):
    """Answers the nth request with the nth reply; the last repeats. Keeps what it was sent."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.requests: list[Received] = []
        self.urls: list[str] = []
        super().__init__(self._answer)

    async def _answer(self, request: httpx2.Request) -> httpx2.Response:
        headers = {key.lower(): value for key, value in request.headers.items()}
        self.requests.append(
            Received(request.method, request.url.path, headers, await request.aread())
        )
        self.urls.append(str(request.url))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return httpx2.Response(reply.status, headers=reply.headers, stream=_Chunks(reply.chunks))
