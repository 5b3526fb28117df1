"""find: which of its expressions only look."""

from __future__ import annotations

from collections.abc import Sequence

from app.permission.options import named
from app.permission.words import Word

_ALONE = named(
    "-print -print0 -ls -depth -empty -follow -mount -xdev -noleaf -prune -quit -true -false -not "
    "! ( ) -o -or -a -and , -readable -writable -executable -nouser -nogroup -daystart -nowarn -d"
)
_WITH_TEXT = named(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype "
    "-size -mtime -mmin -atime -amin -ctime -cmin -perm -user -group -uid -gid -links -inum "
    "-maxdepth -mindepth -lname -ilname -fstype -newermt -newerct -printf"
)
_WITH_PATH = frozenset({"-newer", "-anewer", "-cnewer", "-samefile"})
_BEFORE = frozenset({"-H", "-L", "-P"})
ACTIONS = named("-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from")
"""What runs, deletes or writes."""


def read_find(words: Sequence[Word]) -> tuple[tuple[Word, ...], str]:
    """Return the paths that a find looks at, and why it is not read-only ("" when it is)."""
    paths: list[Word] = []
    at = 1
    while at < len(words) and words[at].text in _BEFORE:
        at += 1
    while at < len(words) and not _begins_expression(words[at].text):
        paths.append(words[at])
        at += 1
    while at < len(words):
        text = words[at].text
        if text in _ALONE:
            at += 1
        elif (text in _WITH_TEXT or text in _WITH_PATH) and at + 1 < len(words):
            if words[at + 1].text is None:
                return tuple(paths), f"{words[at + 1].raw} is not written out"
            paths += [words[at + 1]] if text in _WITH_PATH else []
            at += 2
        else:
            return tuple(paths), f"find with {words[at].raw} does more than look"
    return tuple(paths), ""


def _begins_expression(text: str | None) -> bool:
    return text is not None and (text.startswith("-") or text in ("!", "(", ","))
