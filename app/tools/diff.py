"""Unified diffs for the user's eyes: bounded in time and length, with exact counts."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

CONTEXT = 3
COMPARED_LINES = 2_000
"""Changed regions longer than this are shown as removed and added as a whole: comparing them takes too long."""
SHOWN_LINES = 400


@dataclass(frozen=True, slots=True)
class Diff:
    """A unified diff with its counts."""

    text: str
    """"" when nothing differs; cut after `SHOWN_LINES` lines with a note."""
    added: int
    removed: int
    changed: tuple[tuple[int, int], ...] = ()
    """First and last line of each changed place in the new text, from 1; of lines that are gone, the one after."""
    lines: int = 0
    """Of the new text."""

    @property
    def counts(self) -> str:
        """``+3 -1``."""
        return f"+{self.added} -{self.removed}"


def unified(before: str, after: str, path: str, *, created: bool = False) -> Diff:
    """Return the difference of two texts; ``created`` marks a file that did not exist."""
    old, new = _lines(before), _lines(after)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    old_middle, new_middle = old[head : len(old) - tail], new[head : len(new) - tail]
    if not old_middle and not new_middle:
        return Diff("", 0, 0, (), len(new))
    changes = _changes(old_middle, new_middle)
    removed = sum(i2 - i1 for _, i1, i2, _, _ in changes)
    added = sum(j2 - j1 for _, _, _, j1, j2 in changes)
    moved = [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in changes]
    source = "/dev/null" if created else f"a/{path}"
    lines = [f"--- {source}", f"+++ b/{path}"]
    groups = _hunks(moved)
    for group in groups:
        lines.extend(_hunk(group, old, new))
    if len(lines) > SHOWN_LINES:
        more = len(lines) - SHOWN_LINES
        lines = [*lines[:SHOWN_LINES], f"… {more:,} more lines of this diff"]
    places = ((group[0][3] + 1, max(group[0][3] + 1, group[-1][4])) for group in groups)
    return Diff("\n".join(lines) + "\n", added, removed, tuple(places), len(new))


Change = tuple[str, int, int, int, int]
"""Tag, and the ranges in the old and in the new lines."""


def _changes(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    if max(len(old), len(new)) > COMPARED_LINES:
        return [("replace", 0, len(old), 0, len(new))]
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=len(old) > 200)
    return [code for code in matcher.get_opcodes() if code[0] != "equal"]


def _hunks(changes: Sequence[Change]) -> list[list[Change]]:
    """Group changes whose contexts touch."""
    groups: list[list[Change]] = []
    for change in changes:
        if groups and change[1] - groups[-1][-1][2] <= 2 * CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(group: Sequence[Change], old: Sequence[str], new: Sequence[str]) -> list[str]:
    first, last = group[0], group[-1]
    lead = min(CONTEXT, first[1], first[3])
    trail = min(CONTEXT, len(old) - last[2], len(new) - last[4])
    i_from, i_to = first[1] - lead, last[2] + trail
    j_from, j_to = first[3] - lead, last[4] + trail
    lines = [f"@@ -{_range(i_from, i_to)} +{_range(j_from, j_to)} @@"]
    at = i_from
    for _, i1, i2, j1, j2 in group:
        lines.extend(_marked(" ", old[at:i1]))
        lines.extend(_marked("-", old[i1:i2]))
        lines.extend(_marked("+", new[j1:j2]))
        at = i2
    lines.extend(_marked(" ", old[at:i_to]))
    return lines


def _marked(mark: str, lines: Sequence[str]) -> list[str]:
    marked: list[str] = []
    for line in lines:
        marked.append(mark + line.removesuffix("\n"))
        if not line.endswith("\n"):
            marked.append("\\ No newline at end of file")
    return marked


def _range(start: int, stop: int) -> str:
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _lines(text: str) -> list[str]:
    parts = text.split("\n")
    last = parts.pop()
    return [f"{part}\n" for part in parts] + ([last] if last else [])


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    length = min(len(first), len(second))
    at = 0
    while at < length and first[at] == second[at]:
        at += 1
    return at
