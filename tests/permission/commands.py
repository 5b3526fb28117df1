"""The lists of commands that grow: what is dangerous, and what an engineer would let run unasked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("lists")
_CHARACTER = re.compile(r"\\u([0-9a-f]{4})|\\U([0-9a-f]{8})")


@dataclass(frozen=True)
class Listed:
    """One command of a list."""

    kind: str
    command: str


def listed(name: str) -> list[Listed]:
    """Return the commands of a list; lines that begin with ``# `` are remarks, with ``## `` kinds."""
    found, kind = [], ""
    for line in (FOLDER / f"{name}.txt").read_text("utf-8").split("\n"):
        if line.startswith("## "):
            kind = line[3:]
        elif line and not line.startswith("# "):
            found.append(Listed(kind, _unescaped(line)))
    return found


def _unescaped(line: str) -> str:
    line = _CHARACTER.sub(lambda found: chr(int(found[1] or found[2], 16)), line)
    return line.replace(r"\n", "\n").replace(r"\t", "\t")
