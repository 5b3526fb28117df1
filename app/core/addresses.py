"""Whose machine an endpoint's address names: this one, Anthropic's, or another."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

OFFICIAL_URL = "https://api.anthropic.com"
_LOCAL_NAME = re.compile(r"(?:[a-z0-9_-]+\.)*localhost")
r"""Other characters before the dot could be read as an address's end elsewhere: ``evil.example\x.localhost``."""


def is_loopback(url: str) -> bool:
    """Whether the address names this machine by a name or number that cannot lead elsewhere."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return False
    return host is not None and is_loopback_host(host)


def is_loopback_host(host: str) -> bool:
    """Whether a host name or number, without a port, means this machine."""
    name = host.lower().strip("[]").removesuffix(".")
    if _LOCAL_NAME.fullmatch(name):
        return True
    import ipaddress  # seldom needed, and slow

    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return address.is_loopback or address.is_unspecified or bool(mapped and mapped.is_loopback)


def is_official(url: str) -> bool:
    """Whether the address is Anthropic's own, over https."""
    try:
        parts = urlsplit(url)
        return (
            parts.scheme == "https"
            and parts.hostname == "api.anthropic.com"
            and parts.port in (None, 443)
        )
    except ValueError:
        return False
