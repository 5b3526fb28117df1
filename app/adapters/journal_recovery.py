"""Finds the whole records in a damaged line: glued together, behind a torn one, or behind a run of NUL bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from app.adapters.journal_format import decode, parse
from app.errors import FormatTooNew

START: Final = b'{"v":'
"""How every record begins. Inside JSON text the quote would be escaped, so it only ever opens an object."""

_ATTEMPTS = 64
"""Most ends that are tried in one line."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A whole JSON object found in a line."""

    start: int
    """Byte position in the line."""
    end: int
    value: dict[str, Any]


def pieces(line: bytes) -> tuple[tuple[Piece, ...], bool]:
    """Return the whole records in a line, and whether something in it was lost.

    An undamaged line is one piece.
    """
    body = line.strip()
    if not body:
        return (), False
    try:
        start = line.find(body)
        return (Piece(start, start + len(body), parse(body)),), False
    except ValueError:
        pass
    starts = _starts(line)
    found: list[Piece] = []
    at, attempts = 0, 0
    for number, start in enumerate(starts):
        if start < at:
            continue
        for end in (*starts[number + 1 :], len(line)):
            attempts += 1
            if attempts > _ATTEMPTS:
                return tuple(found), True
            try:
                value = parse(line[start:end].strip())
                decode(value)
            except (ValueError, FormatTooNew):
                continue
            found.append(Piece(start, end, value))
            at = end
            break
    covered = sum(piece.end - piece.start for piece in found)
    return tuple(found), covered < len(body)


def _starts(line: bytes) -> list[int]:
    starts: list[int] = []
    at = line.find(START)
    while at >= 0 and len(starts) < _ATTEMPTS:
        starts.append(at)
        at = line.find(START, at + 1)
    return starts
