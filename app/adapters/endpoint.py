"""The endpoint that is called: its address, and what follows from whose machine it is."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from app.core.addresses import OFFICIAL_URL, is_loopback, is_official

LOCAL_KEY = "local"
"""Sent to a loopback endpoint when there is no key; such servers ignore it."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go."""

    base_url: str = OFFICIAL_URL
    """Without ``/v1`` and without a trailing slash."""

    @property
    def host(self) -> str:
        """Host name in lower case, without the port."""
        try:
            return urlsplit(self.base_url).hostname or ""
        except ValueError:
            return ""

    @property
    def official(self) -> bool:
        """Whether it is Anthropic's own API."""
        return is_official(self.base_url)

    @property
    def loopback(self) -> bool:
        """Whether it runs on this machine."""
        return is_loopback(self.base_url)

    @property
    def messages_url(self) -> str:
        """The address that a model call goes to."""
        return f"{self.base_url.rstrip('/')}/v1/messages"

    @property
    def proxy(self) -> str:
        """The proxy that the environment sets for this host, without its credentials; "" for none."""
        if self.loopback or proxy_bypass(self.host):
            return ""
        proxies = getproxies()
        proxy = proxies.get(urlsplit(self.base_url).scheme) or proxies.get("all") or ""
        scheme, _, rest = proxy.rpartition("://")
        return f"{scheme or 'http'}://{rest.rpartition('@')[2]}" if rest else ""
