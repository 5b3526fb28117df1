"""The user's own words in the head."""

from __future__ import annotations

from app.compaction.facts import Words
from app.compaction.words import render, shortened
from app.core.tokens import estimate_text


def spoken(count: int, size: int = 20) -> list[Words]:
    return [Words(2 * n + 1, f"request {n} " + "word " * size) for n in range(count)]


def test_all_words_are_there_when_there_is_room() -> None:
    text = render(spoken(5), 2_000, oldest_share=0.1)
    assert all(f"[m{2 * n + 1}] request {n} " in text for n in range(5))
    assert "left out" not in text


def test_the_first_and_the_newest_come_first_and_a_note_says_what_is_missing() -> None:
    text = render(spoken(100), 1_000, oldest_share=0.1)
    assert text.startswith("[m1] request 0 ")
    assert "[m199] request 99 " in text
    assert "[m101]" not in text
    assert "messages of the user left out here; recall m" in text
    assert estimate_text(text) <= 1_050


def test_what_stands_in_the_view_is_left_out() -> None:
    assert "request 1 " not in render(spoken(3), 2_000, oldest_share=0.1, skip={3})


def test_words_that_only_the_record_has_are_counted() -> None:
    assert "7 messages of the user left out" in render(
        spoken(2), 2_000, oldest_share=0.1, dropped=7
    )


def test_a_long_message_is_shown_in_part() -> None:
    text = render([Words(1, "start " + "x" * 9_000 + " end")], 300, oldest_share=0.1)
    assert "start " in text
    assert " end" in text
    assert "characters left out" in text
    assert estimate_text(text) < 400


def test_nothing_fits_into_no_room() -> None:
    assert render(spoken(3), 0, oldest_share=0.1) == ""
    assert render([], 1_000, oldest_share=0.1) == ""


def test_a_text_that_fits_is_not_touched() -> None:
    assert shortened("abc", 10) == "abc"
