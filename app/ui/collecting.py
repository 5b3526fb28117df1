"""Garbage collection that does not stop the screen."""

from __future__ import annotations

import gc

COLLECT_AFTER = (20_000, 20, 50)
"""A collection of the youngest objects after so many new ones; of the others every so many of those."""


def settle_memory() -> None:
    """Freeze what is loaded by now and raise the thresholds of collection.

    Modules, styles and widgets stay as long as the program does; looking at them again and again takes 70 ms a time.
    """
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
    gc.enable()
