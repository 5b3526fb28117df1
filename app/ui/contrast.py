"""Contrast of text as WCAG 2 measures it, and colours mended until they can be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from textual.color import BLACK, WHITE, Color, ColorParseError

LEAST = 4.5
"""Contrast that text of usual size needs."""
STEPS = 20
GROUNDS = ("background", "surface", "panel")
"""Names of the theme variables on which text stands."""


def contrast(one: Color, other: Color) -> float:
    """Return the contrast of two opaque colours, from 1 to 21."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def readable(text: Color, *grounds: Color) -> Color:
    """Return the text's colour, moved towards black or white as little as all grounds ask for."""
    if _least(text, grounds) >= LEAST:
        return text
    end = max((BLACK, WHITE), key=lambda color: _least(color, grounds))
    steps = (text.blend(end, step / STEPS) for step in range(1, STEPS))
    return next((mixed for mixed in steps if _least(mixed, grounds) >= LEAST), end)


def readable_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Return a theme's variables with the colours of its texts made readable on its grounds."""
    grounds = [color for name in GROUNDS if (color := _opaque(variables.get(name, "")))]
    mended = dict(variables)
    for name, value in variables.items():
        color = _opaque(value) if name == "foreground" or name.startswith("text-") else None
        if color is not None and grounds:
            mended[name] = readable(color, *grounds).hex
    return mended


def is_opaque(color: Color) -> bool:
    """Whether a colour is known: neither see-through nor one of the terminal's own."""
    return color.a == 1 and color.ansi is None


def _opaque(value: str) -> Color | None:
    try:
        color = Color.parse(value)
    except ColorParseError:
        return None  # "auto 60%": black or white, as its ground asks for
    return color if is_opaque(color) else None


def _least(text: Color, grounds: Iterable[Color]) -> float:
    return min(contrast(text, ground) for ground in grounds)


def _luminance(color: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
        for part in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
