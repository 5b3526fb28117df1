"""This program's own key and token never come back from a tool: not to the model, the screen or the record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from app.core.masking import LEAST_CHARS, hide
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


class Pieces:
    """Hides keys in a text that comes in pieces: what may be the beginning of a key waits for the next piece."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        self._keys = tuple(key for key in keys if len(key) >= LEAST_CHARS)
        self._held = ""

    def take(self, piece: str) -> str:
        """Return what can be shown now."""
        text = hide(self._held + piece, self._keys)
        begun = max((_begun(text, key) for key in self._keys), default=0)
        self._held = text[len(text) - begun :]
        return text[: len(text) - begun]

    def rest(self) -> str:
        """Return what still waited, at the end of the text."""
        held, self._held = self._held, ""
        return held


def _begun(text: str, key: str) -> int:
    """Return how many characters of the key the text ends with."""
    most = min(len(key) - 1, len(text))
    return next((n for n in range(most, 0, -1) if text.endswith(key[:n])), 0)


def _hidden(full: Texts | None, keys: tuple[str, ...]) -> Texts | None:
    if full is None:
        return None

    def texts() -> Iterator[str]:
        pieces = Pieces(keys)
        for text in full():
            if shown := pieces.take(text):
                yield shown
        if rest := pieces.rest():
            yield rest

    return texts
