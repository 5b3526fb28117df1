"""Addresses of endpoints: what is made of them, and what is said about those that cannot be used."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.settings import clean_base_url


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("https://api.anthropic.com", "https://api.anthropic.com"),
        (" https://api.anthropic.com/ \n", "https://api.anthropic.com"),
        ("https://api.anthropic.com/v1", "https://api.anthropic.com"),
        ("https://api.anthropic.com/v1/", "https://api.anthropic.com"),
        ("https://h/api/anthropic/", "https://h/api/anthropic"),
        ("https://h/api/v1", "https://h/api"),
        ("https://h/v1/v1", "https://h/v1"),
        ("https://h/v12", "https://h/v12"),
        ("http://localhost:11434//", "http://localhost:11434"),
        ("HTTP://127.0.0.1:8080/v1", "http://127.0.0.1:8080"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_an_address_is_brought_into_the_form_that_works(text: str, clean: str) -> None:
    assert clean_base_url(text) == clean
    assert clean_base_url(text.strip() + "/") == clean


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("api.anthropic.com", "write https://api.anthropic.com"),
        ("localhost:11434", "write http://localhost:11434"),
        ("https:/h", "scheme is missing"),
        ("ftp://h", "write http:// or https://"),
        ("https://", "host is missing"),
        ("https://h?a=b", "remove everything from '?'"),
        ("https://h/?", "remove everything from '?'"),
        ("https://h/#x", "fragment"),
        ("https://u:p@h", "user name"),
        ("https://h:port", "not an address"),
        ("https://h:99999", "not an address"),
        ("https://h/v1/messages", "leave /v1/messages off: https://h"),
        ("https://h/v1/chat/completions", "leave /chat/completions off: https://h"),
        ("https://h a", "blank"),
        ("https://\u0430nthropic.com", "not ASCII"),
        ("https://h\x1b[0m", "blank or a character"),
    ],
)
def test_what_cannot_be_used_says_what_to_change(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        clean_base_url(text)
    assert says in str(error.value)


@given(st.text(max_size=40))
def test_any_text_is_either_clean_or_refused(text: str) -> None:
    try:
        clean = clean_base_url("https://" + text)
    except ValueError:
        return
    assert clean.startswith("https://")
    assert not clean.endswith("/")
    assert "?" not in clean
