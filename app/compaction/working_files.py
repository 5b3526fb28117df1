"""The working files: those edited last, and read last where edits go on, as they are on disk now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from app.compaction.facts import Ledger
from app.core.effects import Span
from app.core.fences import fenced
from app.core.surrogates import repair
from app.core.tokens import estimate_text
from app.core.visible_text import one_line

ReadLines = Callable[[str, int, int], Awaitable[str | None]]
"""Reads lines (path, first, last; from 1, both included) of a file; None when it cannot be read as text."""

MOST_FILES = 12
WHOLE_LINES = 2_000
"""Files with more lines are never shown whole."""
HEAD_LINES = 200
"""Lines of a large file that are shown when no place in it is known."""
LEAST_TOKENS = 120.0
"""Raw tokens of room below which no further file is read."""
AROUND = 8
"""Lines shown above and below a place of a large file."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file worth reading again."""

    path: str
    places: tuple[Span, ...] = ()
    """Where it was edited or read, the most wanted first."""


@dataclass(frozen=True, slots=True)
class WorkingFile:
    """A file, or the places of it that matter, as it will stand in the head."""

    path: str
    text: str
    """Heading and fenced lines."""
    tokens: float


def chosen(ledger: Ledger) -> tuple[Wanted, ...]:
    """Return the files worth reading again, the most wanted first.

    Edited files come first, newest first; then files read last in folders where something was edited. A session
    without edits has no working files.
    """
    folders = {PurePosixPath(path).parent for path in ledger.modified}
    edited = list(reversed(ledger.modified))
    near = [
        span.path for span in reversed(ledger.read) if PurePosixPath(span.path).parent in folders
    ]
    paths = tuple(dict.fromkeys((*edited, *near)))[:MOST_FILES]
    return tuple(Wanted(path, _places(ledger, path)) for path in paths)


def _places(ledger: Ledger, path: str) -> tuple[Span, ...]:
    return tuple(
        Span(path, max(1, span.first - AROUND), span.last + AROUND, span.total)
        for span in reversed(ledger.places)
        if span.path == path
    )


async def load(
    wanted: Sequence[Wanted], read: ReadLines, *, together: float, each: float
) -> tuple[WorkingFile, ...]:
    """Read the files from disk, in their order, as far as they fit.

    Args:
        wanted: As `chosen` returns them.
        read: Reads lines from disk.
        together: Raw tokens that all may take.
        each: Raw tokens that one may take; of larger files the places last used are shown.
    """
    files: list[WorkingFile] = []
    for one in wanted:
        room = min(each, together)
        if room < LEAST_TOKENS:
            break
        file = await _load_one(one, read, room)
        if file is not None:
            together -= file.tokens
            files.append(file)
    return tuple(files)


async def _load_one(wanted: Wanted, read: ReadLines, room: float) -> WorkingFile | None:
    whole = await read(wanted.path, 1, WHOLE_LINES + 1)
    if whole is None or not whole.strip():
        return None
    lines = repair(whole).splitlines()
    name = one_line(wanted.path, 400)
    if len(lines) <= WHOLE_LINES and estimate_text(whole) <= room:
        return _file(wanted.path, f"## {name}\n{fenced(chr(10).join(lines))}")
    shown = await _shown(wanted, dict(enumerate(lines, 1)), read, room)
    pieces = [
        f"## {name} (lines {first}-{first + len(piece) - 1})\n{fenced(chr(10).join(piece))}"
        for first, piece in _pieces(shown)
    ]
    return _file(wanted.path, "\n".join(pieces)) if pieces else None


async def _shown(
    wanted: Wanted, known: dict[int, str], read: ReadLines, room: float
) -> dict[int, str]:
    """Return the lines of the places, by number, as far as they fit."""
    shown: dict[int, str] = {}
    for place in wanted.places or (Span(wanted.path, 1, HEAD_LINES),):
        if place.last > len(known):
            piece = await read(wanted.path, place.first, place.last)
            known = known | dict(enumerate(repair(piece or "").splitlines(), place.first))
        for number in range(place.first, place.last + 1):
            if number in shown or number not in known:
                continue
            room -= estimate_text(known[number]) + 1
            if room < 0:
                return shown
            shown[number] = known[number]
    return shown


def _pieces(shown: dict[int, str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the first number and the lines of each run of lines without a gap."""
    first, piece = 0, list[str]()
    for number in sorted(shown):
        if piece and number != first + len(piece):
            yield first, piece
            piece = []
        if not piece:
            first = number
        piece.append(shown[number])
    if piece:
        yield first, piece


def _file(path: str, text: str) -> WorkingFile:
    return WorkingFile(path, text, estimate_text(text))
