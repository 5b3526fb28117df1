"""Text from models, tools and files made safe for a line or a block that this program writes."""

from __future__ import annotations

import re

_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+"
)
_BLANKS = re.compile(r"\s+")


def one_line(text: str, limit: int) -> str:
    """Return ``text`` as one line of at most ``limit`` characters, without control characters."""
    head = _BLANKS.sub(" ", _CONTROL.sub(" ", text[: 4 * limit])).strip()
    if len(head) <= limit and len(text) <= 4 * limit:
        return head
    return head[: limit - 1].rstrip() + "…"


def sendable(text: str) -> str:
    """Return ``text`` with what JSON cannot carry (lone surrogates) replaced; else unchanged."""
    return text.encode("utf-8", "replace").decode("utf-8")


def fence(text: str) -> str:
    """Return a run of backticks that closes nothing inside ``text``."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    return "`" * (longest + 1)
