from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.ui import format


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (940, "940"),
        (6_100, "6.1k"),
        (9_960, "10k"),
        (50_000, "50k"),
        (999_499, "999k"),
        (1_200_000, "1.2M"),
    ],
)
def test_tokens_are_written_short(count, text):
    assert format.short_tokens(count) == text


@given(st.integers(0, 99_000_000))
def test_short_tokens_have_at_most_five_characters(count):
    assert len(format.short_tokens(count)) <= 5


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.42, "0.4s"), (12.4, "12s"), (59.6, "1m 00s"), (185, "3m 05s"), (4_800, "1h 20m")],
)
def test_durations_read_like_a_clock(value, text):
    assert format.seconds(value) == text


@pytest.mark.parametrize(
    ("dollars", "text"),
    [(None, "$?"), (0.0, "$0.00"), (1.234, "$1.23"), (0.021, "$0.021"), (0.0012, "$0.0012")],
)
def test_small_costs_keep_their_digits_and_an_unknown_one_says_so(dollars, text):
    assert format.cost(dollars) == text


@given(st.integers(1, 60))
def test_a_folder_never_takes_more_than_its_room(width):
    path = Path("/home/me/work/a/very/long/folder/name/that/goes/on")
    assert len(format.short_path(path, Path("/home/me"), width)) <= width


def test_the_home_folder_is_a_tilde():
    assert format.short_path(Path("/home/me/work"), Path("/home/me"), 40) == "~/work"
    assert format.short_path(Path("/home/me"), Path("/home/me"), 40) == "~"


def test_a_time_that_is_none_is_left_out():
    assert format.clock("yesterday") == ""


@pytest.mark.parametrize(
    ("count", "text"), [(1, "1 result"), (0, "0 results"), (1_200, "1,200 results")]
)
def test_nouns_follow_their_number(count, text):
    assert format.plural(count, "result") == text
