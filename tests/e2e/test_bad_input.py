"""What goes wrong gets one clear message, and the program stays usable."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.desk import READY, Desk, answer_question, ask, chat, finish, opened, send
from tests.e2e.endpoint import KEY, MODEL, Endpoint

pytestmark = pytest.mark.slow


def test_an_unknown_model_a_refused_key_and_a_dead_endpoint_are_explained_one_by_one(
    desk: Desk,
) -> None:
    with Endpoint() as endpoint:
        desk.use(endpoint, MODEL_ID="no-such")
        with opened(desk.pal()) as pal:
            ask(pal, "read config.yaml")
            assert chat(pal).count("does not know the model 'no-such'") == 1
            assert "Choose another with /model" in chat(pal)
            ask(pal, f"/model {MODEL}")
            ask(pal, "read config.yaml")
            pal.wait_for("currency: EUR")

            endpoint.key = "another key by now"
            ask(pal, "read README.md")
            assert chat(pal).count("does not accept the key (401)") == 1
            assert "check ANTHROPIC_API_KEY" in chat(pal)
            endpoint.key = KEY

            endpoint.stop()
            send(pal, "read README.md")
            pal.wait_for("Attempt 3 of 12 failed", "Esc cancels", "Nothing listens at")
            pal.press("escape")
            finish(pal)
            assert READY in pal.text
    assert endpoint.invalid == []


def test_a_key_without_a_model_offers_what_the_endpoint_lists(
    desk: Desk, endpoint: Endpoint
) -> None:
    desk.use(endpoint)
    del desk.env["MODEL_ID"]
    with desk.pal() as pal:
        pal.wait_for("house-model-1", "Enter use it")
        pal.press("enter")
        pal.wait_gone("Enter use it")
        ask(pal, "read config.yaml")
        pal.wait_for("currency: EUR")
    assert {sent.body["model"] for sent in endpoint.sent} == {MODEL}


def test_a_record_that_cannot_be_written_is_said_and_the_typed_text_is_not_lost(
    desk: Desk, endpoint: Endpoint
) -> None:
    desk.use(endpoint)
    desk.transcripts.write_text("a file stands here")
    with desk.pal() as pal:
        pal.wait_for("PAL_TRANSCRIPT_DIR")
        assert "is a file where a folder should be" in chat(pal)
        pal.say("read config.yaml")
        pal.wait_for("queued")
        desk.transcripts.unlink()
        finish(pal)
        ask(pal, "and then README.md")  # tried again: now there is room
        pal.wait_for("config.yaml — 2 lines")
    assert endpoint.sent[0].user_texts()[0].startswith("read config.yaml")


def test_without_a_place_for_the_record_one_can_go_on_unsaved_under_a_banner(
    desk: Desk, endpoint: Endpoint
) -> None:
    desk.use(endpoint)
    desk.transcripts.write_text("a file stands here")
    with desk.pal() as pal:
        pal.wait_for("/unsaved")
        ask(pal, "/unsaved")
        pal.wait_for("UNSAVED")
        assert "it is gone when the system clears that folder" in chat(pal)
        ask(pal, "read config.yaml")
        pal.wait_for("currency: EUR")
    assert desk.transcripts.read_text() == "a file stands here"


def test_noise_in_env_a_huge_file_a_binary_and_an_endless_command_leave_the_session_usable(
    desk: Desk, endpoint: Endpoint
) -> None:
    desk.use(endpoint)
    with (desk.project / "huge.log").open("wb") as huge:
        huge.truncate(300 * 1024 * 1024)
        huge.seek(0)
        huge.write((b"x" * 99 + b"\n") * 100_000)
    (desk.project / "picture.bin").write_bytes(bytes(range(256)) * 100)
    (desk.project / ".env").write_bytes(bytes(range(256)) * 4)
    with opened(desk.pal()) as pal:
        assert ".env is not UTF-8 text" in chat(pal)
        ask(pal, "read huge.log")
        assert "There is more: the next page begins at line" in pal.text
        assert pal.memory("VmHWM") < 250
        ask(pal, "read picture.bin")
        assert "picture.bin is a binary file (25,600 bytes)" in chat(pal)

        send(pal, "run sleep 86399")
        answer_question(pal, "y")
        pal.wait_for("running bash")
        pal.until(lambda: bool(_processes("86399")), "the command's process")
        pal.press("escape")
        finish(pal)
        assert "cancelled" in pal.text
        pal.until(lambda: not _processes("86399"), "the end of the command's process")

        ask(pal, "read config.yaml")
        pal.wait_for("currency: EUR")
    assert endpoint.invalid == []


def _processes(argument: str) -> list[str]:
    """Ids of the processes that have an argument, on Linux."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[:2] == [b"sleep", argument.encode()]:
                found.append(process.name)
    return found
