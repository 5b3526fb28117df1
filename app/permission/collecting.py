"""pytest told only to collect: that runs code of the project, so it goes unasked only where it is confined."""

from __future__ import annotations

from collections.abc import Sequence

from app.permission.commands import Command, Script, Stdin
from app.permission.options import Options, named, split_arguments
from app.permission.places import Places, is_stream
from app.permission.read_only import why_not_read_only
from app.permission.words import Word
from app.permission.wrappers import innermost

_OPTIONS = Options(
    "qvxsl",
    "km",
    named("collect-only co quiet verbose exitfirst no-header no-summary ignore= deselect= color="),
)


def collects_only(command: Command, places: Places) -> bool:
    """Whether a command is ``pytest --collect-only`` on tests of the project, with options that write nothing."""
    inner, complete, changes = innermost(command)
    words = _arguments(inner.words)
    if words is None or not complete or changes or command.assignments:
        return False
    if command.stdin is not Stdin.NONE or _reads(command):
        return False
    split = split_arguments(words, _OPTIONS)
    if split.unknown or not split.has("collect-only", "co"):
        return False
    return all(_inside(word, command, places) for word in split.operands)


def needs_confinement(script: Script, places: Places) -> bool:
    """Whether a command line collects tests and does nothing else but look, so that it runs confined and unasked."""
    collecting = False
    for command in script.commands:
        if any(
            redirect.writes and not is_stream(redirect.target) for redirect in command.redirects
        ):
            return False
        if collects_only(command, places):
            collecting = True
        elif why_not_read_only(command, script, places):
            return False
    return collecting and not script.unread and not script.doubts


def _arguments(words: Sequence[Word]) -> Sequence[Word] | None:
    texts = [word.text for word in words[:3]]
    if texts[:1] == ["pytest"]:
        return words[1:]
    if texts[:1] in (["python"], ["python3"]) and texts[1:] == ["-m", "pytest"]:
        return words[3:]
    return None


def _reads(command: Command) -> bool:
    return any(not redirect.writes for redirect in command.redirects)


def _inside(word: Word, command: Command, places: Places) -> bool:
    if word.text is None or word.pattern or word.text.startswith("@"):
        return False
    path = word.text.partition("::")[0]
    found = [places.look(path, base) for base in command.dirs]
    return all(place is not None and place.inside and not place.own for place in found)
