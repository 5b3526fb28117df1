"""What a file holds, in one line, from the text that a tool returned."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_NAMES = 8
_NUMBERED = re.compile(r"^\s*\d+(?:│|\t|\s*[|→:]\s?)")
_DEFINES = (
    re.compile(
        r"^(?:export )?(?:default )?(?:async )?(?:def|class|function|interface|struct|enum|trait|type)\s+(\w+)"
    ),
    re.compile(r"^(?:pub(?:\([^)]*\))? )?(?:async )?(?:fn|struct|enum|trait|mod)\s+(\w+)"),
    re.compile(r"^func (?:\([^)]*\) )?(\w+)"),
    re.compile(r"^(?:export )?(?:const|let) (\w+) = (?:async )?(?:\(|function)"),
)
_RANGE = re.compile(r"lines? ([\d,]+)\s*[-–]\s*([\d,]+) of ([\d,]+)")
_CUT = re.compile(r"^\[truncated: ([\d,]+) lines?, full text in r\d+\]$", re.M)
_NEXT = re.compile(r"next offset:? ([\d,]+)")


@dataclass(frozen=True, slots=True)
class Page:
    """What a read returned."""

    lines: tuple[str, ...]
    """Without their numbers."""
    first: int
    total: int
    """Lines of the whole file as far as is known."""
    next: int | None
    """Offset of the next page; None at the end."""


def page_of(text: str) -> Page:
    """Return the lines and the position of a page of ``read_file``."""
    numbered = [line for line in text.splitlines() if _NUMBERED.match(line)]
    empty = re.fullmatch(r"\[.* is empty\]", text.strip())
    plain = [] if empty else text.splitlines()
    lines = [_NUMBERED.sub("", line, count=1) for line in numbered] or plain
    span = _RANGE.search(text)
    following = _NEXT.search(text)
    cut = _CUT.search(text)
    return Page(
        lines=tuple(lines),
        first=_number(span[1]) if span else 1,
        total=_number(span[3]) if span else len(lines) + (_number(cut[1]) if cut else 0),
        next=_number(following[1]) if following else None,
    )


def describe(path: str, text: str) -> str:
    """Return one line on a file: how long it is, how it introduces itself, what it defines."""
    page = page_of(text)
    parts = [f"{page.total:,} line{'s' if page.total != 1 else ''}"]
    opening = _introduction(page.lines)
    if opening:
        parts.append(f"“{opening}”")
    names = _names(page.lines)
    if names:
        more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
        parts.append(f"defines {', '.join(names[:MAX_NAMES])}{more}")
    elif path.endswith((".yaml", ".yml", ".toml", ".ini", ".cfg", ".env")):
        keys = [m[1] for line in page.lines if (m := re.match(r"^\[?([\w.-]+)\]?\s*[:=\]]?", line))]
        if keys:
            parts.append(f"top-level keys {', '.join(dict.fromkeys(keys[:MAX_NAMES]))}")
    return "; ".join(parts)


def _introduction(lines: tuple[str, ...]) -> str:
    """Return the first sentence of a docstring, a comment or a heading at the top; "" when there is none."""
    for line in lines[:12]:
        bare = line.strip()
        if not bare or bare.startswith(("#!", "# -*-", "from ", "import ", "<?", "---")):
            continue
        if re.match(r"^(?:[rRbBuU]?\"\"\"|'''|#|//|/\*|\*|<!--|;)", bare):
            words = re.sub(
                r"^(?:[rRbBuU]?\"\"\"|'''|#+|//+!?|/\*+|\*+|<!--|;)\s*|\s*(?:\"\"\"|'''|\*/|-->)$",
                "",
                bare,
            )
            if words:
                return words if len(words) <= 90 else words[:89] + "…"
            continue
        return ""
    return ""


def _names(lines: tuple[str, ...]) -> list[str]:
    names: list[str] = []
    for line in lines:
        for pattern in _DEFINES:
            found = pattern.match(line)
            if found:
                names.append(found[1])
                break
    return list(dict.fromkeys(names))


def _number(text: str) -> int:
    return int(text.replace(",", ""))
