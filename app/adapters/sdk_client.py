"""The SDK's client for one endpoint: imported late, and built from nothing that the environment says.

Together with `anthropic_model` this is the only place that knows the SDK.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from app.adapters.endpoint import LOCAL_KEY, Endpoint

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic

CONNECT_SECONDS = 10.0

Transport: TypeAlias = "httpx2.AsyncBaseTransport | Callable[[], httpx2.AsyncBaseTransport] | None"
"""What answers instead of the network, or a function that makes it once the SDK is loaded."""


@cache
def load_sdk() -> ModuleType:
    """Import the SDK and keep its log lines off the terminal. Takes seconds: run it in a thread."""
    import anthropic

    for name in ("anthropic", "httpx2", "httpcore2"):
        logger = logging.getLogger(name)
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
    return anthropic


def build_client(
    endpoint: Endpoint,
    *,
    key: str,
    token: str,
    transport: Transport,
    silence: float,
) -> AsyncAnthropic:
    """Return a client that neither retries nor follows redirects. Blocks: it may import the SDK.

    Args:
        endpoint: What is called.
        key: Sent as a bearer token, and to other hosts than Anthropic's also as ``x-api-key``; "" for none.
        token: Sent as a bearer token when there is no key.
        transport: Answers instead of the network.
        silence: Seconds without a byte that end a call.
    """
    import httpx2

    sdk = load_sdk()
    timeout = httpx2.Timeout(silence, connect=min(CONNECT_SECONDS, silence))
    options: dict[str, Any] = {"timeout": timeout, "follow_redirects": False}
    if transport is not None:
        given = transport
        if not isinstance(given, httpx2.AsyncBaseTransport):
            given = given()
        options["transport"] = given
    elif endpoint.loopback:
        host = endpoint.host
        never = f"all://[{host}]" if ":" in host else f"all://{host}"
        options["mounts"] = {never: None}  # whatever proxy the environment names
    headers: dict[str, str] = {}
    if not endpoint.official and (key or not token):
        headers["x-api-key"] = key or LOCAL_KEY
    client: AsyncAnthropic = sdk.AsyncAnthropic(
        api_key=None if token else key or LOCAL_KEY,
        auth_token=token or None,
        base_url=endpoint.base_url,
        timeout=timeout,
        max_retries=0,
        default_headers=headers,
        open_telemetry=False,
        http_client=sdk.DefaultAsyncHttpxClient(**options),
    )
    client._custom_headers = headers  # without those of ANTHROPIC_CUSTOM_HEADERS
    return client


def http_errors() -> tuple[type[Exception], ...]:
    """Return what the HTTP library raises while an answer is read."""
    import httpx2

    return (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL)
