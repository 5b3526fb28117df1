"""Small programs inside arguments: which sed and awk scripts only print."""

from __future__ import annotations

import re

_ADDRESS = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\[^\n])*/I?)"
_RANGE = rf"(?:{_ADDRESS}(?:\s*,\s*(?:{_ADDRESS}|\+\d+|~\d+))?\s*!?\s*)?"
_PRINT = re.compile(rf"\s*{_RANGE}(?:[p=]|q|Q)\s*")
_EDIT = re.compile(
    rf"\s*{_RANGE}(?:[dpqDNPGHhgnxl=]|s([/|,#@!:])(?:(?!\1)[^\\\n]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpiI0-9]*"
    r"|y/(?:[^/\\\n]|\\[^\n])*/(?:[^/\\\n]|\\[^\n])*/)\s*"
)
_AWK_ACTS = re.compile(
    r"system|getline|\||>|@|ARGV|ARGC|close\s*\(|fflush|printf\s*\(?.*?>|extension|ENVIRON|PROCINFO|FUNCTAB|SYMTAB",
    re.DOTALL,
)


def sed_only_prints(script: str) -> bool:
    """Whether a ``sed -n`` script consists of addresses with ``p``, ``=`` and ``q``."""
    return _made_of(script, _PRINT)


def sed_only_edits_the_stream(script: str) -> bool:
    """Whether a sed script changes nothing but what it prints: no ``w``, ``e``, ``r`` or files."""
    return _made_of(script, _EDIT)


def awk_only_prints(program: str) -> bool:
    """Whether an awk program runs nothing, writes no file and opens no other file.

    A comparison with ``>`` counts as a possible write unless it stands in parentheses of a condition; it is asked then.
    """
    return not _AWK_ACTS.search(program.replace("||", " "))


def _made_of(script: str, piece: re.Pattern[str]) -> bool:
    at = 0
    if not script.strip():
        return False
    while at < len(script):
        found = piece.match(script, at)
        if not found:
            return False
        at = found.end()
        if at < len(script):
            if script[at] not in ";\n":
                return False
            at += 1
    return True
