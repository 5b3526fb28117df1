"""Which lines of which files a command does nothing but show, such as ``sed -n '10,40p' a.py``."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Sequence

from app.core.effects import Span

JOINTS = frozenset({"&&", ";"})
LAST = 10**6
"""Stands for the end of a file until the length of the output is known."""
_RANGE = re.compile(r"(\d+)(?:,(\d+|\$))?p")
_COUNT = re.compile(r"-(?:n=?)?(\d+)")
_SPECIAL = re.compile(r"^-|[*?\[$`~{<>&()]")
"""No plain name of a file."""
_NUMBERING = frozenset({"-n", "-ba", "-A", "-b"})


def lines_shown(command: str, lines: int) -> tuple[Span, ...]:
    """Return what a command shows; () when it does anything else, or when that is not plain.

    Args:
        command: A command line. Only ``cat``, ``nl``, ``head`` and ``sed -n`` of one file each, also joined by
            ``&&`` or ``;``, after ``cd``, or cut by another of them in a pipe, are understood.
        lines: Lines of its output; a piece that was asked for beyond the end of a file ends there.
    """
    try:
        words = list(shlex.shlex(command, posix=True, punctuation_chars=True))
    except ValueError:
        return ()
    folder, spans = "", list[Span]()
    for part in _split(words, JOINTS):
        if len(part) == 2 and part[0] == "cd":
            folder = posixpath.join(folder, part[1])
            continue
        span = _shown_by_pipe(_split(part, frozenset({"|"})))
        if span is None or _SPECIAL.search(span.path):
            return ()
        path = posixpath.normpath(posixpath.join(folder, span.path))
        spans.append(Span(path, span.first, span.last))
    if len(spans) == 1:
        (one,) = spans
        spans = [Span(one.path, one.first, min(one.last, one.first + max(lines, 1) - 1))]
    return tuple(span for span in spans if span.last < LAST)


def _split(words: Sequence[str], marks: frozenset[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word in marks:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _shown_by_pipe(parts: Sequence[Sequence[str]]) -> Span | None:
    shown = _shown(parts[0])
    for part in parts[1:]:
        cut = _shown([*part, "-"])
        if shown is None or cut is None:
            return None
        first = shown.first + cut.first - 1
        shown = Span(shown.path, first, min(shown.last, shown.first + cut.last - 1))
    return shown


def _shown(words: Sequence[str]) -> Span | None:
    """Return what one command shows of the file that is its last word."""
    match words:
        case ["cat", path]:
            return Span(path, 1, LAST)
        case ["cat" | "nl", option, path] if option in _NUMBERING:
            return Span(path, 1, LAST)
        case ["sed", "-n", pieces, path] if found := _RANGE.fullmatch(pieces):
            first, last = int(found[1]), found[2] or found[1]
            return Span(path, max(1, first), LAST if last == "$" else int(last))
        case ["head", path]:
            return Span(path, 1, 10)
        case ["head", "-n", count, path] if count.isdecimal():
            return Span(path, 1, int(count))
        case ["head", option, path] if found := _COUNT.fullmatch(option):
            return Span(path, 1, int(found[1]))
    return None
