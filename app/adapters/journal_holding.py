"""What is held of a conversation that is too large for any model: its newest part, and what tells of the rest.

A conversation is compacted long before it comes to this; a record in which that never happened must open all the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from app.adapters.journal_format import decode
from app.adapters.journal_index import MessageIndex, Place
from app.adapters.journal_recovery import pieces
from app.adapters.journal_scan import lines
from app.core.history import Cleared, Entry, HistoryItem
from app.core.messages import Block, JsonObject, ToolResult

HELD_BYTES = 8_000_000
"""Most that is held of the messages since a compaction: twice what a window of a million tokens takes."""
TOLD_BYTES = HELD_BYTES // 4
"""The same for what tells of the messages before those."""


LEFT_OUT = "[left out: too large to be held]"
"""Stands for the text of such a tool result, where no line of layer 1 does."""
_BATCH = 256
"""Messages that are read in one go on the way back through a file."""

File = tuple[Path, MessageIndex]
ReadPlaces = Callable[[Path, Sequence[Place]], Iterable[tuple[object, Place]]]


def newest(files: Sequence[File], read: ReadPlaces, cleared: Set[int]) -> list[Entry]:
    """Return the newest messages that there is room for, oldest first; the very newest in any case.

    Args:
        files: The segments, oldest first.
        read: Reads records of a file.
        cleared: Numbers of the tool results that are cleared: their texts are not held.
    """
    held: deque[Entry] = deque()
    room = HELD_BYTES
    for entry, size in _back(files, read):
        shorter, saved = without_results(entry, cleared)
        room -= size - saved
        if held and room < 0:
            break
        held.appendleft(shorter)
    return list(held)


def telling(files: Sequence[File], before: int | None) -> list[Entry]:
    """Return what tells something: words of the user, and which files a tool changed; the newest there is room for.

    Their tool results have no texts.

    Args:
        files: The segments, oldest first.
        before: Number of a message: only those before it.
    """
    kept: deque[tuple[Entry, int]] = deque()
    taken = 0
    for entry, size in _forth(files, before):
        numbers = range(entry.first_result, entry.first_result + len(entry.message.tool_results))
        shorter, saved = without_results(entry, frozenset(numbers))
        kept.append((shorter, size - saved))
        taken += size - saved
        while taken > TOLD_BYTES and len(kept) > 1:
            taken -= kept.popleft()[1]
    return [entry for entry, _ in kept]


def _back(files: Sequence[File], read: ReadPlaces) -> Iterator[tuple[Entry, int]]:
    """Yield messages, newest first, each with its bytes."""
    for path, index in reversed(files):
        for stop in range(len(index), 0, -_BATCH):
            places = [index.place(row) for row in range(max(0, stop - _BATCH), stop)]
            for item, place in reversed(list(read(path, places))):
                if isinstance(item, Entry):
                    yield item, place.length


def _forth(files: Sequence[File], before: int | None) -> Iterator[tuple[Entry, int]]:
    """Yield the messages that tell something, oldest first, each with its bytes; the others are not parsed."""
    last = 0
    for path, _ in files:
        for _, line in lines(path):
            for piece in pieces(line)[0] if _tells(line) else ():
                entry = _entry(piece.value)
                if entry is None or entry.number <= last:
                    continue
                if before is not None and entry.number >= before:
                    return
                last = entry.number
                yield entry, piece.end - piece.start


def _tells(line: bytes) -> bool:
    return b'"spoken":[]' not in line or b'"modified":[' in line


def _entry(value: JsonObject) -> Entry | None:
    with suppress(ValueError):
        stored = decode(value)
        return stored if isinstance(stored, Entry) else None
    return None


def cleared_results(items: Iterable[HistoryItem]) -> frozenset[int]:
    """Return the numbers of the tool results that are cleared."""
    names = (name for item in items if isinstance(item, Cleared) for name in item.stubs)
    return frozenset(int(name[1:]) for name in names if name[1:].isdecimal())


def without_results(entry: Entry, numbers: Set[int]) -> tuple[Entry, int]:
    """Return a message without the texts of these of its tool results, and how many characters that saves."""
    number, saved = entry.first_result, 0
    blocks: list[Block] = []
    for block in entry.message.content:
        is_result = isinstance(block, ToolResult) and number > 0
        if isinstance(block, ToolResult) and is_result and number in numbers:
            saved += max(0, len(block.text) - len(LEFT_OUT))
            blocks.append(replace(block, content=LEFT_OUT))
        else:
            blocks.append(block)
        number += is_result
    if not saved:
        return entry, 0
    return replace(entry, message=replace(entry.message, content=tuple(blocks))), saved
