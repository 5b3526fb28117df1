"""The facts that code wrote into the head, read back from its lines."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HeadFacts:
    """What the head says happened before it."""

    read: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    commands: tuple[tuple[str, str], ...] = ()
    """(command, how it ended)."""


_FOLDED = re.compile(r"(?P<folder>.+)/ \(\d+\): (?P<names>.+)$")
_SPAN = re.compile(r" \(lines \d+-\d+(?: of \d+)?\)$")
_COMMAND = re.compile(r"(?P<text>.+?)(?: -> (?P<ended>exit -?\d+))?(?: \(\d+ times\))?$")


def head_facts(head: str) -> HeadFacts:
    """Return the facts in a head; empty without one."""
    commands = (_COMMAND.match(line) for line in _lines(head, "Commands run"))
    return HeadFacts(
        read=tuple(_paths(_lines(head, "Files read"))),
        modified=tuple(_paths(_lines(head, "Files modified"))),
        commands=tuple((found["text"], found["ended"] or "done") for found in commands if found),
    )


def _lines(head: str, title: str) -> list[str]:
    """Return the list items of the section with this title."""
    section = re.search(rf"^#+ {title}(?: \([\d,]+\))?\n((?:- .*\n?)+)", head, re.M)
    return (
        [line[2:] for line in section[1].splitlines() if not line.startswith("- …")]
        if section
        else []
    )


def _paths(lines: list[str]) -> list[str]:
    paths: list[str] = []
    for line in lines:
        folded = _FOLDED.match(line)
        if folded is None:
            paths.append(_SPAN.sub("", line))
            continue
        folder = "" if folded["folder"] == "." else folded["folder"] + "/"
        names = re.sub(r" and \d+ more$", "", folded["names"]).split(", ")
        paths += [name if "/" in name else folder + name for name in names]
    return paths
