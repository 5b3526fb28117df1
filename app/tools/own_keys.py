"""This program's own key and token never come back from a tool: not to the model, the screen or the record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from app.core.messages import Text
from app.core.ports import ToolOutcome

HIDDEN = "[this program's key]"
LEAST_CHARS = 8
"""Shorter ones are stand-ins that occur in ordinary words."""


def hide(text: str, keys: Iterable[str]) -> str:
    """Return the text with each key replaced."""
    for key in keys:
        if len(key) >= LEAST_CHARS and key in text:
            text = text.replace(key, HIDDEN)
    return text


def without_keys(outcome: ToolOutcome, keys: tuple[str, ...]) -> ToolOutcome:
    """Return what a tool returned with each key replaced, wherever text of it goes."""
    if not keys:
        return outcome
    content = outcome.content
    effects = outcome.effects
    return replace(
        outcome,
        content=hide(content, keys)
        if isinstance(content, str)
        else tuple(
            replace(p, text=hide(p.text, keys)) if isinstance(p, Text) else p for p in content
        ),
        diff=hide(outcome.diff, keys),
        effects=replace(
            effects, target=hide(effects.target, keys), outcome=hide(effects.outcome, keys)
        ),
    )
