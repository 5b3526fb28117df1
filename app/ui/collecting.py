"""What the program lets go of: garbage without stopping the screen, and styles of what is not drawn any more."""

from __future__ import annotations

import gc

from textual.strip import Strip

COLLECT_AFTER = (20_000, 20, 50)
"""A collection of the youngest objects after so many new ones; of the others every so many of those."""
MOST_STYLES = 2_048
"""Styles that are kept as they are written for the terminal."""


def settle_memory() -> None:
    """Freeze what is loaded by now and raise the thresholds of collection.

    Modules, styles and widgets stay as long as the program does; looking at them again and again takes 70 ms a time.
    """
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
    gc.enable()


def shed_styles() -> None:
    """Forget how styles are written for the terminal once those are many.

    Each place of text on the screen has a style of its own, so that over a day of new sizes and moving figures more
    pile up than are ever drawn again.
    """
    if Strip.render_ansi.cache_info().currsize > MOST_STYLES:
        Strip.render_ansi.cache_clear()
