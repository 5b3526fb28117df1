"""Windows, output limits and prices of known models, for endpoints that do not list them.

Source: Anthropic's model overview and pricing pages, October 2026. US dollars per million tokens; a cache write costs
1.25 times the input (five-minute life). Haiku 5.5 costs five times as much in requests above 100,000 tokens; the table
has its lower price.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.core.prices import Price
from app.core.requests import ModelInfo

ASSUMED_OFFICIAL_WINDOW = 200_000
ASSUMED_FOREIGN_WINDOW = 32_000
CACHE_WRITE_FACTOR = 1.25


@dataclass(frozen=True, slots=True)
class Known:
    """What the table says about a family of models."""

    window: int
    max_output: int
    price: Price


def _known(window: int, max_output: int, input_: float, output: float, read: float) -> Known:
    return Known(window, max_output, Price(input_, output, read, input_ * CACHE_WRITE_FACTOR))


_MILLION = (1_000_000, 128_000)
_OLDER = (200_000, 64_000)
TABLE: dict[str, Known] = {
    "claude-fable-5-1": _known(*_MILLION, 10, 50, 0.25),
    "claude-opus-5-5": _known(*_MILLION, 4, 20, 0.20),
    "claude-sonnet-5-5": _known(*_MILLION, 2, 10, 0.10),
    "claude-haiku-5-5": _known(*_MILLION, 0.10, 0.50, 0.01),
    "claude-opus-5": _known(*_MILLION, 5, 25, 0.50),
    "claude-opus-4-8": _known(*_MILLION, 5, 25, 0.50),
    "claude-opus-4-7": _known(*_MILLION, 5, 25, 0.50),
    "claude-opus-4-6": _known(*_MILLION, 5, 25, 0.50),
    "claude-sonnet-5": _known(*_MILLION, 2, 10, 0.20),
    "claude-sonnet-4-6": _known(*_MILLION, 3, 15, 0.30),
    "claude-opus-4-5": _known(*_OLDER, 5, 25, 0.50),
    "claude-sonnet-4-5": _known(*_OLDER, 3, 15, 0.30),
    "claude-haiku-4-5": _known(*_OLDER, 1, 5, 0.10),
}
_VERSION_TAIL = re.compile(r"(?:[-@](?:\d{8}|latest).*|-v\d+(?::\d+)?|:\d+|\[\w+\])?")
"""What may follow a family's name without changing the model: a date, ``-latest``, a gateway's revision."""


def known_model(model: str) -> Known | None:
    """Return the table's line for a model id, or None; gateway prefixes and dots in versions are understood."""
    start = model.lower().rfind("claude-")
    name = model.lower()[start:].replace(".", "-") if start >= 0 else ""
    for family in sorted(TABLE, key=len, reverse=True):
        if name.startswith(family) and _VERSION_TAIL.fullmatch(name[len(family) :]):
            return TABLE[family]
    return None


def price_of(model: str) -> Price | None:
    """Return the table's price of a model, or None."""
    known = known_model(model)
    return known.price if known else None


def window_of(
    model: str, info: ModelInfo | None, setting: int | None, *, official: bool
) -> tuple[int, str]:
    """Return the tokens a model accepts and where the figure comes from.

    The endpoint's own figure stands before the user's setting, which stands before the table; but a setting that is
    smaller than the endpoint's figure wins, since nobody is forced to use a whole window.

    Args:
        model: The model's id.
        info: What the endpoint says about it, if anything.
        setting: The user's figure, if any.
        official: Whether the endpoint is Anthropic's own.

    Returns:
        The window, and "endpoint", "settings", "table" or "assumed".
    """
    listed = info.window if info is not None else None
    if setting is not None and (listed is None or setting < listed):
        return setting, "settings"
    if listed is not None:
        return listed, "endpoint"
    if known := known_model(model):
        return known.window, "table"
    return (ASSUMED_OFFICIAL_WINDOW if official else ASSUMED_FOREIGN_WINDOW), "assumed"


def max_output_of(model: str, info: ModelInfo | None) -> int | None:
    """Return the longest answer a model writes, in tokens, or None when nobody says."""
    if info is not None and info.max_output is not None:
        return info.max_output
    known = known_model(model)
    return known.max_output if known else None
