"""What the user calls a session: one line, not too long."""

from __future__ import annotations

TITLE_CHARS = 80


def clean_title(text: str) -> str:
    """Return a title as it is kept; "" takes the title away."""
    return " ".join(text.split())[:TITLE_CHARS]
