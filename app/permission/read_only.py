"""Whether a simple command changes nothing and looks at nothing outside the project."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from app.permission.commands import Command, Script, Stdin
from app.permission.git_repository import repository_runs
from app.permission.options import split_arguments
from app.permission.places import Places
from app.permission.read_only_commands import (
    TABLE,
    ReadOnly,
    pattern_is_option,
    test_expression,
)
from app.permission.read_only_find import read_find
from app.permission.read_only_git import read_git
from app.permission.read_only_xargs import why_fed_badly
from app.permission.versions import asks_version, chosen_by
from app.permission.words import PIPE, Word
from app.permission.wrappers import INTERPRETERS, base_name, harmless_assignment, innermost, layers

_READABLE_DEVICES = frozenset({"/dev/null", "/dev/stdin", PIPE})
REPOSITORY_RUNS = "git may run a program of this repository"
HOLDS_KEYS = "may hold keys"
LEADS_OUT = "goes through links that lead out of the project"
_TESTS = frozenset({"test", "[", "[["})
_BUILTINS = _TESTS | {
    "cd",
    "command",
    "echo",
    "printf",
    "pwd",
    "true",
    "false",
    ":",
    "exit",
    "set",
    "type",
}
"""What the shell does itself, whatever program has the name."""


def why_not_read_only(command: Command, script: Script, places: Places) -> str:
    """Return why a command must be asked for, one clause; "" when it only looks.

    Redirections that write are not part of the answer.
    """
    for variable, value in command.assignments:
        if not harmless_assignment(variable, value.text):
            return f"it sets {variable or 'a variable'}"
    for redirect in command.redirects:
        if not redirect.writes:
            why = _outside(redirect.target, command, places)
            if why:
                return why
    if not command.words:
        return ""
    inner, complete, changes = innermost(command)
    if changes:
        return changes
    name = inner.words[0]
    if name.text is None or not name.plain:
        return f"the program {name.raw} is not written out"
    own = _own_program(command, places)
    if own:
        return own
    if base_name(name.text) in INTERPRETERS and not asks_version(name.text, inner.argv[1:]):
        fed = command.stdin is not Stdin.NONE or "-" in inner.argv
        return f"{name.text} runs what it reads" if fed else f"{name.text} runs a program"
    return _by_name(name.text, inner, places) or (
        "" if complete else why_fed_badly(command, inner, script, places)
    )


def _own_program(command: Command, places: Places) -> str:
    for layer in layers(command):
        name = layer.words[0].text or ""
        for base in layer.dirs if name not in _BUILTINS else ():
            own = places.own_program(name, base)
            if own:
                return f"{name} is the project's own program ({own})"
    return ""


def _by_name(name: str, command: Command, places: Places) -> str:
    words = command.words[1:]
    if asks_version(name, command.argv[1:]):
        chosen = chosen_by(name, (Path(base) for base in command.dirs))
        return f"{chosen} may choose what runs as {name}" if chosen else ""
    if name in _TESTS:
        return test_expression([word.text for word in words]) or _paths(words, command, places)
    if name == "cd":
        operands = [word for word in words if word.text not in ("--", "-L")]
        if len(operands) != 1 or operands[0].text in (None, "-", "", "~"):
            return "it leaves the project folder"
        return _outside(operands[0], command, places)
    if name == "command":
        asks = [word.text for word in words][:1] in (["-v"], ["-V"])
        return "" if asks else "it runs another program"
    if name == "find":
        paths, why = read_find(command.words)
        follows = any(word.text in ("-L", "-follow") for word in words)
        why = why or _paths(paths, command, places)
        return why or (_through_links(name, paths, command, places) if follows else "")
    if name == "git":
        return _git(command, places)
    entry = TABLE.get(name)
    if entry is None:
        return f"{name} is not on the list of read-only commands"
    return _by_table(name, entry, words, command, places)


def _by_table(
    name: str, entry: ReadOnly, words: tuple[Word, ...], command: Command, places: Places
) -> str:
    if entry.any_words:
        odd = next((word.raw for word in words if word.text is None and not word.harmless), "")
        return f"what {odd} becomes is not known" if odd else ""
    split = split_arguments(words, entry.options)
    if split.unknown:
        known = any(word.raw == split.unknown and word.text is None for word in words)
        return (
            f"what {split.unknown} becomes is not known"
            if known
            else f"{name} with {split.unknown} is not known to be read-only"
        )
    if entry.most is not None and len(split.operands) > entry.most:
        return f"{name} may write to {split.operands[-1].raw}"
    why = entry.check(split) if entry.check else ""
    if why or entry.texts < 0:
        return why
    texts = (
        0 if pattern_is_option(split) and name in ("grep", "egrep", "fgrep", "rg") else entry.texts
    )
    if name == "sed" and split.has("e", "expression"):
        texts = 0
    paths = [*split.operands[texts:]]
    paths += [
        Word(value, value)
        for option, value in split.options
        if option in entry.path_values and value
    ]
    why = _paths(paths, command, places)
    follows = split.has(*entry.follows)
    return why or (_through_links(name, paths, command, places) if follows else "")


def _through_links(name: str, paths: Iterable[Word], command: Command, places: Places) -> str:
    named = [word.text for word in paths if word.text and not word.text.startswith("-")]
    for base in command.dirs:
        if any(places.leads_out(path, base) for path in named or ["."]):
            return f"{name} {LEADS_OUT}"
    return ""


def _git(command: Command, places: Places) -> str:
    folders, operands, why = read_git(command.words)
    if why:
        return why
    for folder in folders:
        why = _outside(folder, command, places)
        if why:
            return why
    for base in command.dirs:
        for start in [base, *(f"{base}/{folder.text}" for folder in folders)]:
            place = places.look(start)
            why = repository_runs(Path(place.path)) if place else ""
            if why:
                return f"{REPOSITORY_RUNS}: {why}"
    suspicious = [word for word in operands if _may_be_path(word)]
    return _paths(suspicious, command, places)


def _may_be_path(word: Word) -> bool:
    """Whether an operand of git could lead out: revisions such as ``a..b`` and ``HEAD~2`` cannot."""
    text = word.text
    return (
        text is None or text.startswith(("/", "~")) or ".." in text.split("/") or bool(word.pattern)
    )


def _paths(words: Iterable[Word], command: Command, places: Places) -> str:
    for word in words:
        if word.text == "-":
            continue
        why = _outside(word, command, places)
        if why:
            return why
    return ""


def _outside(word: Word, command: Command, places: Places) -> str:
    """Return why a path may not be looked at unasked: unknown, outside, or full of keys."""
    if word.text is None:
        return f"what {word.raw} becomes is not known"
    for base in command.dirs:
        names = [word.text]
        if word.pattern:
            found = places.matches(word.pattern, base)
            if found is None:
                return f"{word.raw} stands for too many files"
            if any(name.startswith("-") for name in found):
                return f"{word.raw} stands for a name that reads as an option"
            names = found
        for name in names:
            if name in _READABLE_DEVICES or not name:
                continue
            place = places.look(name, base)
            if place is None or not place.inside:
                return f"{word.raw} lies outside the project"
            if place.secret:
                return f"{word.raw} {HOLDS_KEYS}"
    return ""
