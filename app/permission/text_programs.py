"""Small programs inside arguments: which sed and awk scripts only print."""

from __future__ import annotations

import re

_PART = r"(?:\[\^?\]?[^\]\\\n{0}]*\]|[^\[\\\n{0}]|\\[^\n])*"
"""A regular expression in sed up to its delimiter, which a class may not hold: some seds read on there, some do not."""
_ADDRESS = rf"(?:\d+(?:~\d+)?|\$|/{_PART.format('/')}/I?)"
_RANGE = rf"(?:{_ADDRESS}(?:\s*,\s*(?:{_ADDRESS}|\+\d+|~\d+))?\s*!?\s*)?"
_TEXT = r"(?:[^\\\n{0}]|\\[^\n])*"
_SUBSTITUTE = "|".join(
    rf"s{sep}{_PART.format(sep)}{sep}{_TEXT.format(sep)}{sep}[gpiI0-9]*"
    for sep in map(re.escape, "/|,#@!:;%_+=~")
)
_EDIT = re.compile(
    rf"\s*{_RANGE}(?:[dpqQDNPGHhgnxl=]|{_SUBSTITUTE}|y/{_TEXT.format('/')}/{_TEXT.format('/')}/)\s*"
)
_OPEN, _CLOSE = re.compile(rf"\s*{_RANGE}\{{"), re.compile(r"\s*\}\s*")
_SLASH_IN_CLASS = re.compile(
    r"s/[^\[\]\\/\n]*\[\^?/\][^\[\]\\/\n]*/(?:[^\\/\n;}wegpimMI0-9][^\\/\n]*)?/[gpiI0-9]*"
)
"""One ``s/[^/]*$//``: where the class ends the expression for a sed, what follows is an error and not a command."""
_AWK_ACTS = re.compile(
    r"system|getline|\||@|ARGV|ARGC|close\s*\(|fflush|extension|ENVIRON|PROCINFO|FUNCTAB|SYMTAB"
)
_AWK_CONDITION = re.compile(r"\b(?:if|while)\s*\([^(){}\"/\n]*\)")
"""A condition without anything in it that could make it part of a text or of another statement."""


def sed_only_edits_the_stream(script: str) -> bool:
    """Whether a sed script changes nothing but what it prints: no ``w``, ``e``, ``r`` or files."""
    return _SLASH_IN_CLASS.fullmatch(script) is not None or _made_of_edits(script)


def awk_only_prints(program: str) -> bool:
    """Whether an awk program runs nothing, writes no file and opens no other file.

    ``>`` writes only in an action, so it is a comparison in front of the first brace and in a plain condition.
    """
    if _AWK_ACTS.search(program.replace("||", " ")):
        return False
    _, brace, actions = program.partition("{")
    return ">" not in _AWK_CONDITION.sub("", brace + actions).replace(">=", "")


def _made_of_edits(script: str) -> bool:
    at, depth = 0, 0
    while at < len(script):
        if (opened := _OPEN.match(script, at)) is not None:
            at, depth = opened.end(), depth + 1
            continue
        if (closed := _CLOSE.match(script, at)) is not None:
            at, depth = closed.end(), depth - 1
        elif (edit := _EDIT.match(script, at)) is not None:
            at = edit.end()
        else:
            return False
        if at < len(script) and script[at] in ";\n":
            at += 1
        elif at < len(script) and script[at] != "}":
            return False
    return depth == 0 and bool(script.strip())
