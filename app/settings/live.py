"""Settings while a session runs: what each is, and changing one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType

from app.core.permission import Mode, Rule
from app.errors import ConfigError
from app.settings.load import bad_value
from app.settings.specs import SPECS, find_spec, nearest_name
from app.settings.values import DEFAULT, Settings

TYPED = "/settings"
"""Source of what was changed there."""
SESSION = "this session"
"""Source of what was changed in the running session, elsewhere than in /settings."""


def set_value(settings: Settings, name: str, text: str) -> Settings:
    """Return the settings with one value changed in a running session.

    Raises:
        ConfigError: There is no such setting, it cannot change now, or the value is not allowed.
    """
    spec = find_spec(name)
    if spec is None:
        near = nearest_name(name)
        raise ConfigError(
            name, "there is no such setting" + (f"; did you mean {near}?" if near else "")
        )
    if not spec.live:
        raise ConfigError(
            spec.name,
            "it takes effect at the next start only",
            source=TYPED,
            hint=f"Start with --set {spec.name}=… or put it in a settings file.",
        )
    try:
        value = spec.parser.read(text)
    except (ValueError, TypeError, OverflowError) as error:
        raise bad_value(spec, text, spec.name, TYPED, error) from error
    changed = spec.put(settings, value)
    return replace(changed, sources=MappingProxyType({**settings.sources, spec.name: TYPED}))


def with_session(
    settings: Settings, *, mode: Mode, model: str, rules: tuple[Rule, ...]
) -> Settings:
    """Return the settings with what keys, commands and answers changed in a running session.

    Rules that could not be kept belong to that session alone and are left out.
    """
    sources = dict(settings.sources)
    if mode is not settings.mode:
        sources["mode"] = SESSION
    if settings.embedded:
        model = settings.model
    elif model != settings.model:
        sources["model"] = SESSION
    kept = tuple(rule for rule in rules if rule.source != SESSION)
    return replace(settings, mode=mode, model=model, rules=kept, sources=MappingProxyType(sources))


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One line of ``/settings``."""

    name: str
    value: str
    source: str
    allowed: str
    help: str
    live: bool


def rows(settings: Settings) -> tuple[SettingRow, ...]:
    """Return all settings as people read them; keys are masked."""
    return tuple(
        SettingRow(
            spec.name,
            spec.shown(spec.value(settings)),
            settings.sources.get(spec.name, DEFAULT),
            spec.parser.allowed,
            spec.help,
            spec.live,
        )
        for spec in SPECS
    )
