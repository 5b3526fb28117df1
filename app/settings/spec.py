"""What is known of one setting: its names, what it accepts, where its value lives, what a project may do with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from app.settings.parsers import Parser
from app.settings.values import Settings


class Kind(StrEnum):
    """What a project may do with a setting."""

    PLAIN = "plain"
    """Set it."""
    NARROWING = "narrowing"
    """Make it stricter, never looser."""
    POWER = "power"
    """Set it after the user confirmed it once."""


@dataclass(frozen=True, slots=True)
class SettingSpec:
    """One setting."""

    name: str
    """As in the TOML files and after ``--set``."""
    parser: Parser
    help: str
    place: tuple[str, ...]
    """Attributes from `Settings` down to the value."""
    kind: Kind = Kind.PLAIN
    env: tuple[str, ...] = ()
    """Environment variables, the winning one first."""
    live: bool = True
    """Whether it can be changed in a running session."""
    secret: bool = False
    takes_empty: bool = False
    """Whether an empty environment variable is a value: the empty list."""

    def value(self, settings: Settings) -> Any:
        """Return the value in force."""
        found: Any = settings
        for step in self.place:
            found = getattr(found, step)
        if self.name == "threshold" and settings.policy.auto.threshold_share is not None:
            return settings.policy.auto.threshold_share
        return found

    def put(self, settings: Settings, value: Any) -> Settings:
        """Return the settings with this value."""
        if self.name == "threshold":
            share = value if isinstance(value, float) else None
            settings = _replaced(settings, ("policy", "auto", "threshold_share"), share)
            value = settings.policy.auto.threshold if share is not None else value
        changed: Settings = _replaced(settings, self.place, value)
        window = changed.context_window
        if self.name in ("context_window", "threshold") and window:
            changed = replace(changed, policy=changed.policy_for(window))
        return changed

    def shown(self, value: Any) -> str:
        """Return a value as people read it; keys are masked."""
        return self.parser.show(value)


def _replaced(holder: Any, steps: tuple[str, ...], value: Any) -> Any:
    inner = _replaced(getattr(holder, steps[0]), steps[1:], value) if steps[1:] else value
    return replace(holder, **{steps[0]: inner})
