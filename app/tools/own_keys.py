"""This program's own key and token never come back from a tool: not to the model, the screen or the record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from app.core.masking import hide
from app.core.messages import Text
from app.core.ports import ToolOutcome

Texts = Callable[[], Iterator[str]]


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
        full=_hidden(outcome.full, keys),
        effects=replace(
            effects, target=hide(effects.target, keys), outcome=hide(effects.outcome, keys)
        ),
    )


def _hidden(full: Texts | None, keys: tuple[str, ...]) -> Texts | None:
    return None if full is None else lambda: (hide(text, keys) for text in full())
