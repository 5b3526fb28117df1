"""Refusals for length, as many servers word them: known for what they are, and no other figure taken for a window."""

from __future__ import annotations

import pytest

from app.adapters.endpoint import Endpoint
from app.adapters.endpoint_errors import Call, retry_after, status_error
from app.adapters.too_long import LEAST_WINDOW
from app.errors import Busy, ContextOverflow, ModelError, Rejected

CALL = Call(Endpoint("http://127.0.0.1:1"), "scripted")


def refused(message: str, **more: object) -> ModelError:
    error = {"type": "invalid_request_error", "message": message, **more}
    return status_error(400, {}, {"error": error}, CALL)


@pytest.mark.parametrize(
    ("message", "sent", "window"),
    [
        ("prompt is too long: 208310 tokens > 200000 maximum", 208_310, 200_000),
        (
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease",
            190_000,
            200_000,
        ),
        (
            "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
            5_000,
            4_096,
        ),
        (
            "This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens",
            200_000,
            131_072,
        ),
        (
            "You passed 4097 input tokens and requested 100 output tokens. However, the model's context length is "
            "only 4096 tokens, resulting in a maximum input length of 3996 tokens.",
            4_097,
            4_096,
        ),
        (
            "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
            5_000,
            4_096,
        ),
        ("request (9000 tokens) exceeds the available context size (8192 tokens)", 9_000, 8_192),
        (
            "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
            1_196_265,
            1_048_575,
        ),
        (
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            537_812,
            131_072,
        ),
        ("prompt token count of 128123 exceeds the limit of 128000", 128_123, 128_000),
        ("Your request exceeded model token limit: 262144 (requested: 300000)", 300_000, 262_144),
        (
            "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
            40_000,
            32_768,
        ),
        ("The model's maximum context length is 128k tokens", None, 128_000),
        ("Range of input length should be [1, 129024]", None, 129_024),
        ("Please reduce the length of the messages or completion.", None, None),
        ("Your input exceeds the context window of this model.", None, None),
    ],
)
def test_a_refusal_for_length_is_known_whoever_words_it(
    message: str, sent: int | None, window: int | None
) -> None:
    error = refused(message)
    assert isinstance(error, ContextOverflow)
    assert (error.sent, error.window) == (sent, window)


def test_a_code_alone_says_that_the_conversation_is_too_long() -> None:
    assert isinstance(refused("Bad request", code="context_length_exceeded"), ContextOverflow)


@pytest.mark.parametrize(
    "message",
    [
        "invalid params, context window exceeds limit (2013)",
        "The conversation exceeds the context window for model llama-3.1-8b",
        "context size of 0",
        f"maximum context length is {LEAST_WINDOW - 1}",
        f"maximum context length is {'9' * 6_000} tokens",
    ],
    ids=["an error code", "a version", "none", "too small", "endless"],
)
def test_a_figure_that_is_no_window_is_not_taken_for_one(message: str) -> None:
    error = refused(message)
    assert isinstance(error, ContextOverflow)
    assert error.window is None


@pytest.mark.parametrize("size", [0, -5, True, "8192"])
def test_a_window_without_sense_in_its_own_field_is_not_believed(size: object) -> None:
    error = refused("the request exceeds the available context size", n_ctx=size)
    assert isinstance(error, ContextOverflow)
    assert error.window is None


@pytest.mark.parametrize("body", ["[" * 200_000, '{"a":' * 200_000], ids=["lists", "objects"])
def test_a_body_nested_without_end_is_a_refusal_like_any_other(body: str) -> None:
    assert isinstance(status_error(400, {}, body, CALL), Rejected)


@pytest.mark.parametrize(
    "date",
    [
        "Wed, 32 Jan 99999 00:00:00 GMT",
        "Wed, 21 Oct 99999999999999999999 07:28:00 GMT",
        "soon",
    ],
)
def test_a_date_that_no_calendar_has_asks_for_no_wait(date: str) -> None:
    assert retry_after({"retry-after": date}) is None
    assert isinstance(status_error(429, {"retry-after": date}, {}, CALL), Busy)


def test_a_redirect_to_what_is_no_address_is_refused_and_not_shown() -> None:
    error = status_error(302, {"location": "https://evil\x1b]0;t\x07"}, "", CALL)
    assert isinstance(error, Rejected)
    assert "redirects to another address" in str(error)
