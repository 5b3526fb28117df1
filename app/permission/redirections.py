"""Redirections and here-documents of a parsed command, and what stands behind them on their line."""

from __future__ import annotations

from collections.abc import Iterable

from tree_sitter import Node

from app.permission.commands import Dirs, Redirect, Stdin
from app.permission.nodes import here_document, is_wordlike
from app.permission.walk import Walk, file_redirect, pipeline, substitutions
from app.permission.words import read_word, text_of


def read_redirects(
    nodes: Iterable[Node], dirs: Dirs, walk: Walk, depth: int, owner: int | None = None
) -> tuple[tuple[Redirect, ...], Stdin, str | None]:
    """Return the redirections to and from files, what kind of input they give, and its text when that is literal."""
    found: list[Redirect] = []
    stdin, text = Stdin.NONE, None
    for node in nodes:
        if node.type == "file_redirect":
            redirect = file_redirect(node, dirs, walk, depth)
            if redirect is not None:
                found.append(redirect)
                stdin = Stdin.FILE if redirect.operator == "<" else stdin
        elif node.type == "herestring_redirect":
            substitutions(node, dirs, walk, depth)
            word = read_word(node.children[-1])
            stdin, text = Stdin.TEXT, word.text
            if not word.harmless:
                walk.doubts.append(f"{word.raw} is expanded by the shell")
        elif node.type == "heredoc_redirect":
            text = _here_document(node, dirs, walk, depth)
            stdin = Stdin.TEXT
            found += _after_here_document(node, dirs, walk, depth, owner)
        else:
            walk.unread.append(f"{text_of(node)[:40]!r} is not understood")
    return tuple(found), stdin, text


def _here_document(node: Node, dirs: Dirs, walk: Walk, depth: int) -> str | None:
    """Go through a here-document and return its text when it is literal."""
    walk.here_documents += 1
    found = here_document(node, walk.source)
    if found is None or walk.here_documents > 1:
        walk.unread.append("the end of its here-document is not certain")
        return None
    body = next((c for c in node.children if c.type == "heredoc_body"), None)
    if body is not None and not found.quoted:
        substitutions(body, dirs, walk, depth)
    if found.runs:
        walk.doubts.append("its here-document is expanded by the shell")
    return found.literal


def _after_here_document(
    node: Node, dirs: Dirs, walk: Walk, depth: int, owner: int | None
) -> list[Redirect]:
    """Go through what stands on the line after ``<<E``: redirections, a pipe, more commands."""
    found: list[Redirect] = []
    known = ("<<", "<<-", "heredoc_start", "heredoc_body", "heredoc_end", "file_descriptor")
    for child in node.children:
        if child.type in known:
            continue
        if child.type == "file_redirect":
            redirect = file_redirect(child, dirs, walk, depth)
            found += [redirect] if redirect else []
        elif child.type == "pipeline":
            pipeline(child, dirs, walk, depth, owner)
        elif is_wordlike(child):
            substitutions(child, dirs, walk, depth)
        elif child.type in ("&&", "||", "|"):
            continue
        elif child.is_named:
            walk.enter(child, dirs, walk, depth + 1)
        else:
            walk.unread.append("what follows its here-document is not understood")
    return found
