"""xargs: whether what comes to a command that only looks can be nothing but names of the project's files."""

from __future__ import annotations

from collections.abc import Sequence

from app.permission.commands import Command, Script
from app.permission.names_printed import TooMany, names_printed
from app.permission.options import Options, named, split_arguments
from app.permission.places import Places
from app.permission.read_only_commands import TABLE, pattern_is_option
from app.permission.words import Word
from app.permission.wrappers import base_name

UNKNOWN = "what xargs adds to the command is not known"
_SPLITTING = frozenset("\"'\\")
"""What xargs takes away, besides blanks at which it splits."""
_ALSO_FED = named("rg sed awk gawk mawk sort cut basename dirname echo")
"""Programs that only look whatever names they get, as long as none begins with a dash."""
_SHOW_CONTENT = named("cat head tail nl tac rev strings od xxd hexdump sed awk gawk mawk sort cut")
_XARGS = Options("0rtx", "nLPIdEs", named("null no-run-if-empty verbose max-args= max-procs="))


def why_fed_badly(command: Command, inner: Command, script: Script, places: Places) -> str:
    """Return why a command that xargs completes must be asked for; "" when it only looks at files of the project.

    xargs splits what it reads at blanks and takes quotes and backslashes away, so a hostile name can turn into another
    path, or into an option. Therefore the files whose names may come are looked at.

    Args:
        command: The xargs, with what stands in front of it.
        inner: The command that gets the names.
        script: The whole command line.
        places: The project.
    """
    name = base_name(inner.words[0].text or "")
    if not _takes_names(name, inner):
        return UNKNOWN
    ends = _ends(command.words[: len(command.words) - len(inner.words)], inner)
    printed = names_printed(command, script, places)
    if ends is None or printed is None or printed.ends_with_nul != (ends == "\0"):
        return UNKNOWN
    try:
        for shown, path, base in printed.names:
            why = _odd(shown, ends)
            if why:
                return why
            place = places.look(path, base)
            if place is None or not place.inside:
                return f"{name} goes through links that lead out of the project"
            if place.secret and name in _SHOW_CONTENT:
                return f"{shown} may hold keys"
    except TooMany:
        return "there are too many files to look at their names"
    return ""


def _takes_names(name: str, inner: Command) -> bool:
    """Whether a program only looks at whatever names are added to this command."""
    entry = TABLE.get(name)
    if entry is None or not (entry.unchosen or name in _ALSO_FED):
        return False
    split = split_arguments(inner.words[1:], entry.options)
    given = pattern_is_option(split) or split.has("e", "expression")
    return given or len(split.operands) >= entry.texts


def _ends(own: Sequence[Word], inner: Command) -> str | None:
    """Return what ends a name for xargs: NUL, a line break, or "" for any blank; None when it cannot be told."""
    at = next((n for n, word in enumerate(own) if base_name(word.text or "") == "xargs"), None)
    split = split_arguments(own[at + 1 :], _XARGS) if at is not None else None
    if split is None or split.unknown or split.operands:
        return None
    mark = split.value("I")
    if mark is not None and any(mark in (w.text or "") and w.text != mark for w in inner.words):
        return None  # the name becomes a part of a word, and may mean another place there
    if split.has("0", "null"):
        return "\0"
    delimiter = split.value("d")
    if delimiter is None:
        return ""
    return "\n" if delimiter in ("\\n", "\n") else None


def _odd(shown: str, ends: str) -> str:
    if shown.startswith("-"):
        return f"the name {shown!r} reads as an option"
    if ends != "\0" and "\n" in shown:
        return f"the name {shown!r} would be read as two"
    if not ends and any(char.isspace() or char in _SPLITTING or ord(char) < 32 for char in shown):
        return f"xargs would read the name {shown!r} otherwise (-print0 and xargs -0 keep it whole)"
    return ""
