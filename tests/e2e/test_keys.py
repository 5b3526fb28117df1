"""Questions, cancelling, typing ahead, leaving and coming back, by keys in a real terminal."""

from __future__ import annotations

import pytest

from tests.e2e.desk import READY, Desk, answer_question, ask, finish, opened, send
from tests.e2e.endpoint import Endpoint, Held, Pause, Reply, calls, says
from tests.e2e.terminal import Terminal

LONG = " ".join(f"word{at}" for at in range(400))


def test_a_question_is_answered_with_yes_no_edit_and_always(desk: Desk, endpoint: Endpoint) -> None:
    desk.use(endpoint)
    config = desk.project / "config.yaml"
    with opened(desk.pal()) as pal:
        send(pal, "in config.yaml replace 500 with 750")
        pal.wait_for("- limit: 500", "+ limit: 750")
        answer_question(pal, "y")
        finish(pal)
        assert config.read_text() == "currency: EUR\nlimit: 750\n"
        assert "- limit: 500" in pal.text  # the card shows the diff
        assert "+ limit: 750" in pal.text

        send(pal, "in config.yaml replace EUR with USD")
        answer_question(pal, "n")
        pal.wait_for("What should it do instead?")
        pal.type("keep the euro")
        pal.press("enter")
        finish(pal)
        assert config.read_text() == "currency: EUR\nlimit: 750\n"
        assert "keep the euro" in endpoint.turns[-1].results[-1]

        send(pal, "run touch one.txt")
        answer_question(pal, "e")
        pal.wait_for("Change the command")
        pal.press("ctrl+a", "ctrl+k")
        pal.until(lambda: pal.text.count("touch one.txt") == 5, "an empty line to write in")
        pal.type("touch two.txt")
        pal.press("enter")
        finish(pal)
        assert (desk.project / "two.txt").exists()
        assert not (desk.project / "one.txt").exists()
        assert "touch two.txt" in endpoint.turns[-1].results[-1]

        send(pal, "create notes.txt with the text first")
        answer_question(pal, "a")
        finish(pal)
        ask(pal, "create notes.txt with the text second")  # the rule answers
        assert (desk.project / "notes.txt").read_text() == "second\n"
        assert "question" not in pal.text
    assert endpoint.invalid == []


def test_esc_stops_an_answer_and_the_session_goes_on(desk: Desk) -> None:
    slow = Held(says(LONG))
    replies: list[Reply | Held] = [slow, says("Here again.")]
    with Endpoint(lambda body: replies.pop(0)) as endpoint:
        desk.use(endpoint)
        with opened(desk.pal()) as pal:
            send(pal, "tell me a lot")
            pal.wait_for("word3")
            pal.press("escape")
            finish(pal)
            slow.release.set()
            assert "cancelled" in pal.text.lower()
            ask(pal, "are you there?")
            assert "Here again." in pal.text
        asked = [text for text in endpoint.turns[-1].user_texts()]
        assert "tell me a lot" in asked[0]
        assert asked[-1] == "are you there?"
        assert any("word3" in event["data"]["text"] for event in desk.events("partial"))
        assert endpoint.invalid == []


def test_what_is_typed_during_a_turn_is_on_disk_at_once_and_sent_at_the_next_step(
    desk: Desk,
) -> None:
    replies = [calls("list_files", "toolu_1", path="."), says("Both are done.")]
    first = Pause(lambda body: True, lambda body: replies.pop(0))
    with Endpoint(first.brain) as endpoint:
        desk.use(endpoint)
        with opened(desk.pal()) as pal:
            send(pal, "look at the folder")
            pal.until(first.reached.is_set, "the first request")
            send(pal, "and mind the README")
            pal.until(lambda: "and mind the README" in _record(desk), "the text in the record")
            assert len(endpoint.turns) == 1
            first.go_on()
            pal.wait_for("Both are done.")
            finish(pal)
        assert len(endpoint.turns) == 2
        assert endpoint.turns[1].user_texts()[-1] == "and mind the README"
        assert endpoint.invalid == []


def test_two_ctrl_c_leave_the_terminal_as_it_was_and_continue_shows_the_old_chat(
    desk: Desk, endpoint: Endpoint
) -> None:
    desk.use(endpoint)
    with opened(desk.pal()) as pal:
        ask(pal, "read config.yaml")
        pal.press("ctrl+c")
        pal.wait_for("Press Ctrl+C again to quit")
        pal.press("ctrl+c")
        assert pal.exit_code() == 0
        _assert_restored(pal)
    with opened(desk.pal("--continue")) as pal:
        pal.wait_for("read config.yaml", "currency: EUR", "goes on where it ended")
        ask(pal, "what have we read so far?")
        assert "config.yaml" in pal.text
        pal.type("quit")
        pal.press("enter")
        assert pal.exit_code() == 0
    assert len(list(desk.transcripts.glob("2*"))) == 1
    messages = endpoint.turns[-1].body["messages"]
    assert messages[0]["content"][0]["text"] == "read config.yaml"
    assert endpoint.invalid == []


@pytest.mark.slow
def test_the_screen_follows_the_terminal_to_80_by_24_and_to_200_by_60(
    desk: Desk, endpoint: Endpoint
) -> None:
    desk.use(endpoint, PAL_PRESERVE_TOOLS="none")
    with opened(desk.pal()) as pal:
        ask(pal, "Read every Python file in the shop folder one by one")
        for columns, rows in ((80, 24), (200, 60)):
            pal.resize(columns, rows)
            pal.until(lambda: pal.lines[-1] != "" and READY in pal.text, "the footer at the bottom")
            finish(pal)
            assert max(map(len, pal.lines)) <= columns
            assert "[micro_compact]" in pal.text
            assert " / 50" in pal.text  # the gauge
            assert "I have read 6 of 6" in pal.text or "shop/carriers.py" in pal.text


def _record(desk: Desk) -> str:
    return "".join(path.read_text() for path in desk.session().glob("*.jsonl"))


def _assert_restored(pal: Terminal) -> None:
    assert pal.is_restored
    written = bytes(pal.raw)
    for mode in (b"1049", b"2004", b"1000", b"1003", b"1006"):  # other screen, pasting, mouse
        assert written.rfind(b"\x1b[?%sl" % mode) > written.rfind(b"\x1b[?%sh" % mode), mode
    assert written.rfind(b"\x1b[?25h") > written.rfind(b"\x1b[?25l")  # the cursor
