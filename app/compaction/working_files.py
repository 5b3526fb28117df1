"""The working files: those edited last, and read last where edits go on, as they are on disk now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
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
"""Files with more lines are shown by the range last used."""
RANGE_LINES = 200
"""Lines of a large file that are shown when no range of it is known."""


@dataclass(frozen=True, slots=True)
class WorkingFile:
    """A piece of a file as it will stand in the head."""

    path: str
    text: str
    """Heading and fenced lines."""
    tokens: float


def chosen(ledger: Ledger, *, skip: Collection[str] = ()) -> tuple[Span | str, ...]:
    """Return the files worth reading again, the most wanted first; a span where lines of it were read.

    Edited files come first, newest first; then files read last in folders where something was edited. A session
    without edits has no working files.
    """
    if not ledger.modified:
        return ()
    spans = {span.path: span for span in ledger.read}
    folders = {PurePosixPath(path).parent for path in ledger.modified}
    edited = list(reversed(ledger.modified))
    near = [
        span.path for span in reversed(ledger.read) if PurePosixPath(span.path).parent in folders
    ]
    paths = [path for path in dict.fromkeys((*edited, *near)) if path not in skip]
    return tuple(spans.get(path, path) for path in paths[:MOST_FILES])


async def load(
    wanted: Sequence[Span | str], read: ReadLines, *, together: float, each: float
) -> tuple[WorkingFile, ...]:
    """Read the files from disk, in their order, as far as they fit.

    Args:
        wanted: As `chosen` returns them.
        read: Reads lines from disk.
        together: Raw tokens that all may take.
        each: Raw tokens that one may take; of larger files the range last used is shown.
    """
    files: list[WorkingFile] = []
    for one in wanted:
        room = min(each, together)
        if room < estimate_text("x" * 400):
            break
        file = await _load_one(one, read, room)
        if file is not None:
            together -= file.tokens
            files.append(file)
    return tuple(files)


async def _load_one(wanted: Span | str, read: ReadLines, room: float) -> WorkingFile | None:
    span = wanted if isinstance(wanted, Span) else None
    path = span.path if span else str(wanted)
    whole = await read(path, 1, WHOLE_LINES + 1)
    if whole is None or not whole.strip():
        return None
    lines = repair(whole).splitlines()
    if len(lines) <= WHOLE_LINES and estimate_text(whole) <= room:
        return _file(path, lines, 1, whole_file=True)
    first = span.first if span and not _is_whole(span) else 1
    last = span.last if span and not _is_whole(span) else RANGE_LINES
    if last > len(lines):
        piece = await read(path, first, last)
        lines = repair(piece).splitlines() if piece else []
    else:
        lines = lines[first - 1 : last]
    return _file(path, _fitting(lines, room), first, whole_file=False)


def _is_whole(span: Span) -> bool:
    return span.first <= 1 and (span.total is None or span.last >= span.total)


def _fitting(lines: Sequence[str], room: float) -> list[str]:
    kept: list[str] = []
    for line in lines:
        room -= estimate_text(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept


def _file(path: str, lines: Sequence[str], first: int, *, whole_file: bool) -> WorkingFile | None:
    if not lines:
        return None
    body = "\n".join(lines)
    part = "" if whole_file else f" (lines {first}-{first + len(lines) - 1})"
    text = f"## {one_line(path, 400)}{part}\n{fenced(body)}"
    return WorkingFile(path, text, estimate_text(text))
