"""Words of a command: what a shell would make of them where that is certain, and None where it is not."""

from __future__ import annotations

import glob
import re
from dataclasses import dataclass

from tree_sitter import Node

PIPE = "/dev/fd/63"
"""What ``<(…)`` becomes: a pipe from a command that is judged by itself."""
_GLOB = frozenset("*?[")
_BRACES = re.compile(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")
_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_LITERAL = frozenset({'"', "string_content", "$"})
"""Parts of a double-quoted text that stand for themselves; a lone ``$`` does."""
_EXPANDS = re.compile(r"(?<!\\)(?:\\\\)*(?:`|\$[A-Za-z0-9_({*@#?!$\[-])")
_SUMS = re.compile(r"\$\(\([0-9+\-*/%() ]*\)\)")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command."""

    raw: str
    """As written."""
    text: str | None
    """With quotes and escapes resolved; None when only the shell knows what it becomes."""
    pattern: str = ""
    """For a word with ``*``, ``?`` or ``[``: the same as a glob, its literal parts escaped. Else ""."""
    plain: bool = True
    """Whether it is written without tricks: bare, or in one pair of quotes."""
    variable: str = ""
    """Name of the variable that the word starts with, such as HOME in ``"$HOME/x"``."""
    rest: str = ""
    """The literal text after that variable."""
    harmless: bool = True
    """For a word that is not literal: whether making its value runs no code (commands in it apart)."""
    tilde: bool = False
    """Whether it starts with an unquoted ``~`` that means the home folder."""


@dataclass(frozen=True, slots=True)
class _Part:
    text: str | None
    pattern: str = ""
    globs: bool = False
    harmless: bool = True


def text_of(node: Node) -> str:
    """Return the source of a node."""
    return (node.text or b"").decode("utf-8", "replace")


def read_word(node: Node) -> Word:
    """Return the word that a node stands for."""
    raw = text_of(node)
    part = _part(node)
    bare = node.type in ("word", "number") and "\\" not in raw
    plain = bare or node.type in ("raw_string", "string")
    if node.type in ("word", "concatenation") and part.text is not None and _BRACES.search(raw):
        return Word(raw, None, plain=False)
    variable = _VARIABLE.match(raw.strip('"')) if part.text is None else None
    name = (variable.group(1) or variable.group(2)) if variable else ""
    rest = raw.strip('"')[variable.end() :].replace('"', "") if variable else ""
    tilde = node.type in ("word", "concatenation") and re.match(r"~(?:/|$)", raw) is not None
    if raw.startswith("~") and not tilde and node.type in ("word", "concatenation"):
        return Word(raw, None, plain=False)
    return Word(
        raw,
        part.text,
        pattern=part.pattern if part.globs and part.text is not None else "",
        plain=plain and part.text is not None,
        variable=name,
        rest=rest,
        harmless=part.harmless,
        tilde=tilde,
    )


def _part(node: Node) -> _Part:
    raw = text_of(node)
    match node.type:
        case (
            "word"
            | "number"
            | "{"
            | "}"
            | "extglob_pattern"
            | "regex"
            | "["
            | "]"
            | "test_operator"
        ):
            return _unquoted(raw)
        case "=" | "==" | "!=" | "=~" | "<" | ">" | "!" | "&&" | "||" | "(" | ")" | "]]":
            return _unquoted(raw)
        case "command_name" if len(node.children) == 1:
            return _part(node.children[0])
        case "raw_string":
            return _Part(raw[1:-1], glob.escape(raw[1:-1]))
        case "string":
            if all(child.type in _LITERAL for child in node.children) and not _EXPANDS.search(raw):
                text = re.sub(r"\\([$`\"\\]|\n)", lambda m: m[1].strip("\n"), raw[1:-1])
                return _Part(text, glob.escape(text))
            return _Part(None, harmless=all(_harmless(c) for c in node.children))
        case "concatenation":
            return _joined([_part(child) for child in node.children], node)
        case "process_substitution" if raw.startswith("<("):
            return _Part(PIPE, PIPE)
        case _:
            return _Part(None, harmless=_harmless(node))


def _joined(parts: list[_Part], node: Node) -> _Part:
    gaps = any(
        left.end_byte != right.start_byte
        for left, right in zip(node.children, node.children[1:], strict=False)
    )
    if gaps or any(part.text is None for part in parts):
        return _Part(None, harmless=not gaps and all(part.harmless for part in parts))
    return _Part(
        "".join(part.text or "" for part in parts),
        "".join(part.pattern for part in parts),
        any(part.globs for part in parts),
    )


def _unquoted(raw: str) -> _Part:
    text, pattern, globs, at = [], [], False, 0
    while at < len(raw):
        char = raw[at]
        if char == "\\":
            following = raw[at + 1 : at + 2]
            if following != "\n":
                text.append(following)
                pattern.append(glob.escape(following))
            at += 2
            continue
        if char in "$`":
            return _Part(None, harmless=False)
        globs = globs or char in _GLOB
        text.append(char)
        pattern.append(char)
        at += 1
    return _Part("".join(text), "".join(pattern), globs)


def _harmless(node: Node) -> bool:
    """Whether expanding a node runs no code but the commands in it, which are judged by themselves."""
    match node.type:
        case '"' | "string_content" | "word" | "number" | "raw_string":
            return True
        case "simple_expansion":
            return True
        case "expansion":
            return _VARIABLE.fullmatch(text_of(node)) is not None
        case "command_substitution":
            return True
        case "arithmetic_expansion":
            return _SUMS.fullmatch(text_of(node)) is not None
        case "string" | "concatenation":
            return all(_harmless(child) for child in node.children)
        case _:
            return False
