"""Where the grammar and a shell may disagree about the end of a word or a line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from app.permission.options import named

_TIGHT_GAP = re.compile(rb"(?:[ \t]|\\\n)*")
_LOOSE_GAP = re.compile(rb"(?:[ \t\n]|\\\n)*")
_BARE_BREAK = re.compile(rb"(?<!\\)\n")
_HOLDING_STATEMENTS = named(
    "program list pipeline compound_statement subshell command_substitution process_substitution "
    "if_statement elif_clause else_clause while_statement for_statement do_group case_statement "
    "case_item function_definition negated_command test_command"
)
_WITH_TEXT_BETWEEN = named("string heredoc_redirect heredoc_body expansion arithmetic_expansion")


def odd_gap(root: Node, source: bytes) -> bool:
    """Whether something between two parts of a command would end it, or begin a word, in a shell.

    The grammar skips some line breaks and escaped blanks that a shell does not skip.
    """
    return next(_odd_spans(root, source), None) is not None


def line_break_read_over(root: Node, source: bytes) -> int | None:
    """Return the position of the first line break that the grammar takes for a blank; None when there is none."""
    breaks = (
        span[0] + found.start()
        for span in _odd_spans(root, source)
        if (found := _BARE_BREAK.search(source[span[0] : span[1]]))
    )
    return min(breaks, default=None)


def _odd_spans(root: Node, source: bytes) -> Iterator[tuple[int, int]]:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in _WITH_TEXT_BETWEEN:
            stack += [child for child in node.children if child.type not in _WITH_TEXT_BETWEEN]
            continue
        allowed = _LOOSE_GAP if node.type in _HOLDING_STATEMENTS else _TIGHT_GAP
        for left, right in zip(node.children, node.children[1:], strict=False):
            if not allowed.fullmatch(source, left.end_byte, right.start_byte):
                yield left.end_byte, right.start_byte
        if node.type == "word" and _BARE_BREAK.search(source[node.start_byte : node.end_byte]):
            yield node.start_byte, node.end_byte
        stack += node.children
