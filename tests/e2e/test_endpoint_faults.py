"""The worst days of an endpoint as the user sees them: what the screen says, what Esc does, and that work goes on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from tests.e2e.desk import EMPTY_PROMPT, READY, Desk, answer_question, ask, chat, finish, opened
from tests.e2e.endpoint import (
    Body,
    Cut,
    Endpoint,
    Held,
    Page,
    Reaction,
    Refusal,
    calls,
    demo_brain,
    says,
)

pytestmark = pytest.mark.slow
OVERLOADED = Refusal(529, "overloaded_error", "Overloaded")
FIRST = "what is in this folder?"


class Moods:
    """Reacts to requests of a kind with these first, and otherwise as a good brain does."""

    def __init__(
        self,
        *moods: Reaction,
        on: Callable[[Body], bool] = lambda body: True,
        good: Callable[[Body], Reaction] = lambda body: says("All is well."),
    ) -> None:
        self.moods = list(moods)
        self.on, self.good = on, good

    def brain(self, body: Body) -> Reaction:
        return self.moods.pop(0) if self.moods and self.on(body) else self.good(body)


def seconds_left(screen: str) -> int:
    """What the countdown of the next attempt says."""
    found = re.search(r"Attempt \d of \d failed, next in (\d+)s", screen)
    return int(found[1]) if found else -1


def test_a_rate_limit_counts_down_esc_ends_it_and_a_day_is_not_waited(desk: Desk) -> None:
    busy = Refusal(429, "rate_limit_error", "slow down", {"retry-after": "50"})
    day = Refusal(429, "rate_limit_error", "slow down", {"retry-after": "86400"})
    with Endpoint(Moods(busy, day).brain) as endpoint, opened(desk.use(endpoint).pal()) as pal:
        pal.say(FIRST)
        pal.wait_for("Attempt 1 of 6 failed", "Esc cancels", "Too many requests")
        first = seconds_left(pal.text)
        assert 0 < first <= 50, pal.text
        pal.until(lambda: -1 < seconds_left(pal.text) < first, "a countdown")
        pal.press("escape")
        finish(pal)
        assert len(endpoint.sent) == 1
        pal.until(lambda: EMPTY_PROMPT not in pal.text, "what was not answered back in the prompt")
        pal.press("ctrl+u")
        pal.wait_for(EMPTY_PROMPT)
        ask(pal, "and now?")
        assert "wait 24 h" in chat(pal) and "Try again then" in chat(pal)
        assert len(endpoint.sent) == 2
        ask(pal, "and at last?")
        assert "All is well." in chat(pal)
        assert endpoint.invalid == []
        told = endpoint.sent[-1].user_texts()
        assert [text in told for text in (FIRST, "and now?", "and at last?")] == [True] * 3


def test_a_silent_stream_is_told_and_tried_again_and_its_text_is_gone(desk: Desk) -> None:
    held = Held(says("These words are void. " * 20), pieces=6)
    with Endpoint(Moods(held).brain) as endpoint:
        desk.use(endpoint, PAL_REQUEST_TIMEOUT="3")
        with opened(desk.pal()) as pal:
            pal.say(FIRST)
            pal.wait_for("These words are void.")
            pal.wait_for("All is well.")
            finish(pal)
            assert "void" not in chat(pal)
        held.release.set()
        assert len(endpoint.sent) >= 2
        assert endpoint.invalid == []


def test_a_call_whose_connection_is_reset_writes_nothing_and_is_asked_for_again(
    desk: Desk,
) -> None:
    def good(body: Body) -> Reaction:
        if body["messages"][-1]["content"][-1]["type"] == "tool_result":
            return says("It is written.")
        return calls("write_file", "toolu_good", path="note.txt", content="whole")

    ghost = calls("write_file", "toolu_ghost", path="ghost.txt", content="x" * 4_000)
    with Endpoint(Moods(Cut(ghost, "ghost.txt"), good=good).brain) as endpoint:
        desk.use(endpoint)
        with opened(desk.pal()) as pal:
            pal.say("write a note")
            answer_question(pal, "y")
            pal.wait_for("It is written.")
            finish(pal)
    assert not (desk.project / "ghost.txt").exists()
    assert (desk.project / "note.txt").read_text() == "whole"
    assert "toolu_ghost" not in json.dumps(desk.segments())
    assert endpoint.invalid == []


def test_an_overloaded_endpoint_during_the_summary_is_waited_out(desk: Desk) -> None:
    def is_summary(body: Body) -> bool:
        return "The conversation is about to be compressed" in json.dumps(body["messages"][-1])

    moods = Moods(OVERLOADED, OVERLOADED, on=is_summary, good=demo_brain)
    with Endpoint(moods.brain) as endpoint:
        desk.use(endpoint, PAL_MICRO_POLICY="off")
        with opened(desk.pal()) as pal:
            ask(pal, "Read every Python file in the shop folder one by one")
            pal.say("/compact")
            pal.wait_for("overloaded", "Attempt 1 of 6 failed")
            pal.wait_for("[manual compact]")
            finish(pal)
            ask(pal, "what have we read so far?")
        assert len(endpoint.summaries) == 3
        (report,) = desk.reports("manual")
        assert (report["outcome"], report["method"]) == ("applied", "summary")
        assert endpoint.invalid == []


def test_a_login_page_is_named_and_the_next_message_works(desk: Desk) -> None:
    page = Page("<!doctype html><title>Hotel Wi-Fi: sign in</title><body>…")
    with Endpoint(Moods(page).brain) as endpoint, opened(desk.use(endpoint).pal()) as pal:
        ask(pal, FIRST)
        told = chat(pal)
        assert "web page (Hotel Wi-Fi: sign in)" in told
        assert "login page" in told and "ANTHROPIC_BASE_URL" in told
        assert READY in pal.text and EMPTY_PROMPT in pal.text
        ask(pal, "and now?")
        assert "All is well." in chat(pal)
        assert endpoint.invalid == []
