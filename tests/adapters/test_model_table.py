"""Windows and prices: who is believed, and what is said where nobody knows."""

from __future__ import annotations

import pytest

from app.adapters.model_list import next_page, read_model, read_models
from app.adapters.model_table import known_model, max_output_of, price_of, window_of
from app.core.budget import Usage
from app.core.requests import ModelInfo


@pytest.mark.parametrize(
    ("model", "input_price"),
    [
        ("claude-opus-5-5", 4),
        ("claude-opus-5", 5),
        ("claude-sonnet-4-5-20250929", 3),
        ("claude-haiku-4-5-latest", 1),
        ("anthropic/claude-sonnet-4.6", 3),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", 5),
        ("claude-opus-4-5@20251101", 5),
        ("Claude-Sonnet-5-5", 2),
    ],
)
def test_a_known_model_is_found_under_its_many_names(model, input_price):
    assert price_of(model).input == input_price


@pytest.mark.parametrize(
    "model", ["", "gpt-5", "qwen3-coder", "claude-opus-5-7", "claude-opus-6", "claude-opus-50"]
)
def test_a_model_that_is_not_in_the_table_has_no_price(model):
    assert known_model(model) is None
    assert price_of(model) is None


def test_the_price_of_a_request_counts_cached_tokens_at_their_own_price():
    cost = price_of("claude-opus-5").of(
        Usage(input=1_000_000, cache_read=1_000_000, cache_write=1_000_000, output=1_000_000)
    )
    assert cost == pytest.approx(5 + 0.5 + 6.25 + 25)


@pytest.mark.parametrize(
    ("model", "listed", "setting", "official", "expected"),
    [
        ("claude-opus-5", 500_000, None, True, (500_000, "endpoint")),
        ("claude-opus-5", 500_000, 90_000, True, (90_000, "settings")),
        ("claude-opus-5", 500_000, 900_000, True, (500_000, "endpoint")),
        ("claude-opus-5", None, 90_000, True, (90_000, "settings")),
        ("claude-opus-5", None, None, True, (1_000_000, "table")),
        ("new-model", None, None, True, (200_000, "assumed")),
        ("qwen3", None, None, False, (32_000, "assumed")),
    ],
)
def test_the_window_comes_from_the_best_source_and_says_which(
    model, listed, setting, official, expected
):
    info = ModelInfo(model, window=listed) if listed else None
    assert window_of(model, info, setting, official=official) == expected


def test_the_longest_answer_comes_from_the_endpoint_or_the_table():
    assert max_output_of("claude-opus-5", ModelInfo("claude-opus-5", max_output=9)) == 9
    assert max_output_of("claude-opus-5", None) == 128_000
    assert max_output_of("qwen3", None) is None


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (
            {"id": "m", "display_name": "M", "max_input_tokens": 9, "max_tokens": 3},
            ModelInfo("m", "M", 9, 3),
        ),
        ({"id": "m", "max_input_tokens": None, "max_tokens": None}, ModelInfo("m")),
        ({"id": "m", "max_model_len": 8192}, ModelInfo("m", window=8192)),
        ({"id": "m", "context_length": 4096, "name": "M"}, ModelInfo("m", "M", 4096)),
        ({"name": "llama3:8b", "size": 7}, ModelInfo("llama3:8b")),
        ({"id": "m", "max_input_tokens": "9", "max_tokens": 0}, ModelInfo("m")),
        ({"object": "model"}, None),
        (["m"], None),
    ],
)
def test_an_entry_of_a_list_is_read_in_the_dialects_of_many_servers(raw, expected):
    assert read_model(raw) == expected


def test_lists_of_other_shapes_are_read_or_empty():
    assert [info.id for info in read_models({"models": [{"name": "a"}]})] == ["a"]
    assert [info.id for info in read_models([{"id": "a"}, 7, {}])] == ["a"]
    assert read_models({"data": {"id": "a"}}) == ()
    assert next_page({"has_more": True}) == ""
    assert next_page([]) == ""
