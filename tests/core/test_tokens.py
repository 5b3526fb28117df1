"""Estimates of tokens, beside a real tokenizer."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.tokens import chars_that_fit, estimate_text
from tests.benchmarks.sessions import markdown
from tests.benchmarks.tokenizer import tokens_of

SAMPLES = {
    "prose": markdown(3, 6_000),
    "JSON": json.dumps([{"id": n, "name": f"user_{n}", "ok": True} for n in range(90)], indent=1),
    "Chinese": "请先读取配置文件,然后修改解析器并运行全部测试。" * 60,
    "base64": base64.b64encode(bytes(n * 37 % 251 for n in range(4_000))).decode(),
    "base64 in a line of JSON": json.dumps(
        {"key": base64.b64encode(bytes(range(256)) * 8).decode()}
    ),
}


@pytest.mark.parametrize("kind", SAMPLES)
def test_an_estimate_is_near_what_a_tokenizer_counts(kind: str) -> None:
    counted = tokens_of({"type": "text", "text": SAMPLES[kind]})
    assert 0.75 < estimate_text(SAMPLES[kind]) / counted < 1.8


@given(st.text(), st.text(max_size=200))
def test_more_text_is_never_fewer_tokens(text: str, more: str) -> None:
    assert estimate_text(text + more) >= estimate_text(text)


@given(st.text(), st.floats(0, 500))
def test_what_fits_fits_and_one_more_character_would_not(text: str, room: float) -> None:
    count = chars_that_fit(text, room)
    assert count == 0 or estimate_text(text[:count]) <= room
    assert count == len(text) or estimate_text(text[: count + 1]) > room
