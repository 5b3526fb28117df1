"""Path patterns with ``**``, ``*``, ``?``, ``[...]`` and ``{a,b}``, as searches and rules write them."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=512)
def path_glob(pattern: str) -> re.Pattern[str]:
    """Return the expression that matches a whole path: ``*`` stays within a folder, ``**`` does not."""
    out: list[str] = []
    at = braces = 0
    while at < len(pattern):
        sign = pattern[at]
        if pattern.startswith("**/", at):
            out.append("(?:.*/)?")
            at += 3
            continue
        if pattern.startswith("**", at):
            out.append(".*")
            at += 2
            continue
        if sign == "[" and (end := pattern.find("]", at + 2)) > 0:
            out.append(_one_of(pattern[at + 1 : end]))
            at = end + 1
            continue
        if sign == "{" and "}" in pattern[at:]:
            braces += 1
            out.append("(?:")
        elif sign == "}" and braces:
            braces -= 1
            out.append(")")
        elif sign == "," and braces:
            out.append("|")
        else:
            out.append({"*": "[^/]*", "?": "[^/]"}.get(sign, re.escape(sign)))
        at += 1
    try:
        return re.compile(re.escape(pattern) if braces else "".join(out), re.DOTALL)
    except re.error:
        return re.compile(re.escape(pattern))


def _one_of(inside: str) -> str:
    """Return the expression for ``[inside]``; a slash is never one of them."""
    negated = inside[:1] in ("!", "^")
    signs = inside[1:] if negated else inside
    escaped = re.sub(r"(.)-(.)|(.)", _range_or_sign, signs, flags=re.DOTALL)
    return f"(?!/)[{'^' if negated else ''}{escaped}]"


def _range_or_sign(found: re.Match[str]) -> str:
    first, last, sign = found.groups()
    return re.escape(sign) if sign else f"{re.escape(first)}-{re.escape(last)}"
