"""One pass over a file of a session: where its records stand, what is damaged, where the next one goes.

Lines that begin as this program writes them are not parsed: their first bytes say what the index needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from app.adapters.journal_format import (
    COMMIT_HEAD,
    EVENT_HEAD,
    MARK_NAMES,
    MESSAGE_HEAD,
    CommitLine,
    decode,
    seq_of,
)
from app.adapters.journal_index import EventIndex, MessageIndex, Place
from app.adapters.journal_recovery import START, pieces
from app.core.history import Bared, Cleared, Entry, Pinned, Remark, Rewound, Undone
from app.errors import FormatTooNew

BUFFER = 1 << 20


@dataclass(slots=True)
class Tail:
    """The state of a file's end and the damage found in it."""

    end: int = 0
    """Where the next record goes."""
    needs_newline: bool = False
    """Whether the last record is whole but lacks its line end."""
    torn: int = 0
    """Bytes of a last record that was cut off."""
    damaged: list[int] = field(default_factory=list)
    """Numbers of the lines, from 1, in which something was lost."""
    lost_at_end: int = 0
    """Damaged lines behind the last good record."""
    last_seq: int = 0

    def good(self, end: int, seq: int) -> None:
        """Note a whole line up to ``end``."""
        self.end = end
        self.needs_newline = False
        self.lost_at_end = 0
        self.last_seq = max(self.last_seq, seq)


@dataclass(slots=True)
class SegmentScan:
    """A transcript segment."""

    index: MessageIndex
    tail: Tail
    commit: Place | None = None
    first_number: int = 0
    """From its commit line; 0 without one."""
    first_result: int = 0


@dataclass(slots=True)
class EventScan:
    """The events file."""

    marks: EventIndex
    remarks: EventIndex
    tail: Tail


def damage_notices(name: str, tail: Tail, unreadable: Iterable[int]) -> list[str]:
    """Return what to tell about a file, one sentence for each kind of damage.

    Args:
        name: The file's name.
        tail: What its scan found.
        unreadable: Numbers of further lines that turned out to be damaged when they were read.
    """
    told: list[str] = []
    rows = sorted({*unreadable, *tail.damaged})
    shown = ", ".join(map(str, rows[:5])) + (", …" if len(rows) > 5 else "")
    if len(rows) == 1:
        told.append(f"{name}: 1 damaged line was skipped (line {shown}).")
    elif rows:
        told.append(f"{name}: {len(rows)} damaged lines were skipped (lines {shown}).")
    if tail.torn:
        told.append(f"{name}: the last line was cut off ({tail.torn:,} bytes); it is left out.")
    return told


def lines(path: Path, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, line) from ``start`` on, each with its line end; only byte 0x0A ends a line."""
    with path.open("rb", buffering=BUFFER) as file:
        file.seek(start)
        offset = start
        for line in file:
            yield offset, line
            offset += len(line)


def scan_segment(path: Path) -> SegmentScan:
    """Read a segment once.

    Raises:
        FormatTooNew: A newer version wrote in it.
        OSError: It cannot be read.
    """
    scan = SegmentScan(MessageIndex(), Tail())
    for row, (offset, line) in enumerate(lines(path), start=1):
        plain = is_plain(line)
        if plain and (head := MESSAGE_HEAD.match(line)):
            seq, number, first, count = head.groups()
            wrong = scan.index.add(
                int(seq),
                offset,
                len(line),
                int(number),
                first_result=int(first),
                results=int(count),
            )
            if wrong:
                scan.tail.damaged += range(row - wrong, row)
            scan.tail.good(offset + len(line), int(seq))
        elif plain and (head := COMMIT_HEAD.match(line)):
            _take_commit(scan, Place(offset, len(line)), int(head[3]), int(head[4]))
            scan.tail.good(offset + len(line), int(head[1]))
        else:
            _read_pieces(scan, offset, line, row)
    return scan


def scan_events(path: Path) -> EventScan:
    """Read the events file once; a missing one is empty. Raises as `scan_segment` does."""
    scan = EventScan(EventIndex(), EventIndex(), Tail())
    for row, (offset, line) in enumerate(_lines_or_none(path), start=1):
        if is_plain(line) and (head := EVENT_HEAD.match(line)):
            index = scan.marks if head[2] == b"mark" else scan.remarks
            index.add(head[3].decode("ascii", "replace"), int(head[1]), offset, len(line))
            scan.tail.good(offset + len(line), int(head[1]))
        else:
            _read_pieces(scan, offset, line, row)
    return scan


def _lines_or_none(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        yield from lines(path)
    except FileNotFoundError:
        return


def is_plain(line: bytes) -> bool:
    """Whether a line looks whole and holds one record only."""
    return line.endswith(b"}\n") and line.find(START, 1) < 0


def _read_pieces(scan: SegmentScan | EventScan, offset: int, line: bytes, row: int) -> None:
    """Take what can be read from a line that is not plain."""
    found, lost = pieces(line)
    for piece in found:
        try:
            stored = decode(piece.value)
        except FormatTooNew:
            raise
        except ValueError:
            lost = True
            continue
        place = Place(offset + piece.start, piece.end - piece.start)
        _take(scan, place, stored)
        scan.tail.last_seq = max(scan.tail.last_seq, seq_of(stored))
    complete = line.endswith(b"\n")
    if complete or (found and not lost):
        scan.tail.end = offset + len(line)
        scan.tail.needs_newline = not complete
    elif line.strip():
        last = offset + max((piece.end for piece in found), default=0)
        scan.tail.torn = offset + len(line) - last
        if found:
            scan.tail.end, scan.tail.needs_newline = last, True
        return
    if lost:
        scan.tail.damaged.append(row)
        scan.tail.lost_at_end += 1
    elif found:
        scan.tail.lost_at_end = 0


def _take(scan: SegmentScan | EventScan, place: Place, stored: object) -> None:
    match scan, stored:
        case SegmentScan(), Entry():
            scan.index.add_entry(stored, place)
        case SegmentScan(), CommitLine(_, number, result):
            _take_commit(scan, place, number, result)
        case EventScan(), Remark(seq, _, kind):
            scan.remarks.add(kind, seq, place.offset, place.length)
        case EventScan(), Cleared() | Undone() | Pinned() | Bared() | Rewound():
            name = MARK_NAMES[type(stored)]
            scan.marks.add(name, stored.seq, place.offset, place.length)
        case _:
            pass


def _take_commit(scan: SegmentScan, place: Place, number: int, result: int) -> None:
    if scan.commit is None:
        scan.commit, scan.first_number, scan.first_result = place, number, result
