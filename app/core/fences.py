"""Text in a Markdown fence that nothing inside it can close."""

from __future__ import annotations

import re

_RUNS = re.compile("`{3,}")


def fence(text: str) -> str:
    """Return a run of at least three backticks that closes nothing inside ``text``."""
    longest = max(map(len, _RUNS.findall(text)), default=2)
    return "`" * (longest + 1)


def fenced(text: str, language: str = "") -> str:
    """Return the text between two fences, without blanks at its end."""
    marks = fence(text)
    return f"{marks}{language}\n{text.rstrip()}\n{marks}"
