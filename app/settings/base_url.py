"""The address of the endpoint: what is accepted, and what kind of host it names."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from app.core.addresses import OFFICIAL_URL, is_loopback, is_loopback_host

ALLOWED = (
    f"an address such as {OFFICIAL_URL} or http://localhost:11434, without /v1 and without a query"
)


def clean_base_url(text: str) -> str:
    """Return the address in the form the SDK wants: no blank around it, no trailing ``/`` or ``/v1``.

    Raises:
        ValueError: It cannot be used; the message says what to change.
    """
    url = text.strip()
    if any(not char.isascii() or not char.isprintable() or char == " " for char in url):
        raise ValueError("it contains a blank or a character that is not ASCII; remove it")
    if "://" not in url:
        scheme = "http" if is_loopback_host(url.split("/")[0].rsplit(":", 1)[0]) else "https"
        raise ValueError(f"the scheme is missing; write {scheme}://{url}")
    parts = _split(url)
    if parts.scheme.lower() not in ("http", "https"):
        raise ValueError(f"{parts.scheme}:// is not spoken here; write http:// or https://")
    if not parts.hostname:
        raise ValueError(f"the host is missing after {parts.scheme}://")
    if parts.username is not None or parts.password is not None:
        raise ValueError("it contains a user name; remove it and set ANTHROPIC_API_KEY instead")
    if parts.query or "?" in url:
        raise ValueError(f"it has a query; remove everything from '?' on: {url.split('?')[0]}")
    if "#" in url:
        raise ValueError(f"it has a fragment; remove everything from '#' on: {url.split('#')[0]}")
    path = parts.path.rstrip("/").removesuffix("/v1").rstrip("/")
    for tail in ("/v1/messages", "/messages", "/chat/completions", "/v1/chat"):
        if parts.path.rstrip("/").endswith(tail):
            base = parts.path.rstrip("/").removesuffix(tail).removesuffix("/v1")
            raise ValueError(
                f"it names one call of the API; leave {tail} off: {parts.scheme}://{parts.netloc}{base}"
            )
    return f"{parts.scheme.lower()}://{parts.netloc}{path}"


def is_plain_http(url: str) -> bool:
    """Whether what is sent there can be read on the way: http to another machine."""
    return url.lower().startswith("http://") and not is_loopback(url)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - reading it checks it
    except ValueError as error:
        raise ValueError(f"it is not an address ({error})") from error
    return parts
