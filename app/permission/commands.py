"""A command line taken apart, as values: its simple commands with words, redirections and possible folders.

What is not understood is said, never guessed: `Script.unread` for what cannot be parsed, `Script.doubts` for what can
be parsed but not foreseen.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.permission.words import Word

Dirs = frozenset[str]
"""Folders that a command may be run in, absolute, as the shell would write them."""


class Stdin(StrEnum):
    """Where a command's input comes from."""

    NONE = "none"
    PIPE = "pipe"
    FILE = "file"
    TEXT = "text"
    """A here-document or here-string."""


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirection to or from a file; duplicated descriptors are left out."""

    operator: str
    target: Word

    @property
    def writes(self) -> bool:
        """Whether the file is written."""
        return self.operator != "<"


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command."""

    words: tuple[Word, ...]
    """Name and arguments; () when it only assigns or redirects."""
    source: str
    dirs: Dirs
    assignments: tuple[tuple[str, Word], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    stdin: Stdin = Stdin.NONE
    text: str | None = None
    """The literal here-document that is its input."""
    feeder: int | None = None
    """Position in `Script.commands` of the command that is piped into it."""

    @property
    def argv(self) -> tuple[str | None, ...]:
        """The words as literal texts, None where there is none."""
        return tuple(word.text for word in self.words)

    @property
    def name(self) -> str | None:
        """The program; None when it is not literal, "" when there is none."""
        return self.words[0].text if self.words else ""


@dataclass(frozen=True, slots=True)
class Script:
    """A whole command line."""

    commands: tuple[Command, ...]
    unread: str = ""
    """Why it cannot be judged at all; "" when it can."""
    doubts: tuple[str, ...] = ()
    """What makes it do more than its simple commands show."""
    fork_bomb: bool = False
