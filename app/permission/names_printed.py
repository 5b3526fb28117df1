"""Names of files that a command prints for another one: which of the project's files they can be."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path

from app.permission.commands import Command, Script
from app.permission.git_repository import tracked_names
from app.permission.options import Options, named, split_arguments
from app.permission.places import MOST_ENTRIES, Places
from app.permission.read_only_commands import TABLE, pattern_is_option
from app.permission.read_only_find import read_find
from app.permission.words import Word

_FILTERS = {
    "sort": Options("rufnVz"),
    "head": Options("qz", "n", frozenset({"lines="}), number=True),
    "tail": Options("qz", "n", frozenset({"lines="}), number=True),
    "uniq": Options("z"),
    "grep": Options("vEFPiwxz", "e", named("invert-match extended-regexp fixed-strings")),
}
"""Programs that pass lines on as they are, with the options for which that holds."""
_LISTS = named("l L files-with-matches files-without-match files")
_LISTING = _LISTS | named(
    "r R recursive i ignore-case E F P w x v e regexp include exclude exclude-dir s no-messages Z null 0 g glob t "
    "type hidden . S smart-case u extended-regexp fixed-strings perl-regexp word-regexp line-regexp invert-match"
)
"""Options with which grep and rg print names and nothing else."""
_TRACKED = named("-z -c --cached --full-name --")
_UNTRACKED = named("-o --others --exclude-standard -m --modified")
_UNCLEAR = named("-o -or , ! -not ( ) -L -follow")
"""Parts of a find after which its tests need not all hold for what it prints."""
Name = tuple[str, str, str]
"""A name as it is printed, the path that it stands for, and the folder that this is relative to."""


class TooMany(Exception):
    """There are more files than can be looked at."""


@dataclass(frozen=True, slots=True)
class Printed:
    """What may be printed."""

    names: Iterator[Name]
    """Raises `TooMany`."""
    ends_with_nul: bool


def names_printed(command: Command, script: Script, places: Places) -> Printed | None:
    """Return the names that a command gets from those that are piped into it; None when they cannot be told."""
    for _ in range(10):
        if command.feeder is None or not 0 <= command.feeder < len(script.commands):
            return None
        command = script.commands[command.feeder]
        if any(not redirect.writes for redirect in command.redirects):
            return None
        printed = _by_program(command, places)
        if printed is not None or not _passes_lines(command):
            return printed
    return None


def _passes_lines(command: Command) -> bool:
    options = _FILTERS.get(command.name or "")
    if options is None:
        return False
    split = split_arguments(command.words[1:], options)
    patterns = 1 if command.name == "grep" and not split.has("e") else 0
    return not split.unknown and len(split.operands) == patterns


def _by_program(command: Command, places: Places) -> Printed | None:
    match command.name:
        case "find":
            return _by_find(command, places)
        case "git" if command.argv[1:2] == ("ls-files",):
            return _by_git(command, places)
        case "grep" | "rg":
            return _by_grep(command, places)
        case _:
            return None


def _by_find(command: Command, places: Places) -> Printed | None:
    starts, why = read_find(command.words)
    texts = [text or "" for text in command.argv]
    prints = set(texts) & {"-print", "-print0", "-printf", "-ls"}
    if why or len(prints) > 1 or prints - {"-print", "-print0"}:
        return None
    pairs = list(pairwise(texts))
    clear = not _UNCLEAR & set(texts[1:])
    patterns = [value for option, value in pairs if option == "-name"] if clear else []
    if any(sign in pattern for pattern in patterns for sign in "[\\"):
        patterns = []

    def names() -> Iterator[Name]:
        for start, base in _starts(starts or (Word(".", "."),), command, places):
            for path, entry in _below(start, base):
                name = entry.name if entry is not None else path.rpartition("/")[2]
                is_link = entry is not None and entry.is_symlink()
                if clear and is_link and ("-type", "f") in pairs:
                    continue
                if all(fnmatchcase(name, pattern) for pattern in patterns):
                    yield path, path, base

    return Printed(names(), "-print0" in prints)


def _by_git(command: Command, places: Places) -> Printed | None:
    options = {text for text in command.argv[2:] if text is None or text.startswith("-")}
    if options - _TRACKED - _UNTRACKED:
        return None

    def names() -> Iterator[Name]:
        for base in command.dirs:
            top = Path(os.path.realpath(base))
            while not (top / ".git").exists() and top != places.folder:
                top = top.parent
            tracked = tracked_names(top)
            if tracked is None or len(tracked) > MOST_ENTRIES:
                raise TooMany
            for path in tracked:
                # Printed from the folder where git runs, so a part of the path may come first.
                parts = path.split("/")
                for at in range(len(parts) if top != Path(os.path.realpath(base)) else 1):
                    yield "/".join(parts[at:]), path, str(top)
            if options & _UNTRACKED:
                for path, _ in _below(".", base):
                    yield path.removeprefix("./"), path, base

    return Printed(names(), "-z" in options)


def _by_grep(command: Command, places: Places) -> Printed | None:
    entry = TABLE[command.name or ""]
    split = split_arguments(command.words[1:], entry.options)
    given = {option for option, _ in split.options}
    if split.unknown or not given & _LISTS or given - _LISTING:
        return None
    paths = split.operands[0 if pattern_is_option(split) else 1 :]

    def names() -> Iterator[Name]:
        for start, base in _starts(paths or (Word(".", "."),), command, places):
            for path, _ in _below(start, base):
                yield path.removeprefix("./"), path, base

    return Printed(names(), bool(given & {"Z", "null", "0"}))


def _starts(words: tuple[Word, ...], command: Command, places: Places) -> Iterator[tuple[str, str]]:
    """Yield the paths that words stand for, each with the folder that it is relative to."""
    for base in command.dirs:
        for word in words:
            found = places.matches(word.pattern, base) if word.pattern else [word.text]
            for path in found or [None]:
                if path is None:
                    raise TooMany
                yield path, base


def _below(start: str, base: str) -> Iterator[tuple[str, os.DirEntry[str] | None]]:
    """Yield a path and everything below it, links not followed."""
    yield start, None
    pending, seen = [start], 0
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(Path(base, folder)) as found:
                entries = list(found)
        except OSError:
            continue  # a file, or nothing
        seen += len(entries)
        if seen > MOST_ENTRIES:
            raise TooMany
        for entry in entries:
            path = f"{folder.rstrip('/')}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                pending.append(path)
            yield path, entry
