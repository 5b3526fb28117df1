"""A unified diff as the rows of an editor: line numbers of both sides, changed words marked, in one column or two."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from rich.cells import cell_len

from app.core.visible_text import revealed_text
from app.ui.chat.lines import Beside, Inks, Line, Run, part_of, wrap

LONGEST_MARKED = 400
"""Characters of a line up to which changed words are marked."""
SPLIT_FROM = 118
"""Cells from which on the two sides stand beside each other."""
NARROWEST_SPLIT = 60
"""Cells below which they never do."""
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
_WORDS = re.compile(r"\w+|\s+|.")
_BETWEEN: Run = (" │ ", ("rail",))
_GROUNDS: dict[str, tuple[Inks, Inks, str]] = {
    "-": (("removed",), ("removed-sign",), "removed-mark"),
    "+": (("added",), ("added-sign",), "added-mark"),
    " ": ((), (), ""),
}
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Side:
    """A line of one side."""

    sign: str
    number: int
    text: str
    marked: Sequence[Span] = ()


@dataclass(frozen=True, slots=True)
class _Change:
    """Lines that took the place of others, one of both may be none; or a line that is the same on both sides."""

    old: Sequence[_Side]
    new: Sequence[_Side]


@dataclass(frozen=True, slots=True)
class _Remark:
    """What stands between the lines: where a hunk begins, that there is no newline at the end, or a note."""

    sign: str
    text: str


def diff_lines(diff: str, width: int = 0) -> list[Line]:
    """Return the lines of a unified diff; file headers are left out, for the card names the file.

    Args:
        diff: The diff.
        width: Cells for both sides beside each other; 0 for one column.
    """
    numbers = _number_width(diff)
    lines: list[Line] = []
    for block in _blocks(diff):
        if isinstance(block, _Remark):
            lines.append(
                Line([(f"{block.sign:>{numbers}}  {block.text}", ("hunk",))], cropped=True)
            )
        elif width:
            lines += _split(block, numbers, width)
        elif block.new and block.new[0].sign == " ":
            lines.append(_line(block.new[0], numbers))
        else:
            lines += [_line(side, numbers) for side in (*block.old, *block.new)]
    return lines


def fitting_diff_lines(diff: str, width: int) -> list[Line]:
    """Return the lines of a diff for rows of ``width`` cells, the sides beside each other where there is room."""
    return diff_lines(diff, width if width >= SPLIT_FROM else 0)


def diff_counts(diff: str) -> tuple[int, int]:
    """Return (added, removed) lines of a unified diff."""
    added = removed = old = new = 0
    for line in diff.split("\n"):
        if old <= 0 and new <= 0:
            if hunk := _HUNK.match(line):
                old, new = int(hunk[2] or 1), int(hunk[4] or 1)
            continue
        sign = line[:1]
        added += sign == "+"
        removed += sign == "-"
        old -= sign in ("-", " ", "")
        new -= sign in ("+", " ", "")
    return added, removed


def changed_spans(old: str, new: str) -> tuple[Sequence[Span], Sequence[Span]]:
    """Return the (start, end) spans that differ, in the old and in the new line; none where little is alike."""
    if len(old) > LONGEST_MARKED or len(new) > LONGEST_MARKED:
        return (), ()
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < 0.4:
        return (), ()
    starts_old, starts_new = _starts(before), _starts(after)
    spans_old, spans_new = [], []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            continue
        if b > a:
            spans_old.append((starts_old[a], starts_old[b]))
        if d > c:
            spans_new.append((starts_new[c], starts_new[d]))
    return spans_old, spans_new


def _blocks(diff: str) -> Iterator[_Change | _Remark]:
    """Yield the parts of a diff in their order."""
    old = new = old_end = new_end = 0
    removed: list[tuple[int, str]] = []
    added: list[tuple[int, str]] = []
    first = True
    for raw in revealed_text(diff).removesuffix("\n").split("\n"):
        outside = old >= old_end and new >= new_end
        hunk = _HUNK.match(raw) if outside else None
        kind, text = raw[:1], raw[1:].expandtabs(4)
        if outside and not hunk and kind != "\\":
            if raw.strip() and not raw.startswith(("--- ", "+++ ")):
                yield from _flushed(removed, added)
                yield _Remark("", raw)
            continue
        if (kind == "-" and added) or hunk or kind not in ("-", "+"):
            yield from _flushed(removed, added)
        if hunk:
            if not first:
                yield _Remark("⋯", hunk[5])
            first = False
            old, new = int(hunk[1]), int(hunk[3])
            old_end, new_end = old + int(hunk[2] or 1), new + int(hunk[4] or 1)
        elif kind == "-":
            removed.append((old, text))
            old += 1
        elif kind == "+":
            added.append((new, text))
            new += 1
        elif kind == "\\":
            yield _Remark("", raw[2:])
        else:
            yield _Change([_Side(" ", old, text)], [_Side(" ", new, text)])
            old, new = old + 1, new + 1
    yield from _flushed(removed, added)


def _flushed(removed: list[tuple[int, str]], added: list[tuple[int, str]]) -> Iterator[_Change]:
    if not removed and not added:
        return
    marks = [changed_spans(a[1], b[1]) for a, b in zip(removed, added, strict=False)]
    none: tuple[Sequence[Span], Sequence[Span]] = ((), ())
    sides = [
        [_Side(sign, *each, (marks[at] if at < len(marks) else none)[which]) for at, each in enum]
        for sign, which, enum in (("-", 0, enumerate(removed)), ("+", 1, enumerate(added)))
    ]
    yield _Change(*sides)
    removed.clear()
    added.clear()


def _line(side: _Side, numbers: int) -> Line:
    """Return a line of the one column."""
    lead = _lead(side, numbers)
    ground = _GROUNDS[side.sign][0]
    return Line(_runs(side), lead, _blank(lead), fill=ground, by_cells=True)


def _split(change: _Change, numbers: int, width: int) -> list[Line]:
    """Return the lines of both sides: the new one is the text, the old one stands beside it in the leads."""
    half = (width - cell_len(_BETWEEN[0])) // 2
    lines: list[Line] = []
    for at in range(max(len(change.old), len(change.new))):
        old = change.old[at] if at < len(change.old) else None
        new = change.new[at] if at < len(change.new) else None
        left = _half(old, numbers, half) if old is not None else []
        nothing: tuple[Run, ...] = ((" " * half, ()),)
        right = _lead(new, numbers) if new is not None else ((" " * (numbers + 3), ()),)
        rests = [(*each, _BETWEEN, *_blank(right)) for each in left[1:]]
        room = width - half - cell_len(_BETWEEN[0]) - numbers - 3
        taken = len(wrap(new.text, max(2, room), by_cells=True)) if new is not None else 1
        lines.append(
            Line(
                _runs(new) if new is not None else [],
                (*(left[0] if left else nothing), _BETWEEN, *right),
                (*nothing, _BETWEEN, *_blank(right)),
                fill=_GROUNDS[new.sign][0] if new is not None else (),
                by_cells=True,
                leads=tuple(rests[: taken - 1]),
                copied=new is not None,
                beside=old.text if old is not None else None,
            )
        )
        lines += [
            Line([], lead, copied=False, beside=old.text, goes_on=True)
            for lead in rests[taken - 1 :]
            if old is not None
        ]
    return lines


def _half(side: _Side, numbers: int, cells: int) -> list[tuple[Run, ...]]:
    """Return the rows of one side as runs that fill ``cells``."""
    ground, runs = _GROUNDS[side.sign][0], _runs(side)
    lead = _lead(side, numbers)
    room = max(2, cells - numbers - 3)
    rows: list[tuple[Run, ...]] = []
    at = 0
    for start, end in wrap(side.text, room, by_cells=True):
        part: list[Run] = []
        for text, inks in part_of(runs, start, end):
            part.append((text, (*ground, *inks, Beside(at))))
            at += len(text)
        blank = " " * (room - cell_len(side.text[start:end]))
        rows.append((*(lead if not rows else _blank(lead)), *part, (blank, ground)))
    return rows


def _lead(side: _Side, numbers: int) -> tuple[Run, ...]:
    ground, inks, _ = _GROUNDS[side.sign]
    if not ground:
        return ((f"{side.number:>{numbers}}   ", ("muted",)),)
    return (
        (f"{side.number:>{numbers}} ", (*ground, "muted")),
        (f"{side.sign} ", (*ground, *inks)),
    )


def _runs(side: _Side) -> list[Run]:
    mark = _GROUNDS[side.sign][2]
    runs: list[Run] = []
    at = 0
    for start, end in side.marked:
        if start > at:
            runs.append((side.text[at:start], ()))
        runs.append((side.text[start:end], (mark,)))
        at = end
    if at < len(side.text):
        runs.append((side.text[at:], ()))
    return runs


def _blank(lead: Sequence[Run]) -> tuple[Run, ...]:
    return tuple((" " * cell_len(text), inks) for text, inks in lead)


def _starts(words: Sequence[str]) -> list[int]:
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return starts


def _number_width(diff: str) -> int:
    hunks = [_HUNK.match(line) for line in diff.split("\n") if line.startswith("@@ ")]
    highest = max((max(int(h[1]), int(h[3])) for h in hunks if h), default=0)
    return max(3, len(str(highest + diff.count("\n"))))
