"""The mask that the settings ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.masking import HIDDEN
from app.core.own_folders import STATE_FOLDER
from app.launch.masking import _salt, mask_of
from app.settings import Settings
from tests.fakes.secret_samples import alnum

TOKEN = "gh" + "p_" + alnum(36)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    _salt.cache_clear()
    return tmp_path


def test_our_own_key_and_token_are_masked_whatever_is_set(home: Path) -> None:
    settings = Settings(api_key="first-own-key", auth_token="second-own-key")
    assert (
        mask_of(settings)(f"first-own-key second-own-key {TOKEN}") == f"{HIDDEN} {HIDDEN} {TOKEN}"
    )
    assert not (home / STATE_FOLDER).exists()


@pytest.mark.parametrize("wish", ["record", "view"])
def test_masks_are_the_same_in_the_next_run_and_others_in_another_home(
    home: Path, wish: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(mask_secrets=wish)
    masked = mask_of(settings)(TOKEN)
    _salt.cache_clear()
    assert mask_of(settings)(TOKEN) == masked != TOKEN
    (salt,) = (home / STATE_FOLDER).iterdir()
    assert salt.stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("HOME", str(home / "other"))
    assert mask_of(settings)(TOKEN) != masked


def test_a_home_that_cannot_be_written_masks_all_the_same(home: Path) -> None:
    (home / ".local").write_text("a file")
    assert mask_of(Settings(mask_secrets="record"))(TOKEN).startswith("[masked github token ")
