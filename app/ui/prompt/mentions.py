"""An ``@`` in the prompt: where the name begins that is being typed, and how a chosen one is written."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MENTION = re.compile(r"""(?:^|(?<=[\s("'`\[]))@(?:"(?P<quoted>[^"]*)|(?P<plain>[^\s"]*))\Z""")


@dataclass(frozen=True, slots=True)
class Mention:
    """The mention that ends at the cursor."""

    start: int
    """Column of its ``@``."""
    end: int
    """Column after its last character: the cursor's."""
    query: str
    """What was typed of the name."""


def mention_before(line: str) -> Mention | None:
    """Return the mention at the end of a line up to the cursor; None when there is none.

    An ``@`` counts only at the beginning of a word, so that ``me@example.org`` is none.
    """
    found = _MENTION.search(line)
    if found is None:
        return None
    return Mention(
        found.start(), len(line), found["quoted"] if found["plain"] is None else found["plain"]
    )


def written(path: str) -> str:
    """Return a path as a mention; one with blanks is quoted, and a folder stays open for what is in it."""
    if re.search(r"[\s\"]", path):
        return f'@"{path}' if path.endswith("/") else f'@"{path}" '
    return f"@{path}" if path.endswith("/") else f"@{path} "
