"""What /settings shows is what holds, and can be written into a file as it is shown."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.adapters.anthropic_model import DEFAULT_RETRY, LOCAL_SILENCE, SILENCE
from app.errors import ConfigError
from app.launch.endpoint import build_model
from app.settings import SPECS, Settings, find_spec, rows, save_user_setting
from app.settings.parsers import decimal, seconds, share
from app.settings.spec import SettingSpec


@pytest.mark.parametrize("spec", [s for s in SPECS if not s.secret], ids=lambda s: s.name)
def test_a_value_is_read_back_as_it_is_shown(spec: SettingSpec) -> None:
    value = spec.value(Settings())
    shown = spec.shown(value)
    if shown:
        assert spec.parser.read(shown) == value


@given(st.integers(1, 1_000))
def test_fractions_are_shown_without_loss(thousandths: int) -> None:
    text = f"{thousandths / 1_000}"
    for parser in (share(), decimal(0, 1), seconds()):
        assert parser.read(parser.show(float(text))) == pytest.approx(float(text), rel=1e-12)


@pytest.mark.parametrize("name", ["api_key", "auth_token"])
def test_a_secret_is_not_saved(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="secret"):
        save_user_setting(tmp_path, name, "sk-ant-probe-0000")
    assert not list(tmp_path.iterdir())


def test_the_attempts_that_are_shown_are_made() -> None:
    model = build_model(Settings(api_key="k"), demo=False)
    assert asdict(model._retry) == asdict(DEFAULT_RETRY)


@pytest.mark.parametrize(
    ("settings", "seconds"),
    [
        (Settings(api_key="k"), SILENCE),
        (Settings(base_url="http://127.0.0.1:9"), LOCAL_SILENCE),
        (Settings(api_key="k", request_timeout=45.0), 45.0),
    ],
)
def test_the_silence_that_is_shown_is_waited_for(settings: Settings, seconds: float) -> None:
    assert build_model(settings, demo=False)._silence == seconds
    row = next(row for row in rows(settings) if row.name == "request_timeout")
    said = row.help if row.value == "auto" else row.value
    assert f"{seconds:.0f} s" in said


@pytest.mark.parametrize("text", ["auto", "AUTO"])
def test_the_silence_can_be_left_to_the_endpoint(text: str) -> None:
    spec = find_spec("request_timeout")
    assert spec is not None and spec.parser.read(text) is None
