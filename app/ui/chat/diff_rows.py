"""Unified diffs as coloured lines with line numbers and marks on the words that changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from app.core.visible_text import revealed_text
from app.ui.chat.lines import Inks, Line, Run

LONGEST_MARKED = 400
"""Characters of a line up to which changed words are marked."""
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
_WORDS = re.compile(r"\w+|\s+|.")
_STYLES: dict[str, tuple[Inks, Inks, str]] = {
    "-": (("removed",), ("removed-sign",), "removed-mark"),
    "+": (("added",), ("added-sign",), "added-mark"),
}


def diff_lines(diff: str) -> list[Line]:
    """Return the lines of a unified diff; file headers are left out, for the card names the file."""
    lines: list[Line] = []
    old = new = old_end = new_end = 0
    numbers = _number_width(diff)
    removed: list[str] = []
    added: list[str] = []
    places = [0, 0]

    def flush() -> None:
        marks = [changed_spans(a, b) for a, b in zip(removed, added, strict=False)]
        for sign, texts, start in (("-", removed, places[0]), ("+", added, places[1])):
            for at, text in enumerate(texts):
                spans = marks[at][0 if sign == "-" else 1] if at < len(marks) else ()
                lines.append(_changed(sign, text, spans, start + at, numbers))
        removed.clear()
        added.clear()

    for raw in revealed_text(diff).removesuffix("\n").split("\n"):
        outside = old >= old_end and new >= new_end
        hunk = _HUNK.match(raw) if outside else None
        kind, text = raw[:1], raw[1:].expandtabs(4)
        if hunk:
            flush()
            if lines:
                lines.append(Line([(f"{'⋯':>{numbers}}  {hunk[5]}", ("hunk",))], cropped=True))
            old, new = int(hunk[1]), int(hunk[3])
            old_end, new_end = old + int(hunk[2] or 1), new + int(hunk[4] or 1)
        elif outside and kind != "\\":
            continue
        elif kind == "-":
            if added:
                flush()
            if not removed:
                places[0] = old
            removed.append(text)
            old += 1
        elif kind == "+":
            if not added:
                places[1] = new
            added.append(text)
            new += 1
        elif kind == "\\":
            flush()
            lines.append(Line([(f"{'':>{numbers}}  {raw[2:]}", ("hunk",))], cropped=True))
        else:
            flush()
            lead: tuple[Run, ...] = ((f"{new:>{numbers}}   ", ("muted",)),)
            lines.append(Line([(text, ())] if text else [], lead, _blank(lead), by_cells=True))
            old, new = old + 1, new + 1
    flush()
    return lines


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


def changed_spans(
    old: str, new: str
) -> tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]]:
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


def _changed(
    sign: str, text: str, spans: Sequence[tuple[int, int]], number: int, numbers: int
) -> Line:
    base, sign_inks, mark = _STYLES[sign]
    lead: tuple[Run, ...] = (
        (f"{number:>{numbers}} ", (*base, "muted")),
        (f"{sign} ", (*base, *sign_inks)),
    )
    runs: list[Run] = []
    at = 0
    for start, end in spans:
        if start > at:
            runs.append((text[at:start], ()))
        runs.append((text[start:end], (mark,)))
        at = end
    if at < len(text):
        runs.append((text[at:], ()))
    return Line(runs, lead, _blank(lead), fill=base, by_cells=True)


def _blank(lead: Sequence[Run]) -> tuple[Run, ...]:
    return tuple((" " * len(text), inks) for text, inks in lead)


def _starts(words: Sequence[str]) -> list[int]:
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return starts


def _number_width(diff: str) -> int:
    hunks = [_HUNK.match(line) for line in diff.split("\n") if line.startswith("@@ ")]
    highest = max((max(int(h[1]), int(h[3])) for h in hunks if h), default=0)
    return max(3, len(str(highest + diff.count("\n"))))
