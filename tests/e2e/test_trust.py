"""A folder's own `.env`: asked for once, then used; and two sources that differ are both named."""

from __future__ import annotations

import pytest

from tests.e2e.desk import Desk, ask, chat, opened
from tests.e2e.endpoint import KEY, MODEL, Endpoint
from tests.e2e.terminal import Terminal

QUESTION = "do you trust this folder?"


@pytest.mark.slow
def test_a_folders_env_is_asked_for_once_then_used_and_differences_are_named(
    desk: Desk, endpoint: Endpoint
) -> None:
    (desk.project / ".env").write_text(
        f"ANTHROPIC_API_KEY={KEY}\nANTHROPIC_BASE_URL={endpoint.url}\nMODEL_ID={MODEL}\n"
    )
    with desk.pal() as pal:
        pal.wait_for(QUESTION, endpoint.url, f"MODEL_ID = {MODEL}", "y trust")
        assert KEY not in pal.text  # only its ends are shown
        assert endpoint.sent == []
        _trust(pal)
        opened(pal)
        ask(pal, "read config.yaml")
        pal.wait_for("currency: EUR")
        assert "(.env)" in pal.line_with(MODEL)
    assert [sent.headers["x-api-key"] for sent in endpoint.turns] == [KEY, KEY]

    with Endpoint() as other:
        elsewhere = {"ANTHROPIC_BASE_URL": other.url, "MODEL_ID": "another-model"}
        with opened(desk.pal(env=elsewhere)) as pal:
            pal.wait_for("sources differ")
            assert QUESTION not in pal.text
            shown = chat(pal)
            for used, not_used in (("another-model", MODEL), (other.url, endpoint.url)):
                assert f"{used} (from environment) is used, not {not_used} (from .env)" in shown


@pytest.mark.slow
def test_no_to_the_question_leaves_the_file_alone_and_the_embedded_model_answers(
    desk: Desk, endpoint: Endpoint
) -> None:
    (desk.project / ".env").write_text(
        f"ANTHROPIC_API_KEY={KEY}\nANTHROPIC_BASE_URL={endpoint.url}\nMODEL_ID={MODEL}\n"
    )
    with desk.pal() as pal:
        pal.wait_for(QUESTION)
        pal.read_for(0.6)
        pal.press("n")
        opened(pal)
        assert "embedded demo model, no key" in pal.text
        ask(pal, "read config.yaml")
        pal.wait_for("currency: EUR")
    assert endpoint.sent == []


@pytest.mark.slow
def test_a_bad_value_in_a_trusted_env_is_named_and_the_session_opens_without_the_file(
    desk: Desk,
) -> None:
    (desk.project / ".env").write_text("= nonsense\nPAL_THRESHOLD=lots\n===\nPAL_TRESHOLD=5\n")
    with desk.pal() as pal:
        pal.wait_for(QUESTION, "PAL_THRESHOLD = lots")
        _trust(pal)
        opened(pal)
        shown = chat(pal)
        assert "PAL_THRESHOLD (from .env): 'lots' is not allowed" in shown
        assert "allowed: tokens (50_000, 50k) or a percentage of the window (40%)" in shown
        assert "This folder's files are ignored until that is mended" in shown
        ask(pal, "read config.yaml")
        pal.wait_for("currency: EUR")
    assert not list(desk.home.rglob("trust.json"))  # the answer was not stored


def _trust(pal: Terminal) -> None:
    pal.read_for(0.6)  # earlier keys do not count as an answer
    pal.press("y")
