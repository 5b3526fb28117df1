"""Exact replacement in a text whose line ends are kept, and why a text to replace was not found."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.errors import ToolError
from app.tools.lines import NUMBER_MARK
from app.tools.text_files import LineEnds, TextFile

ALIGNED_LINES = 2_000
SEARCHED_LINES = 5_000
SIMILAR = 0.6
SHOWN_LINES = 8
SHOWN_CHARS = 200
NAMED_MATCHES = 10

_COPIED_NUMBER = re.compile(rf"\s*\d+(?:{NUMBER_MARK}|→|\||\t)")


@dataclass(frozen=True, slots=True)
class Replaced:
    """A text after a replacement."""

    text: str
    count: int
    """How often it was replaced."""


def replace_exact(file: TextFile, old: str, new: str, *, every: bool) -> Replaced:
    """Return the file's text with ``old`` replaced by ``new``; all else stays byte for byte.

    Line ends need not match: LF in ``old`` and ``new`` stands for whatever the file has there.

    Args:
        file: The file.
        old: What to replace; must stand there exactly once.
        new: What to put in its place.
        every: Replace all places, at least one.

    Raises:
        ToolError: ``old`` is empty, equals ``new``, is not there, or is there more than once.
    """
    ends = file.line_ends
    old, new = _plain(old), _plain(new)
    if not old:
        raise ToolError("old_text is empty; to create or rewrite a file use write_file")
    if old == new:
        raise ToolError("old_text and new_text are equal: nothing would change")
    places = _places(ends.plain, old, overlapping=not every)
    if not places:
        raise ToolError(why_missing(ends.plain, old))
    if len(places) > 1 and not every:
        raise ToolError(_ambiguous(ends.plain, places))
    parts: list[str] = []
    done = 0
    for place in places:
        stop = place + len(old)
        parts.append(file.text[done : ends.original(place)])
        parts.append(_with_line_ends(old, new, place, ends))
        done = ends.original(stop)
    parts.append(file.text[done:])
    return Replaced("".join(parts), len(places))


def why_missing(plain: str, old: str) -> str:
    """Return why a text was not found and the nearest lines of the file."""
    wanted, lines = old.split("\n"), plain.split("\n")
    full = [line for line in wanted if line.strip()]
    start = "old_text was not found"
    if full and all(_COPIED_NUMBER.match(line) for line in full):
        return (
            f"{start}: it has line numbers copied from read_file; leave out each number and {NUMBER_MARK}, "
            "and keep what follows exactly"
        )
    at = _window(lines, wanted)
    if at is not None:
        given = _first_difference(lines[at : at + len(wanted)], wanted)
        return (
            f"{start}: these lines differ from it only in blanks or indentation ({given}); copy them exactly:\n"
            + _excerpt(lines, at, len(wanted))
        )
    if not full:
        return f"{start}: it consists of blanks and line ends only"
    first = full[0]
    same = [at for at, line in enumerate(lines) if line.strip() == first.strip()]
    if same:
        return (
            f"{start}: its first line stands at line {same[0] + 1}, but what follows there differs:\n"
            + _excerpt(lines, same[0], len(wanted))
        )
    similar = _most_similar(lines, first.strip())
    if similar is not None:
        return f"{start}; the most similar place is at line {similar + 1}:\n" + _excerpt(
            lines, max(0, similar - 1), len(wanted) + 2
        )
    return f"{start}, and nothing similar either: read the file again"


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").removeprefix("\ufeff")


def _places(text: str, old: str, *, overlapping: bool) -> list[int]:
    places: list[int] = []
    at = text.find(old)
    while at >= 0:
        places.append(at)
        at = text.find(old, at + (1 if overlapping else len(old)))
    return places


def _ambiguous(plain: str, places: Sequence[int]) -> str:
    numbers = [str(plain.count("\n", 0, place) + 1) for place in places[:NAMED_MATCHES]]
    more = f" and {len(places) - NAMED_MATCHES:,} more" if len(places) > NAMED_MATCHES else ""
    return (
        f"old_text stands at {len(places):,} places (lines {', '.join(numbers)}{more}); nothing was changed: "
        "add lines around it to make it unique, or set replace_all"
    )


def _with_line_ends(old: str, new: str, place: int, ends: LineEnds) -> str:
    """``new`` with the line ends of the place: those of lines that stay, and their neighbours' for new ones."""
    if "\n" not in new:
        return new
    if not ends.is_mixed or "\n" not in old:
        usual = ends.end_near(place) if ends.is_mixed else ends.usual
        return new.replace("\n", usual)
    there = [ends.end_at(place + found.start()) for found in re.finditer("\n", old)]
    pieces = new.split("\n")
    partners = _partners(old.split("\n"), pieces)
    chosen = (there[min(partner, len(there) - 1)] for partner in partners)
    return "".join(f"{piece}{end}" for piece, end in zip(pieces, chosen, strict=False)) + pieces[-1]


def _partners(old: Sequence[str], new: Sequence[str]) -> list[int]:
    """For each new line but the last, the old line whose end it takes."""
    if max(len(old), len(new)) > ALIGNED_LINES:
        return list(range(len(new) - 1))
    partners: list[int] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for _, i1, i2, j1, j2 in matcher.get_opcodes():
        last = max(i1, i2 - 1) if i2 > i1 else max(0, i1 - 1)
        partners.extend(min(i1 + at, last) for at in range(j2 - j1))
    return partners[: len(new) - 1]


def _window(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Where the wanted lines stand when blanks at both ends of each do not count."""
    stripped = [line.strip() for line in wanted]
    if not any(stripped):
        return None
    bare = [line.strip() for line in lines]
    for at in range(len(bare) - len(stripped) + 1):
        if bare[at] == stripped[0] and bare[at : at + len(stripped)] == stripped:
            return at
    return None


def _first_difference(there: Sequence[str], wanted: Sequence[str]) -> str:
    for has, given in zip(there, wanted, strict=True):
        if has != given and _indent(has) != _indent(given):
            return f"the file has {_blanks(_indent(has))}, old_text has {_blanks(_indent(given))}"
    return "blanks at line ends"


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _blanks(indent: str) -> str:
    tabs, blanks = indent.count("\t"), indent.count(" ")
    names = [
        f"{n} {name}{'s' if n > 1 else ''}" for n, name in ((tabs, "tab"), (blanks, "blank")) if n
    ]
    return " and ".join(names) or "no indentation"


def _most_similar(lines: Sequence[str], wanted: str) -> int | None:
    candidates = {
        line.strip()[:SHOWN_CHARS]: at
        for at, line in reversed(list(enumerate(lines[:SEARCHED_LINES])))
    }
    near = difflib.get_close_matches(wanted[:SHOWN_CHARS], candidates, n=1, cutoff=SIMILAR)
    return candidates[near[0]] if near else None


def _excerpt(lines: Sequence[str], at: int, count: int) -> str:
    shown = lines[at : at + min(count, SHOWN_LINES)]
    cut = (line if len(line) <= SHOWN_CHARS else f"{line[:SHOWN_CHARS]}…" for line in shown)
    return "\n".join(f"{number}{NUMBER_MARK}{line}" for number, line in enumerate(cut, at + 1))
