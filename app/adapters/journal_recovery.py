"""Finds the whole records in a damaged line: glued together, behind a torn one, or in a run of NUL bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from app.adapters.journal_format import decode, parse
from app.errors import FormatTooNew

START: Final = b'{"v":'
"""How every record begins. Inside JSON text the quote would be escaped, so it only ever opens an object."""

_ATTEMPTS = 64
"""Most beginnings that are tried in one line."""
_DECODER = json.JSONDecoder()


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
    found: list[Piece] = []
    at, lost = 0, False
    start = line.find(START)
    for _ in range(_ATTEMPTS):
        if start < 0:
            break
        piece = _piece(line, start)
        if piece is not None:
            lost = lost or bool(line[at : piece.start].strip())
            found.append(piece)
            at = piece.end
        start = line.find(START, piece.end if piece else start + 1)
    return tuple(found), lost or bool(line[at:].strip())


def _piece(line: bytes, start: int) -> Piece | None:
    """Return the record that begins here, or None when it is not whole or none of ours."""
    text = line[start:].decode("utf-8", "surrogateescape")
    try:
        value, length = _DECODER.raw_decode(text)
        whole = text[:length].encode("utf-8")
        decode(value)
    except (ValueError, RecursionError, FormatTooNew):
        return None
    return Piece(start, start + len(whole), value)
