"""Connections that failed or broke, told in plain words: who did not answer, and what to do about it."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from enum import StrEnum

from app.adapters.endpoint import Endpoint
from app.errors import ModelError, Rejected, StreamBroken, Unreachable


class Reach(StrEnum):
    """How far a connection came."""

    NO_SUCH_HOST = "no such host"
    REFUSED = "refused"
    NO_ROUTE = "no route"
    TIMED_OUT = "timed out"
    CERTIFICATE = "certificate"
    TLS = "tls"
    PROXY = "proxy"
    """The proxy does not answer."""
    PROXY_REFUSED = "proxy refused"
    """The proxy answered with a no."""
    SILENT = "silent"
    """Connected, and then no byte came."""
    BROKE = "broke"


class ConnectionFailed(Unreachable):
    """An `Unreachable` that knows how far the connection came."""

    def __init__(self, message: str, *, reach: Reach, hint: str, url: str) -> None:
        super().__init__(message, hint=hint, url=url)
        self.reach = reach


def connection_error(error: BaseException, endpoint: Endpoint, *, silence: float) -> ModelError:
    """Return the error for a call that got no answer.

    Args:
        error: What the HTTP library raised; its causes tell more.
        endpoint: What was called.
        silence: Seconds without a byte after which the library gives up.
    """
    url = endpoint.messages_url
    names = [type(cause).__name__ for cause in _causes(error)]
    if "UnsupportedProtocol" in names or "InvalidURL" in names or "LocalProtocolError" in names:
        return Rejected(
            f"{url} cannot be called: {_last_words(error)}",
            hint="Check ANTHROPIC_BASE_URL: it starts with http:// or https:// and has no /v1 at its end.",
            url=url,
        )
    reach = _reach(error, names, endpoint)
    message, hint = _words(reach, error, endpoint, silence)
    return ConnectionFailed(message, reach=reach, hint=hint, url=url)


def broken_stream(error: BaseException, endpoint: Endpoint, *, silence: float) -> StreamBroken:
    """Return the error for an answer whose connection broke or fell silent after it had begun."""
    names = [type(cause).__name__ for cause in _causes(error)]
    if any("Timeout" in name for name in names):
        what = f"fell silent for {silence:g} s in the middle of an answer"
    elif "DecodingError" in names:
        what = "sent an answer whose compression is damaged"
    else:
        what = "broke the connection in the middle of an answer"
    return _broken(what, endpoint)


def only_pings(endpoint: Endpoint, *, seconds: float) -> StreamBroken:
    """Return the error for an answer that does not go on although the connection lives."""
    return _broken(f"sent nothing but signs of life for {seconds:g} s", endpoint)


def _broken(what: str, endpoint: Endpoint) -> StreamBroken:
    return StreamBroken(
        f"{endpoint.messages_url} {what}.",
        hint="Send the message again; if it happens often, look at the proxy or gateway in between.",
        url=endpoint.messages_url,
    )


def _reach(error: BaseException, names: list[str], endpoint: Endpoint) -> Reach:
    causes = list(_causes(error))
    connecting = "ConnectError" in names or "ConnectTimeout" in names
    if "ProxyError" in names:
        return Reach.PROXY_REFUSED
    if connecting and endpoint.proxy and not any(isinstance(c, ssl.SSLError) for c in causes):
        return Reach.PROXY
    for kind, reach in (
        (socket.gaierror, Reach.NO_SUCH_HOST),
        (ssl.SSLCertVerificationError, Reach.CERTIFICATE),
        (ConnectionRefusedError, Reach.REFUSED),
    ):
        if any(isinstance(cause, kind) for cause in causes):
            return reach
    if "ConnectTimeout" in names:
        return Reach.TIMED_OUT
    if "ConnectError" in names and any(isinstance(cause, ssl.SSLError) for cause in causes):
        return Reach.TLS
    if "ConnectError" in names:
        return Reach.NO_ROUTE
    if any("Timeout" in name for name in names):
        return Reach.SILENT
    return Reach.BROKE


def _words(
    reach: Reach, error: BaseException, endpoint: Endpoint, silence: float
) -> tuple[str, str]:
    url, host = endpoint.messages_url, endpoint.host
    base = "Check ANTHROPIC_BASE_URL and your network."
    match reach:
        case Reach.NO_SUCH_HOST:
            return f"The host {host} is not known ({url}).", base
        case Reach.REFUSED if endpoint.loopback:
            return (
                f"Nothing listens at {url}: the connection was refused.",
                "Start the local server, or correct ANTHROPIC_BASE_URL (host and port).",
            )
        case Reach.REFUSED:
            return f"{host} refused the connection ({url}).", base
        case Reach.NO_ROUTE:
            return f"No connection to {host} comes about ({url}): {_last_words(error)}", base
        case Reach.TIMED_OUT:
            return f"No connection to {host} came about in time ({url}).", base
        case Reach.CERTIFICATE:
            return (
                f"The certificate of {host} is not trusted ({url}): {_last_words(error)}",
                "Behind a company proxy, set SSL_CERT_FILE to its root certificate.",
            )
        case Reach.TLS:
            return (
                f"No TLS connection to {host} came about ({url}): {_last_words(error)}",
                "If this server speaks plain HTTP, write http:// in ANTHROPIC_BASE_URL.",
            )
        case Reach.PROXY:
            return (
                f"The proxy {endpoint.proxy} does not answer; it stands between here and {url}.",
                "Start it, or unset HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, or add the host to NO_PROXY.",
            )
        case Reach.PROXY_REFUSED:
            return (
                f"The proxy {endpoint.proxy} refused to connect to {url}: {_last_words(error)}",
                "Check the proxy's user name and rules (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY).",
            )
        case Reach.SILENT:
            return (
                f"{url} took the request and sent nothing for {silence:g} s.",
                "Try again; a slow local model may need a longer request_timeout.",
            )
        case Reach.BROKE:
            return f"{url} closed the connection before an answer began.", base


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _last_words(error: BaseException) -> str:
    """The innermost message that says anything."""
    said = [str(cause) for cause in _causes(error) if str(cause)]
    return said[-1] if said else type(error).__name__
