"""What the arguments ask for: which wrong values stop the program, and which are told on the screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.errors import ConfigError
from app.launch.launch_options import (
    KEPT_NO,
    Launch,
    trust_of,
    trust_question,
    usable_settings_of,
    with_kept_no,
)
from app.settings import remember_trust
from app.settings.trust_state import Level, TrustState

TRUSTED = TrustState(Level.ALL, foreign_key=True)


@pytest.fixture(autouse=True)
def _nothing_of_the_machine(tmp_path, monkeypatch):
    for name in ("PAL_THRESHOLD", "PAL_MODE", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def launch(folder: Path, **flags: str) -> Launch:
    return Launch(folder, flags)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (".env", "PAL_THRESHOLD=many\nPAL_KEEP_RECENT=5\n"),
        ("palimpsest.toml", 'threshold = "many"\nkeep_recent = 5\n'),
    ],
)
def test_a_wrong_value_of_a_trusted_file_is_left_out_and_told(tmp_path, file, text) -> None:
    (tmp_path / file).write_text(text)
    settings = usable_settings_of(launch(tmp_path), TRUSTED)
    assert settings.policy.auto.threshold == 50_000
    assert settings.policy.micro.keep_recent == 5
    (problem,) = [p for p in settings.problems if "many" in p]
    assert file in problem and "threshold" in problem.lower()
    assert "allowed" in problem and "left out" in problem


@pytest.mark.parametrize(
    "text",
    ["ANTHROPIC_BASE_URL=ftp://example.invalid", "PAL_MODE=everything", "PAL_SANDBOX=maybe"],
)
def test_a_wrong_endpoint_or_mode_of_a_file_stops_the_program(tmp_path, text) -> None:
    (tmp_path / ".env").write_text(text + "\n")
    with pytest.raises(ConfigError, match=r"\.env"):
        usable_settings_of(launch(tmp_path), TRUSTED)


def test_a_wrong_rule_stops_the_program(tmp_path) -> None:
    (tmp_path / "palimpsest.toml").write_text('deny = ["no such tool at all: x"]\n')
    with pytest.raises(ConfigError):
        usable_settings_of(launch(tmp_path), TRUSTED)


def test_a_wrong_flag_or_variable_stops_the_program(tmp_path, monkeypatch) -> None:
    with pytest.raises(ConfigError, match="--set"):
        usable_settings_of(launch(tmp_path, threshold="many"), TRUSTED)
    monkeypatch.setenv("PAL_THRESHOLD", "many")
    with pytest.raises(ConfigError, match="environment"):
        usable_settings_of(launch(tmp_path), TRUSTED)


def test_a_folder_that_was_answered_with_no_says_so_and_how_to_be_asked_again(tmp_path):
    (tmp_path / ".env").write_text("PAL_THRESHOLD=41k\n")
    first = launch(tmp_path)
    assert (
        KEPT_NO
        not in with_kept_no(
            usable_settings_of(first, trust_of(first, None)), trust_of(first, None)
        ).problems
    )
    remember_trust(trust_question(first), Level.NOTHING, home=Path.home())
    assert trust_question(first) is None
    trust = trust_of(first, None)
    assert KEPT_NO in with_kept_no(usable_settings_of(first, trust), trust).problems
    assert trust_question(Launch(tmp_path, {}, ask_trust=True)) is not None
    once = Launch(tmp_path, {}, trust=True)
    trust = trust_of(once, trust_question(once))
    used = with_kept_no(usable_settings_of(once, trust), trust)
    assert used.policy.auto.threshold == 41_000
    assert KEPT_NO not in used.problems
