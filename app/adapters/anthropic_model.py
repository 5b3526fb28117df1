"""The model behind the Messages API.

The SDK is imported and its client built in a thread, at the first call or by `warm_up`; importing this module costs
nothing. Calls go through the client's raw ``post``: the body's bytes are ours (a request never changes on its way), no
model warning is printed, and the answer's bytes are read by `AnswerBody`, which is more tolerant than typed events.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from app.adapters.answer_body import AnswerBody
from app.adapters.connection_errors import broken_stream, connection_error, only_pings
from app.adapters.endpoint import Endpoint
from app.adapters.endpoint_errors import Call, refused_field, status_error
from app.adapters.model_list import next_page, read_model, read_models
from app.adapters.model_table import max_output_of, price_of
from app.adapters.pictures import PicturesRefused, RefusedPictures, are_most_of
from app.adapters.request_body import encode_request
from app.adapters.retry import RetryPolicy
from app.adapters.sdk_client import Transport, build_client, http_errors, load_sdk
from app.core.addresses import OFFICIAL_URL
from app.core.prices import Price
from app.core.requests import (
    FieldDropped,
    ModelEvent,
    ModelInfo,
    ModelRequest,
    PicturesLeftOut,
    RetryWait,
)
from app.errors import Busy, ModelError, Rejected, StreamBroken, Unreachable

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic
    from anthropic._types import RequestOptions

SILENCE = 120.0
"""Seconds without a byte (pings are bytes) after which a call has failed."""
LOCAL_SILENCE = 600.0
"""The same on this machine, where a model may read a long prompt for minutes before its first byte."""
PINGS = 5
"""How many times the silence a stream may go on with pings alone; a model that thinks unseen sends nothing else."""
SLOWEST = 20.0
"""Tokens a second of a slow model: pings are also taken for life as long as it may need for the longest answer."""
LIST_SECONDS = 10.0
VERSION = "anthropic-version"
FIRST_VERSION = "2023-06-01"
"""What every compatible server knows."""
MAX_PAGES = 10
DEFAULT_RETRY = RetryPolicy()
DRAIN_SECONDS = 0.25
"""How long the end of a finished answer is waited for, so that the connection can be used again."""


class _FieldRefused(Exception):
    """The endpoint does not know an optional field of the request."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


class Refusals(Protocol):
    """Optional fields that the endpoint refused, also in earlier runs. Its methods may block."""

    def known(self) -> frozenset[str]:
        """Return the fields."""
        ...

    def add(self, field: str) -> None:
        """Keep another one, as far as that is possible."""
        ...


class AnthropicModel:
    """Implements `core.ports.Model` for one endpoint. Use it from one event loop."""

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        auth_token: str | None = None,
        transport: Transport = None,
        retry: RetryPolicy = DEFAULT_RETRY,
        silence: float | None = None,
        price: Callable[[], Price | None] = lambda: None,
        refusals: Refusals | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Set what is called and how; nothing is imported or opened yet.

        Args:
            base_url: Address without ``/v1``; None means Anthropic's own.
            api_key: Sent as a bearer token, and to other hosts than Anthropic's also as ``x-api-key``.
            auth_token: Sent as a bearer token when there is no key.
            transport: Answers instead of the network, or a function that makes it once the SDK is loaded.
            retry: When to try again.
            silence: Seconds without a byte that end a call; None chooses by endpoint.
            price: Returns what the user or the endpoint's kind says; None asks the table.
            refusals: What the endpoint refused in earlier runs; None keeps nothing over runs.
            sleep: Waits between attempts.
            chance: Random numbers from 0 to 1, for the jitter.
        """
        self.endpoint = Endpoint((base_url or OFFICIAL_URL).rstrip("/"))
        self._key = (api_key or "").strip()
        self._token = "" if self._key else (auth_token or "").strip()
        self._transport = transport
        self._retry = retry
        self._silence = silence or (LOCAL_SILENCE if self.endpoint.loopback else SILENCE)
        self._price = price
        self._sleep = sleep
        self._chance = chance
        self._dropped: set[str] = set()
        self._refusals = refusals
        self._recalled = refusals is None
        self._refused = RefusedPictures()
        self._reached = False
        """Whether the endpoint ever answered: then a lost connection is the network's fault, and may come back."""
        self._client: AsyncAnthropic | None = None
        self._building = asyncio.Lock()
        self._listed: tuple[ModelInfo, ...] | None = None

    async def warm_up(self) -> None:
        """Import the SDK and build the client in a thread, so that the first call need not."""
        await self._connected()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Send a request and yield what comes back, an `Answer` last; see `core.ports.Model`."""
        attempt = 1
        if self._refusals is not None and not self._recalled:
            self._dropped |= await asyncio.to_thread(self._refusals.known)
            self._recalled = True
        while True:
            failure: ModelError | None = None
            mended: ModelEvent
            try:
                async with aclosing(self._attempt(request)) as events:
                    async for event in events:
                        yield event
                return
            except _FieldRefused as refused:
                self._dropped.add(refused.field)
                if self._refusals is not None:
                    await asyncio.to_thread(self._refusals.add, refused.field)
                mended = FieldDropped(refused.field)
            except PicturesRefused as error:
                count = self._refused.note(error, request.messages, request.model)
                if not count:
                    raise
                mended = PicturesLeftOut(count, str(error), error.blind)
            except (Unreachable, Busy, StreamBroken) as error:
                failure = error
            if failure is None:
                yield mended
                continue
            known, retry = self._reached, self._retry
            pause = retry.pause(failure, attempt, self._chance(), known=known)
            limit = retry.attempts_for(failure, known=known)
            yield RetryWait(attempt, limit, pause, str(failure))
            await self._sleep(pause)
            attempt += 1

    async def models(self) -> tuple[ModelInfo, ...]:
        """Return what the endpoint lists; () when it has no list or does not answer."""
        if self._listed is not None:
            return self._listed
        found: list[ModelInfo] = []
        after = ""
        for _ in range(MAX_PAGES):
            query = f"?limit=1000{f'&after_id={quote(after)}' if after else ''}"
            body = await self._get(f"/v1/models{query}")
            found += read_models(body)
            after = next_page(body)
            if not after:
                break
        if found:
            self._listed = tuple(found)
        return tuple(found)

    async def info(self, model: str) -> ModelInfo | None:
        """Return what the endpoint says about a model, its longest answer from the table if need be, or None."""
        said = None
        if self._listed is None:
            said = read_model(await self._get(f"/v1/models/{quote(model, safe='')}"))
        if said is None or not said.id:
            said = next((info for info in await self.models() if info.id == model), None)
        longest = max_output_of(model, said)
        return replace(said or ModelInfo(model), max_output=longest) if longest else said

    def price(self, model: str) -> Price | None:
        """Return the price that was given, else the table's, else None."""
        return self._price() or price_of(model)

    async def close(self) -> None:
        """Release connections; the model can be used again and opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _attempt(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        model = request.model
        call = Call(self.endpoint, model, tuple(s for s in (self._key, self._token) if s))
        self._check_credentials(call)
        client = await self._connected()
        content, optional = encode_request(
            request,
            without=frozenset(self._dropped),
            signed_only=self.endpoint.official,
            instead=lambda image: self._refused.instead(image, model),
        )
        if pictures := self._refused.sent(request.messages, model):
            call = replace(call, pictures=True, mostly_pictures=are_most_of(pictures, content))
        response = await self._post(client, content, optional, call)
        taken = {use.id for message in request.messages for use in message.tool_uses}
        body, clock = AnswerBody(call, taken), asyncio.get_running_loop().time
        parts, grew = 0, clock()
        patience = max(PINGS * self._silence, request.max_tokens / SLOWEST)
        try:
            chunks = response.aiter_bytes()
            async for chunk in chunks:
                for event in body.feed(chunk):
                    yield event
                if body.finished:
                    break
                if body.parts > parts:
                    parts, grew = body.parts, clock()
                elif clock() - grew >= patience:
                    raise only_pings(self.endpoint, seconds=patience)
            await _drain(chunks)
        except http_errors() as error:
            raise broken_stream(error, self.endpoint, silence=self._silence) from error
        finally:
            await response.aclose()
        for event in body.end():
            yield event

    async def _post(
        self, client: AsyncAnthropic, content: bytes, optional: frozenset[str], call: Call
    ) -> httpx2.Response:
        import httpx2

        sdk = load_sdk()
        try:
            response: httpx2.Response = await client.post(
                "/v1/messages",
                content=content,
                cast_to=httpx2.Response,
                options=self._options(),
                stream=True,
                stream_cls=sdk.AsyncStream,
            )
        except sdk.APIStatusError as error:
            self._reached = True
            if not self.endpoint.official and VERSION not in self._dropped:
                optional |= {VERSION}
            if field := refused_field(error.status_code, error.body, optional):
                raise _FieldRefused(field) from error
            raise status_error(
                error.status_code, error.response.headers, error.body, call
            ) from error
        except (sdk.APIConnectionError, *http_errors()) as error:
            raise connection_error(error, self.endpoint, silence=self._silence) from error
        self._reached = True
        return response

    def _options(self) -> RequestOptions:
        """Headers of one call: a server that refused the SDK's version of the API gets the first one."""
        return {"headers": {VERSION: FIRST_VERSION}} if VERSION in self._dropped else {}

    async def _get(self, path: str) -> Any:
        """Return the JSON that a GET gives, or None when it gives none."""
        try:
            self._check_credentials(Call(self.endpoint, ""))
        except Rejected:
            return None
        client = await self._connected()
        import httpx2

        try:
            response = await client.get(
                path, cast_to=httpx2.Response, options={"timeout": LIST_SECONDS}
            )
            return json.loads(response.content)
        except (ValueError, RecursionError, load_sdk().APIError, *http_errors()):
            return None

    def _check_credentials(self, call: Call) -> None:
        secret = self._key or self._token
        if not secret and not self.endpoint.loopback:
            raise Rejected(
                f"There is no key for {call.url}.",
                hint="Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN), in the environment or in .env.",
                url=call.url,
            )
        if any(not char.isascii() or not char.isprintable() or char == " " for char in secret):
            raise Rejected(
                "The key contains a blank, a line break or a character that no key has.",
                hint="Copy it again without what stands around it: ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN.",
                url=call.url,
            )

    async def _connected(self) -> AsyncAnthropic:
        async with self._building:
            if self._client is None:
                self._client = await asyncio.to_thread(
                    build_client,
                    self.endpoint,
                    key=self._key,
                    token=self._token,
                    transport=self._transport,
                    silence=self._silence,
                )
            return self._client


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    """Read the end of a finished body; a server that keeps it open is not waited for, nor one that breaks."""
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in chunks:
                pass
    except TimeoutError:
        return
    except http_errors():
        return
