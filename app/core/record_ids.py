"""Ids of the record: ``m<N>`` is its Nth message, ``r<N>`` its Nth tool result."""

from __future__ import annotations

import re

_ID = re.compile(r"\s*([rm])\s*(\d{1,9})\s*", re.IGNORECASE)


def read_id(text: str) -> tuple[str, int] | None:
    """Return ("r", N) or ("m", N) for an id as people and models write it, or None when it is none."""
    found = _ID.fullmatch(text)
    return (found[1].lower(), int(found[2])) if found else None


def number_in(id_: str) -> int:
    """Return the number in ``m<N>`` or ``r<N>``; 0, which nothing has, for anything else."""
    digits = id_[1:]
    return int(digits) if digits.isdecimal() else 0
