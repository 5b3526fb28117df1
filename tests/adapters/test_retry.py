"""When a call is tried again, and after which pause."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.adapters.connection_errors import ConnectionFailed, Reach
from app.adapters.retry import RetryPolicy, spell_seconds
from app.errors import (
    Busy,
    ContextOverflow,
    ModelError,
    NotMessagesApi,
    Rejected,
    StreamBroken,
    Unreachable,
)

POLICY = RetryPolicy()


def failed(reach: Reach) -> ConnectionFailed:
    return ConnectionFailed("x", reach=reach, hint="", url="")


@pytest.mark.parametrize(
    ("error", "attempts"),
    [
        (Busy("x"), 6),
        (Unreachable("x"), 6),
        (failed(Reach.BROKE), 6),
        (failed(Reach.SILENT), 3),
        (StreamBroken("x"), 3),
        (failed(Reach.REFUSED), 2),
        (failed(Reach.NO_SUCH_HOST), 2),
        (failed(Reach.CERTIFICATE), 1),
        (failed(Reach.TLS), 1),
        (failed(Reach.PROXY_REFUSED), 1),
        (Rejected("x"), 1),
        (ContextOverflow("x"), 1),
        (NotMessagesApi("x"), 1),
    ],
)
def test_the_kind_of_failure_decides_how_often(error, attempts):
    assert POLICY.attempts_for(error) == attempts
    with pytest.raises(ModelError) as raised:
        POLICY.pause(error, attempts, 0.0)
    assert raised.value is error


def test_a_policy_of_one_attempt_never_waits():
    with pytest.raises(Busy):
        RetryPolicy(attempts=1).pause(Busy("x"), 1, 0.0)


@given(st.integers(1, 5), st.floats(0, 1))
def test_pauses_double_up_to_a_bound_and_chance_only_shortens_them(attempt, chance):
    full = POLICY.pause(Busy("x"), attempt, 0.0)
    pause = POLICY.pause(Busy("x"), attempt, chance)
    assert full == min(POLICY.longest_backoff, POLICY.first_pause * 2 ** (attempt - 1))
    assert full * (1 - POLICY.jitter) <= pause <= full


@given(st.floats(0.001, 1e9, allow_nan=False))
def test_what_the_server_asks_for_is_kept_up_to_the_cap(seconds):
    error = Busy("x", retry_after=seconds)
    if seconds <= POLICY.longest_wait:
        assert POLICY.pause(error, 1, 0.5) == seconds
    else:
        with pytest.raises(Busy, match=r"[^.]\. The server asks to wait"):
            POLICY.pause(error, 1, 0.5)


@pytest.mark.parametrize(
    ("seconds", "text"), [(7, "7 s"), (119, "119 s"), (600, "10 min"), (86_400, "24 h")]
)
def test_spans_are_told_in_fitting_units(seconds, text):
    assert spell_seconds(seconds) == text
