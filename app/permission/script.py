"""A walk through the parse of a command line that collects every simple command in it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from app.permission.certainty import odd_gap
from app.permission.commands import Command, Dirs, Redirect, Script, Stdin
from app.permission.nodes import (
    RESERVED,
    assignment,
    error_at,
    here_document,
    is_wordlike,
    test_words,
    words_after_here_mark,
)
from app.permission.words import Word, read_word, text_of

LONGEST = 50_000
"""Characters of a command that are still judged."""
DEEPEST = 40
"""Levels of nesting that are still judged."""


@dataclass(slots=True)
class _Walk:
    source: bytes
    commands: list[Command] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    fork_bomb: bool = False
    here_documents: int = 0
    loops: int = 0


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
    walk = _Walk(source.encode("utf-8", "replace"))
    root = _parser().parse(walk.source).root_node
    try:
        _statements(root.children, frozenset({folder}), walk, 0)
    except RecursionError:
        walk.unread.append("it is nested too deeply")
    if odd_gap(root, walk.source):
        walk.unread.append("where one of its words or lines ends is not certain")
    if root.has_error and not walk.unread:
        walk.unread.append("its syntax is not understood" + error_at(root))
    return Script(
        tuple(walk.commands),
        walk.unread[0] if walk.unread else "",
        tuple(dict.fromkeys(walk.doubts)),
        walk.fork_bomb,
    )


def _statements(nodes: Iterable[Node], dirs: Dirs, walk: _Walk, depth: int) -> Dirs:
    """Go through statements that follow each other; return the folders possible after them."""
    for node in nodes:
        if node.is_named:
            dirs = _statement(node, dirs, walk, depth + 1)[1]
    return dirs


def _statement(node: Node, dirs: Dirs, walk: _Walk, depth: int) -> tuple[Dirs, Dirs]:
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
            _pipeline(node, dirs, walk, depth)
            return dirs, dirs
        case "negated_command":
            _statements(node.named_children, dirs, walk, depth)
            return dirs, dirs
        case "subshell":
            _statements(node.named_children, dirs, walk, depth)
            return dirs, dirs
        case "compound_statement" if node.children and node.children[0].type == "{":
            after = _statements(node.named_children, dirs, walk, depth)
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
            _substitutions(node, dirs, walk, depth)
            walk.commands.append(Command((first, *words[1:]), text_of(node), dirs))
            return dirs, dirs
        case "test_command":
            _test(node, dirs, walk, depth)
            return dirs, dirs
        case _:
            _substitutions(node, dirs, walk, depth)
            walk.unread.append(f"{text_of(node)[:40]!r} is not understood")
            return dirs, dirs


def _list(node: Node, dirs: Dirs, walk: _Walk, depth: int) -> tuple[Dirs, Dirs]:
    left, operator, right = node.children[0], node.children[1].type, node.children[-1]
    if len(node.children) != 3 or operator not in ("&&", "||"):
        after = _statements(node.named_children, dirs, walk, depth)
        return after, after
    left_ok, left_any = _statement(left, dirs, walk, depth + 1)
    start = left_ok if operator == "&&" else left_any
    right_ok, right_any = _statement(right, start, walk, depth + 1)
    if operator == "&&":
        return right_ok, left_any | right_any
    return left_ok | right_ok, left_any | right_any


def _pipeline(node: Node, dirs: Dirs, walk: _Walk, depth: int, feeder: int | None = None) -> None:
    for child in node.named_children:
        first = len(walk.commands)
        _statement(child, dirs, walk, depth + 1)
        if feeder is not None:
            for at in range(first, len(walk.commands)):
                if walk.commands[at].stdin is Stdin.NONE:
                    walk.commands[at] = replace(walk.commands[at], stdin=Stdin.PIPE, feeder=feeder)
        feeder = len(walk.commands) - 1 if len(walk.commands) > first else feeder


def _branches(node: Node, dirs: Dirs, walk: _Walk, depth: int) -> tuple[Dirs, Dirs]:
    after = dirs
    for child in node.named_children:
        if is_wordlike(child):
            _substitutions(child, dirs, walk, depth)
        else:
            after |= _statement(child, after, walk, depth + 1)[1]
    return after, after


def _control(node: Node, dirs: Dirs, walk: _Walk, depth: int) -> tuple[Dirs, Dirs]:
    walk.loops += node.type != "case_statement"
    after = _branches(node, dirs, walk, depth)
    walk.loops -= node.type != "case_statement"
    return after


def _function(node: Node, dirs: Dirs, walk: _Walk, depth: int) -> None:
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


def _assignment(node: Node, dirs: Dirs, walk: _Walk, depth: int) -> None:
    items = [node] if node.type == "variable_assignment" else node.named_children
    _substitutions(node, dirs, walk, depth)
    pairs = tuple(assignment(item) for item in items)
    walk.commands.append(Command((), text_of(node), dirs, assignments=pairs))


def _test(node: Node, dirs: Dirs, walk: _Walk, depth: int) -> None:
    _substitutions(node, dirs, walk, depth)
    source = text_of(node)
    words = tuple(read_word(leaf) for leaf in test_words(node))
    kind = "[[" if source.startswith("[[") else "["
    walk.commands.append(Command((Word(kind, kind), *words[1:]), source, dirs))


def _redirected(node: Node, dirs: Dirs, walk: _Walk, depth: int) -> tuple[Dirs, Dirs]:
    body = node.child_by_field_name("body")
    nodes = [child for child in node.named_children if child != body]
    if body is not None and body.type == "command":
        return _command(body, nodes, dirs, walk, depth)
    first = len(walk.commands)
    after = (dirs, dirs) if body is None else _statement(body, dirs, walk, depth + 1)
    last = len(walk.commands)
    redirects, stdin, text = _redirects(nodes, dirs, walk, depth)
    if stdin is not Stdin.NONE:
        for at in range(first, last):
            if walk.commands[at].stdin is Stdin.NONE:
                walk.commands[at] = replace(walk.commands[at], stdin=stdin, text=text)
    if redirects:
        walk.commands.append(Command((), text_of(node), dirs, redirects=redirects))
    return after


def _command(
    node: Node, redirect_nodes: Iterable[Node], dirs: Dirs, walk: _Walk, depth: int
) -> tuple[Dirs, Dirs]:
    words: list[Word] = []
    assignments: list[tuple[str, Word]] = []
    inner: list[Node] = []
    for child in node.children:
        if child.type == "variable_assignment":
            assignments.append(assignment(child))
            _substitutions(child, dirs, walk, depth)
        elif child.type.endswith("_redirect"):
            inner.append(child)
        elif child.type in ("ERROR", "subshell"):
            walk.unread.append(f"{text_of(child)[:40]!r} is not understood")
            _substitutions(child, dirs, walk, depth)
        else:
            _substitutions(child, dirs, walk, depth)
            name = child.children[0] if child.type == "command_name" and child.children else child
            words.append(read_word(name))
    outer = list(redirect_nodes)
    own = len(walk.commands)
    walk.commands.append(Command((), "", dirs))
    redirects, stdin, text = _redirects([*inner, *outer], dirs, walk, depth, own)
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


def _moved(command: Command, dirs: Dirs, walk: _Walk) -> tuple[Dirs, Dirs]:
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


def _redirects(
    nodes: Iterable[Node], dirs: Dirs, walk: _Walk, depth: int, owner: int | None = None
) -> tuple[tuple[Redirect, ...], Stdin, str | None]:
    found: list[Redirect] = []
    stdin, text = Stdin.NONE, None
    for node in nodes:
        if node.type == "file_redirect":
            redirect = _file_redirect(node, dirs, walk, depth)
            if redirect is not None:
                found.append(redirect)
                stdin = Stdin.FILE if redirect.operator == "<" else stdin
        elif node.type == "herestring_redirect":
            _substitutions(node, dirs, walk, depth)
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


def _file_redirect(node: Node, dirs: Dirs, walk: _Walk, depth: int) -> Redirect | None:
    operator = next((c.type for c in node.children if c.type[0] in "<>&"), "")
    targets = node.children_by_field_name("destination")
    _substitutions(node, dirs, walk, depth)
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


def _here_document(node: Node, dirs: Dirs, walk: _Walk, depth: int) -> str | None:
    """Go through a here-document and return its text when it is literal."""
    walk.here_documents += 1
    found = here_document(node, walk.source)
    if found is None or walk.here_documents > 1:
        walk.unread.append("the end of its here-document is not certain")
        return None
    body = next((c for c in node.children if c.type == "heredoc_body"), None)
    if body is not None and not found.quoted:
        _substitutions(body, dirs, walk, depth)
    if found.runs:
        walk.doubts.append("its here-document is expanded by the shell")
    return found.literal


def _after_here_document(
    node: Node, dirs: Dirs, walk: _Walk, depth: int, owner: int | None
) -> list[Redirect]:
    """Go through what stands on the line after ``<<E``: redirections, a pipe, more commands."""
    found: list[Redirect] = []
    known = ("<<", "<<-", "heredoc_start", "heredoc_body", "heredoc_end", "file_descriptor")
    for child in node.children:
        if child.type in known:
            continue
        if child.type == "file_redirect":
            redirect = _file_redirect(child, dirs, walk, depth)
            found += [redirect] if redirect else []
        elif child.type == "pipeline":
            _pipeline(child, dirs, walk, depth, owner)
        elif is_wordlike(child):
            _substitutions(child, dirs, walk, depth)
        elif child.type in ("&&", "||", "|"):
            continue
        elif child.is_named:
            _statement(child, dirs, walk, depth + 1)
        else:
            walk.unread.append("what follows its here-document is not understood")
    return found


def _substitutions(node: Node, dirs: Dirs, walk: _Walk, depth: int) -> None:
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
                    redirect = _file_redirect(child, dirs, walk, depth)
                    if redirect:
                        walk.commands.append(Command((), raw, dirs, redirects=(redirect,)))
                else:
                    _statement(child, dirs, walk, depth + 1)
            return
        _statements(node.named_children, dirs, walk, depth)
        return
    if node.type == "ERROR":
        walk.unread.append(f"{text_of(node)[:40]!r} is not understood")
    for child in node.children:
        _substitutions(child, dirs, walk, depth + 1)
