"""The ledger as text for the model: files, commands, errors and the todo list, within a given room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from app.compaction.facts import Ledger
from app.core.effects import Span
from app.core.tokens import estimate_text
from app.core.visible_text import one_line

LISTED = 24
"""Files that get a line each; more are folded by folder."""
FOLDED = (10_000, 100, 20, 5)
"""Files of one folder that are named, from roomy to tight; more are counted, and the commit's facts name them."""
MODIFIED_ROOMS = 2.0
"""Modified files may take so many times the room before some are only counted: they matter most."""
PATH_CHARS = 400
COMMANDS_SHOWN, COMMAND_CHARS = 25, 140
ERRORS_SHOWN, PROBLEM_CHARS = 10, 140
MARKS = {"done": "x", "doing": ">", "pending": " "}


def render(ledger: Ledger, room: float) -> str:
    """Return the facts as Markdown sections.

    Modified files and the todo list are always there, the former folded where they are very many, and may pass the
    room; read files, errors and commands share at least half of it.

    Args:
        ledger: What code knows.
        room: Raw tokens it should take.
    """
    modified = _section("Files modified", len(ledger.modified), _modified(ledger.modified, room))
    todo = _section(
        "Todo list", 0, [f"- [{MARKS.get(i.state, ' ')}] {i.text}" for i in ledger.todo]
    )
    room -= min(estimate_text(modified) + estimate_text(todo), room / 2)
    changed = set(ledger.modified)
    only_read = [span for span in ledger.read if span.path not in changed]
    read, room = _within(room, "Files read", _read(only_read), len(only_read), keep_newest=False)
    failed = [
        f"- {e.tool}: {one_line(e.target, COMMAND_CHARS)} -> {one_line(e.problem, PROBLEM_CHARS)}"
        for e in ledger.errors
    ]
    errors, room = _within(room, "Open errors", failed, len(failed), most=ERRORS_SHOWN)
    commands = [_command(c.text, c.exit_code, c.times) for c in ledger.commands]
    ran, _ = _within(room, "Commands run", commands, len(commands), most=COMMANDS_SHOWN)
    return "\n\n".join(part for part in (modified, read, ran, errors, todo) if part)


def _section(title: str, count: int, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    counted = f" ({count})" if count else ""
    return "\n".join((f"## {title}{counted}", *lines))


def _within(
    room: float,
    title: str,
    lines: Sequence[str],
    count: int,
    *,
    keep_newest: bool = True,
    most: int | None = None,
) -> tuple[str, float]:
    """Return a section of the newest (or first) lines that fit, in their order, and the room that is left."""
    kept: list[str] = []
    left = room - estimate_text(title) - 20
    for line in reversed(lines) if keep_newest else lines:
        left -= estimate_text(line) + 1
        if left < 0 or len(kept) == most:
            break
        kept.append(line)
    if not kept:
        return "", room
    if keep_newest:
        kept.reverse()
    missing = len(lines) - len(kept)
    more = [f"- … and {missing} more lines; recall searches the record"] if missing else []
    section = _section(title, count, [*more, *kept] if keep_newest else [*kept, *more])
    return section, room - estimate_text(section)


def _modified(paths: Sequence[str], room: float) -> list[str]:
    if len(paths) <= LISTED:
        return [f"- {one_line(path, PATH_CHARS)}" for path in paths]
    lines = _folded(paths, lambda path: path)
    for most in FOLDED:
        if estimate_text("\n".join(lines)) <= MODIFIED_ROOMS * room:
            break
        lines = _folded(paths, _name, most)
    return lines


def _read(spans: Sequence[Span]) -> list[str]:
    if len(spans) <= LISTED:
        return [f"- {one_line(span.path, PATH_CHARS)}{_lines(span)}" for span in spans]
    return _folded([span.path for span in spans], _name)


def _lines(span: Span) -> str:
    if span.is_whole:
        return ""
    total = f" of {span.total}" if span.total is not None else ""
    return f" (lines {span.first}-{span.last}{total})"


def _name(path: str) -> str:
    return PurePosixPath(path).name


def _folded(paths: Sequence[str], name: Callable[[str], str], most: int = FOLDED[0]) -> list[str]:
    folders: dict[str, list[str]] = {}
    for path in paths:
        folders.setdefault(str(PurePosixPath(path).parent), []).append(path)
    lines = []
    for folder, inside in folders.items():
        named = ", ".join(one_line(name(path), PATH_CHARS) for path in inside[:most])
        more = f" and {len(inside) - most} more" if len(inside) > most else ""
        lines.append(f"- {one_line(folder, PATH_CHARS)}/ ({len(inside)}): {named}{more}")
    return lines


def _command(text: str, exit_code: int | None, times: int) -> str:
    often = f" ({times} times)" if times > 1 else ""
    ended = f" -> exit {exit_code}" if exit_code is not None else ""
    return f"- {one_line(text, COMMAND_CHARS)}{ended}{often}"
