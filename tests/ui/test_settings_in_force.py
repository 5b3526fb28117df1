"""What is changed on the screen is in force at once, shown as it is, and holds for the next session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from app.adapters.anthropic_model import AnthropicModel
from app.adapters.sandbox import Kind, Sandbox
from app.core.events import ThinkingArrived
from app.core.permission import Mode, Rule, Verdict
from app.core.prices import Price
from app.launch import confinement
from app.launch.launch_options import Launch
from app.launch.opening import Opening
from app.settings import SPECS, Settings, rows, save_user_setting, set_value
from app.settings.spec import SettingSpec
from app.ui.app import PalApp
from app.ui.screens.settings_in_force import apply_settings
from tests.ui.chat_app import screen_text
from tests.ui.fake_session import FakeSession
from tests.ui.screens_in_use import pal_app
from tests.ui.test_pair_screen import until_idle

LOOPBACK = "http://127.0.0.1:9"
"""Needs no key; nothing is asked there."""


@dataclass
class Desk:
    """The real screen around real sessions in an empty folder."""

    app: PalApp
    pilot: Pilot[None]

    async def set(self, name: str, text: str) -> None:
        apply_settings(self.app.pair, set_value(self.app.pair.settings, name, text))
        await self.idle()

    async def run(self, command: str) -> None:
        self.app.pair.submit(command)
        await self.idle()

    async def idle(self) -> None:
        await until_idle(self.app, self.pilot)

    def shown(self, name: str) -> str:
        return next(row.value for row in rows(self.app.pair.settings) if row.name == name)


OnDesk = Callable[[Callable[[Desk], Awaitable[None]]], Awaitable[None]]


async def silent(*_: Any) -> None:
    """Say nothing, as an endpoint that lists no models; the SDK need not be loaded for it."""


@pytest.fixture
def on_desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OnDesk:
    sandbox = Sandbox(Kind.NONE, tmp_path)
    monkeypatch.setattr(confinement, "find_sandbox", lambda _settings: sandbox)
    monkeypatch.setattr(AnthropicModel, "warm_up", silent)
    monkeypatch.setattr(AnthropicModel, "info", silent)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    settings = Settings(folder=tmp_path, base_url=LOOPBACK, model="m")

    async def run(work: Callable[[Desk], Awaitable[None]]) -> None:
        async with aclosing(Opening(Launch(tmp_path, {}), settings)) as opening:
            app = pal_app(
                open_session=opening.open_first,
                reopen=opening.open,
                settings_changed=opening.use,
                settings=settings,
            )
            async with app.run_test(size=(120, 40)) as pilot:
                desk = Desk(app, pilot)
                await desk.idle()
                await work(desk)

    return run


class Attention:
    """Notes how the user is called and whether the title is wanted."""

    def __init__(self) -> None:
        self.noted: dict[str, object] = {}

    def show(self, doing: object, what: str, *, wanted: bool) -> None:
        self.noted["title"] = wanted

    def call(self, why: str, how: object, *, seconds: float) -> None:
        self.noted["notify"] = how


async def effect_of(spec: SettingSpec, desk: Desk) -> Any:
    """Return what a setting acts on, as it is now; fails for a setting of which that is not known here."""
    screen, session = desk.app.pair, desk.app.pair.session
    if spec.place[0] == "policy":
        return spec.value(Settings(policy=session.policy))
    attention = desk.app.attention = Attention()
    match spec.name:
        case "model":
            return session.model
        case "mode":
            return session.mode
        case "context_window":
            return session.budget.window
        case "max_output_tokens":
            return session._dialogue.request((), ()).max_tokens
        case "price":
            return session._parts.model.price(session.model)
        case "theme":
            return desk.app.theme
        case "notify":
            screen.call_user("done", seconds=99)
            return attention.noted["notify"]
        case "title":
            screen.show_title()
            return attention.noted["title"]
        case "show_thinking":
            screen.turns._view.close_answer()
            screen.turns._view.show(ThinkingArrived("I wonder"))
            return "I wonder" in screen_text(screen.chat)
    raise AssertionError(f"{spec.name} says that it changes at once: what does it change?")


TEXTS = {
    "model": "other",
    "mode": "read-only",
    "context_window": "77_000",
    "max_output_tokens": "1_234",
    "price": "3, 15",
    "theme": "palimpsest-light",
    "notify": "bell",
    "title": "off",
    "show_thinking": "on",
    "micro_policy": "every-turn",
    "after_compact": "wait",
    "preserve_tools": "search",
    "paged_tools": "search",
    "notes_at": "10%",
    "summary_instructions": "mind the names",
    "threshold": "31_000",
    "preserve_budget": "5_000",
}
"""A value of each setting that is not its default; of numbers and switches it is made."""


def another(spec: SettingSpec) -> str:
    if spec.name in TEXTS:
        return TEXTS[spec.name]
    value = spec.value(Settings())
    if isinstance(value, bool):
        return "off" if value else "on"
    return str(value + 1) if isinstance(value, int) else str(value / 2)


async def test_every_setting_that_changes_at_once_does(on_desk: OnDesk) -> None:
    async def work(desk: Desk) -> None:
        for spec in SPECS:
            if not spec.live:
                continue
            text = another(spec)
            wanted = spec.parser.read(text)
            before = await effect_of(spec, desk)
            apply_settings(desk.app.pair, set_value(desk.app.pair.settings, spec.name, text))
            if spec.name == "model":
                await desk.idle()
            after = await effect_of(spec, desk)
            assert after == wanted != before, (spec.name, before, after)

    await on_desk(work)


async def test_what_was_changed_holds_for_the_next_session(on_desk: OnDesk) -> None:
    async def work(desk: Desk) -> None:
        rule = Rule(Verdict.ALLOW, "bash", "make *")
        first = desk.app.pair.session
        await desk.set("threshold", "21_000")
        await desk.set("max_output_tokens", "1_234")
        await desk.run("/mode read-only")
        await desk.run("/model other")
        kept = first.add_rule(rule)
        await desk.run("/clear")
        session = desk.app.pair.session
        assert session is not first
        assert session.policy.auto.threshold == session.budget.threshold == 21_000
        assert session._dialogue.request((), ()).max_tokens == 1_234
        assert (session.mode, session.model) == (Mode.READ_ONLY, "other")
        assert kept in session.rules
        await desk.set("mode", "ask")
        await desk.run("/clear")
        assert desk.app.pair.session.mode is Mode.ASK

    await on_desk(work)


async def test_the_list_shows_the_mode_and_the_model_that_commands_chose() -> None:
    app = pal_app(FakeSession())
    async with app.run_test(size=(120, 60)) as pilot:
        await until_idle(app, pilot)
        app.pair.submit("/mode read-only")
        app.pair.submit("/model claude-haiku-4-5")
        await until_idle(app, pilot)
        app.pair.submit("/settings")
        await pilot.pause()
        shown = [str(option.prompt) for option in app.screen.query_one(OptionList).options]
        assert any("mode" in row and "read-only" in row and "this session" in row for row in shown)
        assert any("claude-haiku-4-5" in row for row in shown)


async def test_a_mode_that_a_key_changed_can_be_set_back() -> None:
    app = pal_app(session := FakeSession())
    async with app.run_test(size=(120, 40)) as pilot:
        await until_idle(app, pilot)
        await pilot.press("shift+tab")
        assert session.mode is not Mode.ASK
        apply_settings(app.pair, set_value(app.pair.settings, "mode", "ask"))
        assert session.mode is Mode.ASK


@pytest.mark.parametrize("name", ["api_key", "auth_token"])
async def test_a_key_is_never_written_into_the_settings_file(name: str, tmp_path: Path) -> None:
    def save(name: str, value: str) -> None:
        save_user_setting(tmp_path, name, value)

    app = pal_app(FakeSession(), save_setting=save)
    async with app.run_test(size=(120, 40)) as pilot:
        await until_idle(app, pilot)
        app.pair.submit(f"/settings {name}")
        await pilot.pause()
        await pilot.press("ctrl+s")
        said = "\n".join(str(static.render()) for static in app.screen.query(Static))
        assert "in the environment" in said
    assert not list(tmp_path.iterdir())


async def test_a_wrong_value_is_not_kept_and_neither_is_the_old_one() -> None:
    kept: list[tuple[str, str]] = []
    app = pal_app(FakeSession(), save_setting=lambda name, value: kept.append((name, value)))
    async with app.run_test(size=(120, 40)) as pilot:
        await until_idle(app, pilot)
        app.pair.submit("/settings threshold")
        await pilot.pause()
        await pilot.press("enter")
        app.screen.query_one("#value").value = "many"
        await pilot.press("ctrl+s")
        assert kept == []


def test_own_price_wins_over_the_table() -> None:
    assert set_value(Settings(), "price", "2, 10, 1, 3").price == Price(2, 10, 1, 3)
    assert set_value(Settings(), "price", "none").price is None
