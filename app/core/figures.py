"""Sizes and times as people read them, the same on the screen and on the command line."""

from __future__ import annotations

from datetime import datetime

from app.core.visible_text import one_line


def size(count: int) -> str:
    """Return a number of bytes, ``214 B``, ``3.1 kB``, ``12 MB``."""
    for unit, scale in (("MB", 1_000_000), ("kB", 1_000)):
        if count >= scale:
            value = count / scale
            return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"
    return f"{count} B"


def moment(time: str) -> str:
    """Return the local ``2026-11-29 14:05`` of an ISO 8601 time; the text itself when it is none."""
    try:
        return datetime.fromisoformat(time).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return one_line(time, 16)
