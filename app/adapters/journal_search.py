"""Searches a record for a regular expression, newest message first, also in outputs that were stored aside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from app.adapters.journal_outputs import output_path
from app.adapters.journal_reading import SessionReader
from app.core.history import Entry
from app.core.messages import Text, ToolResult, ToolUse
from app.errors import RecordError

LINE_CHARS = 2_000
"""Longer lines are searched up to here."""
SHOWN_CHARS = 300

_NESTED_REPEAT = re.compile(r"\((?:[^()\\]|\\.)*[+*}](?:[^()\\]|\\.)*\)[+*{]")


def search_session(folder: Path, pattern: str, limit: int) -> tuple[tuple[str, str], ...]:
    """Search with a reader of its own, so that a long search holds up no writer.

    Raises:
        RecordError: As `search` says, or the session cannot be read.
    """
    try:
        return search(SessionReader(folder), pattern, limit)
    except OSError as error:
        raise RecordError(f"the session cannot be read: {error}") from error


def search(reader: SessionReader, pattern: str, limit: int) -> tuple[tuple[str, str], ...]:
    """Return up to ``limit`` (id, line) pairs, newest message first; upper and lower case are alike.

    A pattern that is no regular expression is looked for as it stands.

    Raises:
        RecordError: The pattern repeats a repetition, such as ``(a+)+``, which may take for ever.
    """
    wanted = _compile(pattern)
    found: list[tuple[str, str]] = []
    for entry in reader.walk_back():
        for id_, line in _lines(entry, reader.folder):
            match = wanted.search(line, 0, LINE_CHARS)
            if match:
                found.append((id_, _around(line, match)))
                if len(found) >= limit:
                    return tuple(found)
    return tuple(found)


def _compile(pattern: str) -> re.Pattern[str]:
    if _NESTED_REPEAT.search(pattern):
        raise RecordError(
            "the pattern repeats a repetition and could take for ever; use a plainer one"
        )
    try:
        return re.compile(pattern, re.IGNORECASE)
    except re.error:
        return re.compile(re.escape(pattern), re.IGNORECASE)


def _lines(entry: Entry, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the lines of a message under the id by which they can be recalled."""
    result = entry.first_result
    for block in entry.message.content:
        match block:
            case Text(text):
                yield from ((entry.id, line) for line in text.splitlines())
            case ToolUse(_, name, arguments):
                for value in arguments.values():
                    yield from ((entry.id, f"{name}: {line}") for line in str(value).splitlines())
            case ToolResult():
                yield from ((f"r{result}", line) for line in _result_lines(entry, block, folder))
                result += 1
            case _:
                pass


def _result_lines(entry: Entry, block: ToolResult, folder: Path) -> Iterator[str]:
    effects = entry.effects.get(block.tool_use_id)
    path = output_path(folder, effects.stored) if effects and effects.stored else None
    if path is None or not path.is_file():
        yield from block.text.splitlines()
        return
    with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
        yield from file


def _around(line: str, match: re.Match[str]) -> str:
    """Return the line, or of a long one what stands around the match."""
    line = line.strip() if len(line) <= SHOWN_CHARS else line
    if len(line) <= SHOWN_CHARS:
        return line
    start = max(0, min(match.start() - SHOWN_CHARS // 3, len(line) - SHOWN_CHARS))
    return line[start : start + SHOWN_CHARS].strip()
