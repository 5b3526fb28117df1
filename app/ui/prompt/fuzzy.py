"""Which paths a few typed letters may mean, the likeliest first."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Sequence

ENOUGH = 200
"""With so many paths that hold the letters in one piece, those that only hold them in order are not looked for."""
MANY = 2_000
"""Paths that are ranked one by one."""
_WORD_START = re.compile(r"[/_\-. ]")


def best(query: str, paths: Sequence[str], limit: int) -> list[str]:
    """Return up to ``limit`` paths that fit, best first; an empty query fits the shallowest.

    A query in small letters fits both cases, like an editor's file finder. Blanks in it separate words that must all
    be found.
    """
    words = query.split()
    if not words:
        return heapq.nsmallest(limit, paths, key=lambda path: (path.count("/"), path))
    exact = query != query.lower()
    found: Iterable[str] = paths
    for word in words:
        found = _holding(word, found, exact=exact)
    word = words[-1]
    found = _shortlist(word, found if isinstance(found, list) else list(found), limit)
    return heapq.nsmallest(limit, found, key=lambda path: _rank(word, path, exact=exact))


def _holding(word: str, paths: Iterable[str], *, exact: bool) -> list[str]:
    """Return the paths that hold a word in one piece; when those are few, also those with its letters in order."""
    paths = paths if isinstance(paths, Sequence) else list(paths)
    whole = [path for path in paths if word in (path if exact else path.lower())]
    if len(whole) >= ENOUGH:
        return whole
    steps = "".join(f"[^{re.escape(c)}]*{re.escape(c)}" for c in word)
    in_order = re.compile(steps, re.DOTALL if exact else re.DOTALL | re.IGNORECASE).match
    known = set(whole)
    return whole + [path for path in paths if in_order(path) and path not in known]


def _shortlist(word: str, found: list[str], limit: int) -> list[str]:
    """Return what is worth ranking of very many paths: names that begin with the word, then the shortest."""
    if len(found) <= MANY:
        return found
    begin = [path for path in found if path.lower().rpartition("/")[2].startswith(word.lower())]
    return heapq.nsmallest(MANY, begin if len(begin) >= limit else found, key=len)


def _rank(word: str, path: str, *, exact: bool) -> tuple[int, int, int, str]:
    """Return a key that sorts likelier paths first: name before folder, start before middle, whole before in order."""
    subject = path if exact else path.lower()
    name = subject.rstrip("/").rpartition("/")[2]
    at = name.find(word)
    if name == word or name.partition(".")[0] == word:
        kind = 0
    elif at == 0:
        kind = 1
    elif at > 0 and _WORD_START.match(name[at - 1]):
        kind = 2
    elif subject.startswith(word) or any(f"{sign}{word}" in subject for sign in "/_-. "):
        kind = 3
    elif at > 0:
        kind = 4
    elif word in subject:
        kind = 5
    else:
        kind = 6 + _gaps(word, subject)
    return kind, len(path), path.count("/"), path


def _gaps(word: str, subject: str) -> int:
    """Return over how many pieces the letters are spread, looking for them from the end: names matter most."""
    gaps, at = 0, len(subject)
    for letter in reversed(word):
        found = subject.rfind(letter, 0, at)
        gaps += found != at - 1
        at = found if found >= 0 else at
    return gaps
