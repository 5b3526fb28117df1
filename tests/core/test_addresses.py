from __future__ import annotations

import pytest

from app.adapters.endpoint import Endpoint
from app.core.addresses import is_loopback, is_official
from app.settings import is_plain_http


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost",
        "http://LOCALHOST.:1",
        "http://a.localhost",
        "http://127.0.0.1:1",
        "http://127.9.9.9",
        "http://[::1]:1",
        "http://[::ffff:127.0.0.1]",
        "http://0.0.0.0:1",
    ],
)
def test_this_machine_is_known_by_its_names(url: str) -> None:
    assert is_loopback(url)
    assert not is_plain_http(url)
    assert Endpoint(url).loopback  # so that it is called without a key, as the settings promise


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1.example.com",
        "http://localhost.example.com",
        "http://notlocalhost",
        "http://.localhost",
        "http://example.com\\x.localhost",
        "http://example.com%2f.localhost",
        "http://example.com;.localhost",
        "http://[fe80::1%25.localhost]",
        "http://10.0.0.1",
        "http://192.168.1.2",
        "http://127.1",
        "http://[fe80::1]",
    ],
)
def test_another_machine_is_not_taken_for_this_one(url: str) -> None:
    assert not is_loopback(url)
    assert is_plain_http(url)
    assert not is_plain_http(url.replace("http:", "https:"))


def test_only_anthropics_own_address_over_https_is_official() -> None:
    assert is_official("https://api.anthropic.com")
    for url in (
        "http://api.anthropic.com",
        "https://api.anthropic.com.example.com",
        "https://api.anthropic.com:8443",
        "https://example.com/api.anthropic.com",
    ):
        assert not is_official(url)
