"""Options of a command, read strictly: anything not named in a table is not known, and so is not safe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.permission.words import Word


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one program that change nothing.

    Long names stand without dashes; one that ends in ``=`` takes a value, ``=?`` may take one after ``=`` only.
    """

    flags: str = ""
    values: str = ""
    """Letters that take a value."""
    long: frozenset[str] = field(default_factory=frozenset)
    number: bool = False
    """Whether ``-5`` is an option."""
    open: str = ""
    """Letters that take what follows in the same word as their value, if anything does."""


@dataclass(frozen=True, slots=True)
class Split:
    """Arguments taken apart."""

    operands: tuple[Word, ...]
    options: tuple[tuple[str, str], ...]
    """Name without dashes, and value."""
    unknown: str = ""
    """The first argument that the table does not know; "" when all are known."""

    def has(self, *names: str) -> bool:
        """Whether one of these options is given."""
        return any(name in names for name, _ in self.options)

    def value(self, *names: str) -> str | None:
        """Return the last value of these options."""
        found = [value for name, value in self.options if name in names]
        return found[-1] if found else None


def named(names: str) -> frozenset[str]:
    """Return a set of names from one text, separated by blanks."""
    return frozenset(names.split())


def split_arguments(words: Sequence[Word], table: Options) -> Split:
    """Take arguments (without the program's name) apart."""
    operands: list[Word] = []
    options: list[tuple[str, str]] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        text = word.text
        if text is None:
            return Split(tuple(operands), tuple(options), word.raw)
        if text == "--":
            return Split((*operands, *words[at:]), tuple(options))
        if text == "-" or not text.startswith("-"):
            operands.append(word)
            continue
        if word.pattern and not _named_literally(text):
            return Split(tuple(operands), tuple(options), word.raw)
        if table.number and text[1:].isdigit():
            options.append(("#", text[1:]))
            continue
        taken = (
            _long(text, words[at:], table, options)
            if text.startswith("--")
            else _short(text, words[at:], table, options)
        )
        if taken < 0:
            return Split(tuple(operands), tuple(options), text)
        at += taken
    return Split(tuple(operands), tuple(options))


def _named_literally(text: str) -> bool:
    """Whether a pattern could only become the same long option with another value."""
    name, equals, _ = text.partition("=")
    return bool(equals) and text.startswith("--") and not any(sign in name for sign in "*?[")


def _long(text: str, rest: Sequence[Word], table: Options, out: list[tuple[str, str]]) -> int:
    name, equals, value = text[2:].partition("=")
    if equals:
        if f"{name}=" not in table.long and f"{name}=?" not in table.long:
            return -1
        out.append((name, value))
        return 0
    if name in table.long or f"{name}=?" in table.long:
        out.append((name, ""))
        return 0
    if f"{name}=" not in table.long or not rest or rest[0].text is None:
        return -1
    out.append((name, rest[0].text))
    return 1


def _short(text: str, rest: Sequence[Word], table: Options, out: list[tuple[str, str]]) -> int:
    for position, letter in enumerate(text[1:], 1):
        if letter in table.open:
            out.append((letter, text[position + 1 :]))
            return 0
        if letter in table.values:
            value = text[position + 1 :]
            if value:
                out.append((letter, value))
                return 0
            if not rest or rest[0].text is None:
                return -1
            out.append((letter, rest[0].text))
            return 1
        if letter not in table.flags:
            return -1
        out.append((letter, ""))
    return 0
