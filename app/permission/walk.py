"""What a walk through a parse collects, and how it goes into the commands inside words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from tree_sitter import Node

from app.permission.commands import Command, Dirs, Redirect, Stdin
from app.permission.words import read_word, text_of

DEEPEST = 40
"""Levels of nesting that are still judged."""


@dataclass(slots=True)
class Walk:
    """The state of a walk; the parts of it that call each other do so through it."""

    source: bytes
    enter: Callable[[Node, Dirs, Walk, int], tuple[Dirs, Dirs]]
    """Goes through one statement; returns the folders possible if it succeeds, and in any case."""
    commands: list[Command] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    fork_bomb: bool = False
    here_documents: int = 0
    loops: int = 0


def statements(nodes: Iterable[Node], dirs: Dirs, walk: Walk, depth: int) -> Dirs:
    """Go through statements that follow each other; return the folders possible after them."""
    for node in nodes:
        if node.is_named:
            dirs = walk.enter(node, dirs, walk, depth + 1)[1]
        elif node.type in (";;", ";&", ";;&"):
            walk.unread.append(f"{node.type} stands outside of a case")
    return dirs


def substitutions(node: Node, dirs: Dirs, walk: Walk, depth: int) -> None:
    """Go through the commands that a word runs."""
    if depth > DEEPEST:
        walk.unread.append("it is nested too deeply")
        return
    if node.type in ("command_substitution", "process_substitution"):
        raw = text_of(node)
        if raw.startswith("`") and "\\" in raw:
            walk.unread.append("its backquotes are nested")
        if raw.startswith("$(<") or any(c.type == "file_redirect" for c in node.children):
            for child in node.named_children:
                if child.type == "file_redirect":
                    redirect = file_redirect(child, dirs, walk, depth)
                    if redirect:
                        walk.commands.append(Command((), raw, dirs, redirects=(redirect,)))
                else:
                    walk.enter(child, dirs, walk, depth + 1)
            return
        statements(node.named_children, dirs, walk, depth)
        return
    if node.type == "ERROR":
        walk.unread.append(f"{text_of(node)[:40]!r} is not understood")
    for child in node.children:
        substitutions(child, dirs, walk, depth + 1)


def pipeline(node: Node, dirs: Dirs, walk: Walk, depth: int, feeder: int | None = None) -> None:
    """Go through a pipeline; what feeds its first command is given by position."""
    for child in node.named_children:
        first = len(walk.commands)
        walk.enter(child, dirs, walk, depth + 1)
        if feeder is not None:
            for at in range(first, len(walk.commands)):
                if walk.commands[at].stdin is Stdin.NONE:
                    walk.commands[at] = replace(walk.commands[at], stdin=Stdin.PIPE, feeder=feeder)
        feeder = len(walk.commands) - 1 if len(walk.commands) > first else feeder


def file_redirect(node: Node, dirs: Dirs, walk: Walk, depth: int) -> Redirect | None:
    """Return a redirection to or from a file; None when it only joins or closes descriptors."""
    operator = next((c.type for c in node.children if c.type[0] in "<>&"), "")
    targets = node.children_by_field_name("destination")
    substitutions(node, dirs, walk, depth)
    if operator in (">&-", "<&-"):
        return None
    if len(targets) != 1 or operator not in ("<", ">", ">>", ">|", "&>", "&>>", ">&", "<&"):
        walk.unread.append(f"the redirection {text_of(node)[:40]!r} is not understood")
        return None
    target = targets[0]
    if target.type == "process_substitution":
        return None
    word = read_word(target)
    if operator in (">&", "<&") and word.text is not None and word.text.rstrip("-").isdigit():
        return None
    return Redirect("<" if operator == "<" else operator, word)
