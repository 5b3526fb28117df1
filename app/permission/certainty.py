"""Where the grammar and a shell may disagree about the end of a word or a line."""

from __future__ import annotations

import re

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


def odd_gap(root: Node, source: bytes) -> str:
    """Return what stands between two parts of a command and would end it, or begin a word, in a shell.

    The grammar skips some line breaks and escaped blanks that a shell does not skip.
    """
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in _WITH_TEXT_BETWEEN:
            stack += [child for child in node.children if child.type not in _WITH_TEXT_BETWEEN]
            continue
        allowed = _LOOSE_GAP if node.type in _HOLDING_STATEMENTS else _TIGHT_GAP
        for left, right in zip(node.children, node.children[1:], strict=False):
            gap = source[left.end_byte : right.start_byte]
            if not allowed.fullmatch(gap):
                return gap.decode("utf-8", "replace")
        if node.type == "word" and _BARE_BREAK.search(source[node.start_byte : node.end_byte]):
            return "\n"
        stack += node.children
    return ""
