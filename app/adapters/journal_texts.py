"""All texts of a record, newest message first, also outputs that were stored aside: what a search looks through."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from app.adapters.journal_outputs import output_path
from app.adapters.journal_reading import SessionReader
from app.core.history import Entry
from app.core.messages import Text, ToolResult, ToolUse
from app.core.originals import Texts
from app.errors import RecordError

BATCH_CHARS = 256_000
OUTPUT_LINES = 2_000
"""Lines of a stored output that make one text."""


def batches(folder: Path) -> Iterator[Texts]:
    """Yield the texts in batches, read with a reader of its own, so that a long search holds up no writer.

    Raises:
        RecordError: The session cannot be read.
    """
    try:
        batch: list[tuple[str, str]] = []
        size = 0
        for item in _texts(SessionReader(folder)):
            batch.append(item)
            size += len(item[1])
            if size >= BATCH_CHARS:
                yield tuple(batch)
                batch, size = [], 0
        if batch:
            yield tuple(batch)
    except OSError as error:
        raise RecordError(f"the session cannot be read: {error}") from error


def _texts(reader: SessionReader) -> Iterator[tuple[str, str]]:
    for entry in reader.walk_back():
        yield from _texts_of(entry, reader.folder)


def _texts_of(entry: Entry, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the texts of a message under the id by which they can be recalled."""
    result = entry.first_result
    for block in entry.message.content:
        match block:
            case Text(text):
                yield entry.id, text
            case ToolUse(_, name, arguments):
                for value in arguments.values():
                    lines = str(value).splitlines()
                    yield entry.id, "\n".join(f"{name}: {line}" for line in lines)
            case ToolResult():
                yield from ((f"r{result}", text) for text in _result_texts(entry, block, folder))
                result += 1
            case _:
                pass


def _result_texts(entry: Entry, block: ToolResult, folder: Path) -> Iterator[str]:
    effects = entry.effects.get(block.tool_use_id)
    path = output_path(folder, effects.stored) if effects and effects.stored else None
    if path is None or not path.is_file():
        yield block.text
        return
    with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
        while lines := "".join(islice(file, OUTPUT_LINES)):
            yield lines
