"""Parts of a parsed command line that are read without going further into it."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from app.permission.options import named
from app.permission.words import Word, read_word, text_of

RESERVED = named(
    "if then else elif fi for while until do done case esac in function select coproc { } ! [[ ]]"
)
"""Words that a shell does not take for a program; where they are parsed as one, the parse is wrong."""
_WORDS = named(
    "word number string raw_string ansi_c_string concatenation simple_expansion expansion "
    "command_substitution arithmetic_expansion variable_name extglob_pattern brace_expression"
)


def assignment(node: Node) -> tuple[str, Word]:
    """Return name and value of ``NAME=value``; the name is "" when it is no plain one."""
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    plain = name is not None and name.type == "variable_name"
    word = Word("", "") if value is None else read_word(value)
    operator = any(child.type == "+=" for child in node.children)
    return (text_of(name) if name and plain and not operator else ""), word


def test_words(node: Node) -> list[Node]:
    """Return the words of a test expression from left to right."""
    if node.type in ("test_command", "unary_expression", "binary_expression") or (
        node.type == "parenthesized_expression"
    ):
        return [leaf for child in node.children for leaf in test_words(child)]
    return [node]


def words_after_here_mark(node: Node) -> list[Word]:
    """Return words that stand after ``<<E`` and belong to the command."""
    if node.type != "heredoc_redirect":
        return []
    return [read_word(child) for child in node.children_by_field_name("argument")]


def is_wordlike(node: Node) -> bool:
    """Whether a node is a word and not a statement."""
    return node.type in _WORDS


def error_at(root: Node) -> str:
    """Return " near …" for the first thing that was not understood."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_missing or node.type == "ERROR":
            return f" near {text_of(node)[:30]!r}" if text_of(node) else ""
        stack += reversed(node.children)
    return ""


@dataclass(frozen=True, slots=True)
class HereDocument:
    """The text between ``<<E`` and ``E``."""

    text: str
    quoted: bool
    """Whether the shell leaves the text as it is."""

    @property
    def literal(self) -> str | None:
        """The text, None when the shell changes it."""
        changed = not self.quoted and any(char in self.text for char in "`$\\")
        return None if changed else self.text

    @property
    def runs(self) -> bool:
        """Whether the shell runs commands to make the text."""
        return not self.quoted and any(sign in self.text for sign in ("`", "$(", "${", "$["))


def here_document(node: Node, source: bytes) -> HereDocument | None:
    """Return a here-document; None when a shell might end it at another line than the grammar does."""
    start = next((c for c in node.children if c.type == "heredoc_start"), None)
    end = next((c for c in node.children if c.type == "heredoc_end"), None)
    if start is None or end is None:
        return None
    raw = text_of(start)
    delimiter = raw.replace("'", "").replace('"', "").replace("\\", "").encode()
    tabs = any(child.type == "<<-" for child in node.children)
    first = at = source.find(b"\n", start.end_byte) + 1
    if not first:
        return None
    for line in source[first:].split(b"\n"):
        if (line.lstrip(b"\t") if tabs else line) == delimiter:
            break
        at += len(line) + 1
    else:
        return None
    if not at <= end.start_byte <= at + 40:
        return None
    text = source[first:at].decode("utf-8", "replace")
    return HereDocument(text, any(char in raw for char in "'\"\\"))
