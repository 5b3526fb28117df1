"""The program's own two themes; Textual's and the terminal's own colours can be chosen as well."""

from __future__ import annotations

from collections.abc import Mapping

from textual.theme import Theme

DARK = Theme(
    name="palimpsest-dark",
    primary="#7aa2d6",
    secondary="#6f8fae",
    accent="#c9a0dc",
    warning="#e0ad5c",
    error="#e8716d",
    success="#84bd7f",
    foreground="#dcd7cb",
    background="#16171a",
    surface="#1d1f23",
    panel="#26282d",
    dark=True,
    variables={
        "text-primary": "#8fb4e3",
        "text-secondary": "#9db4cc",
        "text-accent": "#cfaae0",
        "text-warning": "#e6b86c",
        "text-error": "#f08b86",
        "text-success": "#96c991",
        "text-muted": "#98958c",
        "border": "#7aa2d6",
        "border-blurred": "#3a3d44",
        "input-selection-background": "#3b4a61",
        "screen-selection-background": "#3b4a61",
        "block-cursor-background": "#34405266",
        "block-cursor-foreground": "#f2eee4",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#26282d",
        "block-cursor-blurred-foreground": "#dcd7cb",
    },
)
LIGHT = Theme(
    name="palimpsest-light",
    primary="#2f5f9e",
    secondary="#4a6a8a",
    accent="#7d4a96",
    warning="#8a5a00",
    error="#b02a2a",
    success="#2e6b2a",
    foreground="#2b2a27",
    background="#faf7f0",
    surface="#f3efe5",
    panel="#e9e4d7",
    dark=False,
    variables={
        "text-primary": "#24548f",
        "text-secondary": "#41607f",
        "text-accent": "#734089",
        "text-warning": "#7d5200",
        "text-error": "#a32222",
        "text-success": "#276023",
        "text-muted": "#67635a",
        "border": "#2f5f9e",
        "border-blurred": "#cfc8b8",
        "input-selection-background": "#c9d8ec",
        "input-selection-foreground": "#2b2a27",
        "screen-selection-background": "#c9d8ec",
        "screen-selection-foreground": "#2b2a27",
        "block-cursor-background": "#dce5f2",
        "block-cursor-foreground": "#1c1b19",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#e9e4d7",
        "block-cursor-blurred-foreground": "#2b2a27",
    },
)
OWN = (DARK, LIGHT)
PAIRS = {
    "palimpsest-dark": "palimpsest-light",
    "textual-dark": "textual-light",
    "catppuccin-mocha": "catppuccin-latte",
    "solarized-dark": "solarized-light",
    "rose-pine": "rose-pine-dawn",
    "atom-one-dark": "atom-one-light",
    "ansi-dark": "ansi-light",
}
"""Dark themes and the light one that belongs to each."""


def other_side(theme: str, *, dark: bool) -> str:
    """Return the light theme that belongs to a dark one, or the other way round."""
    both = PAIRS | {light: dark_one for dark_one, light in PAIRS.items()}
    return both.get(theme, LIGHT.name if dark else DARK.name)


def automatic(environ: Mapping[str, str]) -> str:
    """Return the light theme where the terminal says that its background is light, else the dark one."""
    background = environ.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT.name if background in ("7", "15") else DARK.name
