"""A walk through the parse of a command line that collects every simple command in it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, lru_cache

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from app.permission.certainty import line_break_read_over, odd_gap
from app.permission.commands import Command, Dirs, Script, Stdin
from app.permission.nodes import (
    RESERVED,
    assignment,
    error_at,
    is_wordlike,
    test_words,
    words_after_here_mark,
)
from app.permission.redirections import read_redirects
from app.permission.walk import DEEPEST, Walk, pipeline, statements, substitutions
from app.permission.words import Word, read_word, text_of

LONGEST = 50_000
"""Characters of a command that are still judged."""
MOST_PIECES = 100
"""Pieces that a script is taken apart into."""
_LOOP_VARIABLE = re.compile(r"(?!path$|cdpath$|npm_|.*_proxy$)[a-z_][a-z0-9_]*")
"""Names that change nothing: those that programs and shells act on are written in capitals, but for a few."""
_NAMED_DESCRIPTOR = re.compile(r"\{[A-Za-z_][A-Za-z0-9_]*(?:\[.*\])?\}")
"""What stands right before ``>`` in ``{NAME}>file``, which sets a variable to a number."""


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


@lru_cache(maxsize=64)
def parse_script(source: str, folder: str) -> Script:
    """Return the parts of a command line that is run in a folder."""
    if len(source) > LONGEST:
        return Script((), f"the command is longer than {LONGEST:,} characters")
    odd = next((c for c in source if c not in "\n\t" and not c.isprintable()), "")
    if odd:
        return Script((), f"the command has an invisible character (U+{ord(odd):04X})")
    walk = Walk(b"", _statement)
    dirs: Dirs = frozenset({folder})
    for piece in _pieces(source.encode("utf-8", "replace")):
        dirs = _piece(piece, dirs, walk)
    return Script(
        tuple(walk.commands),
        walk.unread[0] if walk.unread else "",
        tuple(dict.fromkeys(walk.doubts)),
        walk.fork_bomb,
    )


def _pieces(source: bytes) -> list[bytes]:
    """Return a script in pieces that end where the grammar reads over a line break and a shell does not.

    A shell runs what is complete at a line break before it reads on. So where the part before the break is complete
    by itself, it and the rest are judged one after the other; where it is not, the whole stays as it is.
    """
    pieces: list[bytes] = []
    while len(pieces) < MOST_PIECES:
        at = line_break_read_over(_parser().parse(source).root_node, source)
        if at is None or not _is_complete(source[:at]):
            break
        pieces.append(source[:at])
        source = source[at + 1 :]
    return [*pieces, source]


def _is_complete(source: bytes) -> bool:
    root = _parser().parse(source).root_node
    return not root.has_error and not odd_gap(root, source)


def _piece(source: bytes, dirs: Dirs, walk: Walk) -> Dirs:
    walk.source = source
    root = _parser().parse(source).root_node
    try:
        dirs = statements(root.children, dirs, walk, 0)
    except RecursionError:
        walk.unread.append("it is nested too deeply")
    if odd_gap(root, source):
        walk.unread.append("where one of its words or lines ends is not certain")
    if root.has_error and not walk.unread:
        walk.unread.append("its syntax is not understood" + error_at(root))
    return dirs


def _statement(node: Node, dirs: Dirs, walk: Walk, depth: int) -> tuple[Dirs, Dirs]:
    """Go through one statement; return the folders possible if it succeeds, and in any case."""
    if depth > DEEPEST:
        walk.unread.append("it is nested too deeply")
        return dirs, dirs
    match node.type:
        case "comment":
            return dirs, dirs
        case "command":
            return _command(node, (), dirs, walk, depth)
        case "redirected_statement":
            return _redirected(node, dirs, walk, depth)
        case "list":
            return _list(node, dirs, walk, depth)
        case "pipeline":
            pipeline(node, dirs, walk, depth)
            return dirs, dirs
        case "negated_command":
            statements(node.named_children, dirs, walk, depth)
            return dirs, dirs
        case "subshell":
            statements(node.named_children, dirs, walk, depth)
            return dirs, dirs
        case "compound_statement" if node.children and node.children[0].type == "{":
            after = statements(node.named_children, dirs, walk, depth)
            return after, after
        case "if_statement" | "elif_clause" | "else_clause" | "case_item":
            return _branches(node, dirs, walk, depth)
        case "for_statement" | "while_statement" | "do_group" | "case_statement":
            return _control(node, dirs, walk, depth)
        case "function_definition":
            _function(node, dirs, walk, depth)
            return dirs, dirs
        case "variable_assignment" | "variable_assignments":
            _assignment(node, dirs, walk, depth)
            return dirs, dirs
        case "declaration_command" | "unset_command":
            words = tuple(read_word(child) for child in node.children)
            first = Word(words[0].raw, words[0].raw)
            substitutions(node, dirs, walk, depth)
            walk.commands.append(Command((first, *words[1:]), text_of(node), dirs))
            return dirs, dirs
        case "test_command":
            _test(node, dirs, walk, depth)
            return dirs, dirs
        case _:
            substitutions(node, dirs, walk, depth)
            walk.unread.append(f"{text_of(node)[:40]!r} is not understood")
            return dirs, dirs


def _list(node: Node, dirs: Dirs, walk: Walk, depth: int) -> tuple[Dirs, Dirs]:
    left, operator, right = node.children[0], node.children[1].type, node.children[-1]
    if len(node.children) != 3 or operator not in ("&&", "||"):
        after = statements(node.named_children, dirs, walk, depth)
        return after, after
    left_ok, left_any = _statement(left, dirs, walk, depth + 1)
    start = left_ok if operator == "&&" else left_any
    right_ok, right_any = _statement(right, start, walk, depth + 1)
    if operator == "&&":
        return right_ok, left_any | right_any
    return left_ok | right_ok, left_any | right_any


def _branches(node: Node, dirs: Dirs, walk: Walk, depth: int) -> tuple[Dirs, Dirs]:
    after = dirs
    for child in node.named_children:
        if is_wordlike(child):
            substitutions(child, dirs, walk, depth)
            word = read_word(child)
            if word.text is None and not word.harmless and child.type != "variable_name":
                walk.doubts.append(f"{word.raw} is worked out by the shell")
        else:
            after |= _statement(child, after, walk, depth + 1)[1]
    return after, after


def _control(node: Node, dirs: Dirs, walk: Walk, depth: int) -> tuple[Dirs, Dirs]:
    variable = node.child_by_field_name("variable")
    if variable is not None and not _LOOP_VARIABLE.fullmatch(text_of(variable)):
        walk.doubts.append(f"its loop sets {text_of(variable)}")
    walk.loops += node.type != "case_statement"
    after = _branches(node, dirs, walk, depth)
    walk.loops -= node.type != "case_statement"
    return after


def _function(node: Node, dirs: Dirs, walk: Walk, depth: int) -> None:
    name = node.child_by_field_name("name")
    body = node.child_by_field_name("body")
    if name is None or body is None:
        walk.unread.append("a function is not understood")
        return
    walk.doubts.append(f"it defines a function ({text_of(name)})")
    first = len(walk.commands)
    _statement(body, dirs, walk, depth + 1)
    calls_itself = any(command.name == text_of(name) for command in walk.commands[first:])
    if calls_itself and ("&" in text_of(body) or "|" in text_of(body)):
        walk.fork_bomb = True


def _assignment(node: Node, dirs: Dirs, walk: Walk, depth: int) -> None:
    items = [node] if node.type == "variable_assignment" else node.named_children
    substitutions(node, dirs, walk, depth)
    pairs = tuple(assignment(item) for item in items)
    walk.commands.append(Command((), text_of(node), dirs, assignments=pairs))


def _test(node: Node, dirs: Dirs, walk: Walk, depth: int) -> None:
    substitutions(node, dirs, walk, depth)
    source = text_of(node)
    words = tuple(read_word(leaf) for leaf in test_words(node))
    kind = "[[" if source.startswith("[[") else "["
    walk.commands.append(Command((Word(kind, kind), *words[1:]), source, dirs))


def _redirected(node: Node, dirs: Dirs, walk: Walk, depth: int) -> tuple[Dirs, Dirs]:
    body = node.child_by_field_name("body")
    nodes = [child for child in node.named_children if child != body]
    if body is not None and body.type == "command":
        return _command(body, nodes, dirs, walk, depth)
    first = len(walk.commands)
    after = (dirs, dirs) if body is None else _statement(body, dirs, walk, depth + 1)
    last = len(walk.commands)
    redirects, stdin, text = read_redirects(nodes, dirs, walk, depth)
    if stdin is not Stdin.NONE:
        for at in range(first, last):
            if walk.commands[at].stdin is Stdin.NONE:
                walk.commands[at] = replace(walk.commands[at], stdin=stdin, text=text)
    if redirects:
        walk.commands.append(Command((), text_of(node), dirs, redirects=redirects))
    return after


def _command(
    node: Node, redirect_nodes: Iterable[Node], dirs: Dirs, walk: Walk, depth: int
) -> tuple[Dirs, Dirs]:
    words: list[Word] = []
    assignments: list[tuple[str, Word]] = []
    inner: list[Node] = []
    for child in node.children:
        if child.type == "variable_assignment":
            assignments.append(assignment(child))
            substitutions(child, dirs, walk, depth)
        elif child.type.endswith("_redirect"):
            inner.append(child)
        elif child.type in ("ERROR", "subshell"):
            walk.unread.append(f"{text_of(child)[:40]!r} is not understood")
            substitutions(child, dirs, walk, depth)
        else:
            substitutions(child, dirs, walk, depth)
            name = child.children[0] if child.type == "command_name" and child.children else child
            words.append(read_word(name))
    outer = list(redirect_nodes)
    if (inner or outer) and any(_NAMED_DESCRIPTOR.fullmatch(word.raw) for word in words):
        walk.doubts.append("a redirection sets a variable")
    own = len(walk.commands)
    walk.commands.append(Command((), "", dirs))
    redirects, stdin, text = read_redirects([*inner, *outer], dirs, walk, depth, own)
    extra = [w for n in outer for w in words_after_here_mark(n)]
    if words and words[0].raw in RESERVED:
        walk.unread.append(f"{words[0].raw!r} stands where a program should")
    command = Command(
        (*words, *extra),
        text_of(node),
        dirs,
        tuple(assignments),
        redirects,
        stdin,
        text,
    )
    walk.commands[own] = command
    return _moved(command, dirs, walk)


def _moved(command: Command, dirs: Dirs, walk: Walk) -> tuple[Dirs, Dirs]:
    """Return the folders after a command: only ``cd`` changes them."""
    if command.name != "cd":
        return dirs, dirs
    operands = [word for word in command.words[1:] if word.text not in ("--", "-L")]
    if len(operands) != 1 or operands[0].text in (None, "-", "") or operands[0].pattern:
        walk.doubts.append(f"{command.source!r} goes to a folder that is not written out")
        return dirs, dirs
    target = operands[0].text or ""
    if walk.loops and not target.startswith("/"):
        walk.doubts.append(f"{command.source!r} stands in a loop")
    if operands[0].tilde:
        return frozenset({target}), dirs | {target}
    there = frozenset(posixpath.normpath(posixpath.join(d, target)) for d in dirs)
    return there, dirs | there
