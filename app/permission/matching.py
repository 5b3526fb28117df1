"""Which rules speak of a call: commands by their words, files by their real path."""

from __future__ import annotations

import fnmatch
import shlex
from collections.abc import Iterable, Sequence
from enum import Enum
from functools import lru_cache

from app.core.path_glob import path_glob
from app.core.permission import Rule, Verdict
from app.permission.commands import Command
from app.permission.hazards import hazards
from app.permission.places import Place, Places
from app.permission.read_only_git import without_global_options
from app.permission.words import Word
from app.permission.wrappers import base_name, innermost, layers


class Match(Enum):
    """How surely a rule speaks of a command."""

    NO = 0
    MAYBE = 1
    """A word that is not literal could make it so."""
    YES = 2


def of_tool(rules: Iterable[Rule], tool: str, verdict: Verdict) -> list[Rule]:
    """Return the rules of one verdict that name a tool."""
    return [rule for rule in rules if rule.verdict is verdict and rule.tool in (tool, "*")]


def forbids(rule: Rule, command: Command) -> Match:
    """Return whether a deny or ask rule speaks of a command, also inside wrappers and behind global options.

    The pattern is a prefix: ``git push`` and ``git push *`` both speak of ``git push origin``.
    """
    if not rule.pattern:
        return Match.YES
    tokens = _tokens(rule.pattern)
    if tokens and tokens[-1] == "*":
        tokens = tokens[:-1]
    best = Match.NO
    for layer in layers(command):
        for words in _spellings(layer.words):
            found = _prefix(tokens, words)
            best = found if found.value > best.value else best
    return best


def permits(rule: Rule, command: Command) -> bool:
    """Return whether an allow rule covers a command: every word literal, every hazardous option spelled in it.

    Without ``*`` at its end the pattern is the whole command.
    """
    if any(word.text is None for word in command.words) or not command.words:
        return False
    inner, complete, changes = innermost(command)
    if not complete or changes or not inner.words[0].plain:
        return False
    if not rule.pattern:
        return True
    tokens = _tokens(rule.pattern)
    outside = len(command.words) - len(inner.words)
    spelled = len(tokens) - (tokens[-1:] == ["*"])
    covers = _covers(tokens, inner.words) or (spelled > outside and _covers(tokens, command.words))
    return covers and all(
        any(token == hazard or token.partition("=")[0] == hazard for token in tokens)
        for hazard in hazards(inner)
    )


def speaks_of_path(rule: Rule, place: Place, places: Places, written: str = "") -> bool:
    """Return whether a file rule speaks of a path; rules that forbid also match by name and below a folder."""
    if not rule.pattern:
        return True
    pattern, strict = rule.pattern, rule.verdict is Verdict.ALLOW
    if pattern.startswith("~/"):
        pattern = str(places.home) + pattern[1:]
    names = [place.path if pattern.startswith("/") else place.relative]
    if written and not strict:
        names.append(written)
    if strict:
        return (
            place.inside is not pattern.startswith("/")
            and path_glob(pattern).fullmatch(names[0]) is not None
        )
    folded = pattern.casefold().removeprefix("./").rstrip("/")
    for name in (name.casefold() for name in names):
        if path_glob(folded).fullmatch(name) or path_glob(f"{folded}/**").fullmatch(name):
            return True
        if "/" not in folded and any(fnmatch.fnmatchcase(part, folded) for part in name.split("/")):
            return True
    return False


def _covers(tokens: Sequence[str], words: Sequence[Word]) -> bool:
    open_end = tokens[-1:] == ["*"]
    fixed = tokens[:-1] if open_end else tokens
    if len(words) < len(fixed) or (len(words) > len(fixed) and not open_end):
        return False
    if any(word.pattern and word.pattern[0] in "*?[" for word in words):
        return False
    return all(
        fnmatch.fnmatchcase(word.text or "", token)
        for token, word in zip(fixed, words, strict=False)
    )


def _prefix(tokens: Sequence[str], words: Sequence[Word]) -> Match:
    surest = Match.YES
    for at, token in enumerate(tokens):
        if at >= len(words):
            return Match.NO
        text = words[at].text
        if text is None or words[at].pattern:
            surest = Match.MAYBE
        elif not fnmatch.fnmatchcase(text, token):
            return Match.NO
    return surest


def _spellings(words: tuple[Word, ...]) -> list[tuple[Word, ...]]:
    """Return a command as written, by the program's own name, and without git's global options."""
    if not words or words[0].text is None:
        return [words]
    named = (Word(words[0].raw, base_name(words[0].text)), *words[1:])
    found = [words, named]
    if named[0].text == "git":
        found.append(without_global_options(named))
    return found


@lru_cache(maxsize=256)
def _tokens(pattern: str) -> list[str]:
    try:
        return shlex.split(pattern)
    except ValueError:
        return pattern.split()
