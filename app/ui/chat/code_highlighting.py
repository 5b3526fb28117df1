"""Code coloured by language: runs of text with inks, one list per line."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from app.ui.chat.lines import Inks, Run

if TYPE_CHECKING:
    from pygments.lexer import Lexer  # type: ignore[import-untyped]

MOST = 20_000
"""Characters of a block that are coloured; a longer one is plain."""
_INKS: dict[str, Inks] = {
    "Comment": ("syntax-comment",),
    "Keyword": ("syntax-keyword",),
    "Keyword.Type": ("syntax-type",),
    "Literal.String": ("syntax-string",),
    "Literal.Number": ("syntax-number",),
    "Literal": ("syntax-string",),
    "Name.Class": ("syntax-type",),
    "Name.Function": ("syntax-name",),
    "Name.Decorator": ("syntax-name",),
    "Name.Builtin": ("syntax-name",),
    "Name.Tag": ("syntax-tag",),
    "Name.Attribute": ("syntax-number",),
    "Name.Constant": ("syntax-number",),
    "Operator.Word": ("syntax-keyword",),
    "Operator": ("syntax-operator",),
    "Generic.Inserted": ("added-sign",),
    "Generic.Deleted": ("removed-sign",),
    "Generic.Heading": ("bold",),
    "Generic.Subheading": ("syntax-keyword",),
    "Generic.Strong": ("bold",),
    "Generic.Emph": ("italic",),
}
_ALIASES = {"patch": "diff", "sh": "bash", "shell": "bash", "zsh": "bash", "console": "console"}


def highlighted(code: str, language: str) -> list[list[Run]]:
    """Return the runs of each line of ``code``; plain ones for an unknown language or a very long text."""
    lexer = _lexer(language.lower()) if language and len(code) <= MOST else None
    if lexer is None:
        return [[(text, ())] if text else [] for text in code.split("\n")]
    lines: list[list[Run]] = [[]]
    for token, text in lexer.get_tokens(code):
        inks = _inks_of(str(token))
        first, *others = text.split("\n")
        if first:
            lines[-1].append((first, inks))
        for other in others:
            lines.append([(other, inks)] if other else [])
    wanted = code.count("\n") + 1
    return lines[:wanted] + [[] for _ in range(wanted - len(lines))]


@lru_cache(64)
def _lexer(language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        return get_lexer_by_name(
            _ALIASES.get(language, language), stripnl=False, ensurenl=False, tabsize=4
        )
    except ClassNotFound:
        return None


@lru_cache(512)
def _inks_of(token: str) -> Inks:
    """Return the inks of a Pygments token type, such as ``Token.Literal.String.Doc``, or of the nearest above it."""
    name = token.removeprefix("Token.")
    while name not in _INKS and "." in name:
        name = name.rpartition(".")[0]
    return _INKS.get(name, ())
