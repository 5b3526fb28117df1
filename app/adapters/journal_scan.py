"""One pass over a file of a session: where its records stand, what is damaged, where the next one goes.

Lines that begin as this program writes them are not parsed: their first bytes say what the index needs.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from app.adapters.journal_format import (
    COMMIT_HEAD,
    EVENT_HEAD,
    MESSAGE_HEAD,
    CommitLine,
    decode,
)
from app.adapters.journal_recovery import START, pieces
from app.core.history import Bared, Cleared, Entry, Pinned, Remark, Rewound, Undone
from app.errors import FormatTooNew

BUFFER = 1 << 20
_MARKS = {
    Cleared: "cleared",
    Undone: "undone",
    Pinned: "pinned",
    Bared: "bared",
    Rewound: "rewound",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record stands in its file."""

    offset: int
    length: int


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


class MessageIndex:
    """Where each message of one segment stands, by message number and by result number; 32 bytes a message."""

    def __init__(self) -> None:
        self._offsets = array("Q")
        self._lengths = array("Q")
        self._numbers = array("Q")
        self._result_firsts = array("Q")
        self._result_rows = array("Q")
        self.next_result = 0
        """Number after the last result in the segment; 0 when it has none."""

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def first(self) -> int:
        """Number of the first message; 0 when there is none."""
        return self._numbers[0] if self._numbers else 0

    @property
    def last(self) -> int:
        """Number of the last message; 0 when there is none."""
        return self._numbers[-1] if self._numbers else 0

    def add(self, place: Place, number: int, first_result: int, results: int) -> None:
        """Add the next message; one whose number is not higher than the last is a copy and left out."""
        if number <= self.last:
            return
        if results and first_result:
            self._result_firsts.append(first_result)
            self._result_rows.append(len(self._numbers))
            self.next_result = first_result + results
        self._offsets.append(place.offset)
        self._lengths.append(place.length)
        self._numbers.append(number)

    def place(self, row: int) -> Place:
        """Return where the message of a row stands."""
        return Place(self._offsets[row], self._lengths[row])

    def row(self, number: int) -> int | None:
        """Return the row of a message number."""
        row = bisect_left(self._numbers, number)
        return row if row < len(self) and self._numbers[row] == number else None

    def rows_before(self, number: int) -> int:
        """Return how many messages have a lower number."""
        return bisect_left(self._numbers, number)

    def row_of_result(self, result: int) -> int | None:
        """Return the row of the message that may hold a result."""
        at = bisect_right(self._result_firsts, result)
        return self._result_rows[at - 1] if at else None


@dataclass(slots=True)
class SegmentScan:
    """A transcript segment."""

    index: MessageIndex
    tail: Tail
    commit: Place | None = None
    first_number: int = 0
    """From its commit line; 0 without one."""
    first_result: int = 0


@dataclass(frozen=True, slots=True)
class MarkPlace:
    """A mark in the events file."""

    seq: int
    kind: str
    place: Place


@dataclass(slots=True)
class EventScan:
    """The events file."""

    marks: list[MarkPlace]
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
        head = MESSAGE_HEAD.match(line) if is_plain(line) else None
        if head:
            seq, number, first, count = map(int, head.groups())
            scan.index.add(Place(offset, len(line)), number, first, count)
            _good(scan.tail, offset, line, seq)
        elif is_plain(line) and (head := COMMIT_HEAD.match(line)):
            _take_commit(scan, Place(offset, len(line)), *map(int, head.groups()))
            _good(scan.tail, offset, line, int(head[1]))
        else:
            _read_pieces(scan, offset, line, row)
    return scan


def scan_events(path: Path) -> EventScan:
    """Read the events file once; a missing one is empty. Raises as `scan_segment` does."""
    scan = EventScan([], Tail())
    for row, (offset, line) in enumerate(_lines_or_none(path), start=1):
        head = EVENT_HEAD.match(line) if is_plain(line) else None
        if head is None:
            _read_pieces(scan, offset, line, row)
            continue
        seq = int(head[1])
        if head[2] == b"mark":
            kind = head[3].decode("ascii", "replace")
            scan.marks.append(MarkPlace(seq, kind, Place(offset, len(line))))
        _good(scan.tail, offset, line, seq)
    return scan


def _lines_or_none(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        yield from lines(path)
    except FileNotFoundError:
        return


def is_plain(line: bytes) -> bool:
    """Whether a line looks whole and holds one record only."""
    return line.endswith(b"}\n") and line.find(START, 1) < 0


def _good(tail: Tail, offset: int, line: bytes, seq: int) -> None:
    tail.end = offset + len(line)
    tail.needs_newline = not line.endswith(b"\n")
    tail.last_seq = max(tail.last_seq, seq)
    tail.lost_at_end = 0


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
        scan.tail.last_seq = max(scan.tail.last_seq, _seq(stored))
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
            results = len(stored.message.tool_results)
            scan.index.add(place, stored.number, stored.first_result, results)
        case SegmentScan(), CommitLine(commit, number, result):
            _take_commit(scan, place, commit.seq, commit.number, number, result)
        case EventScan(), Cleared() | Undone() | Pinned() | Bared() | Rewound():
            scan.marks.append(MarkPlace(stored.seq, _MARKS[type(stored)], place))
        case _:
            pass


def _take_commit(
    scan: SegmentScan, place: Place, _seq: int, _commit: int, number: int, result: int
) -> None:
    if scan.commit is None:
        scan.commit, scan.first_number, scan.first_result = place, number, result


def _seq(stored: object) -> int:
    match stored:
        case CommitLine(commit):
            return commit.seq
        case Entry(seq=seq) | Cleared(seq=seq) | Undone(seq=seq) | Pinned(seq=seq):
            return seq
        case Bared(seq=seq) | Rewound(seq=seq) | Remark(seq=seq):
            return seq
    return 0
