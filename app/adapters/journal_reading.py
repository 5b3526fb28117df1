"""Reads a session's files on demand; only an index of them stays in memory.

Nothing here writes, repairs or locks, so a session can be read while another process writes it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

from app.adapters.journal_format import (
    COMMIT_HEAD,
    EVENT_HEAD,
    CommitLine,
    Stored,
    decode,
    decode_line,
)
from app.adapters.journal_recovery import pieces
from app.adapters.journal_scan import (
    EventScan,
    MarkPlace,
    Place,
    SegmentScan,
    damage_notices,
    is_plain,
    lines,
    scan_events,
    scan_segment,
)
from app.core.history import Commit, Entry, HistoryItem, Mark, Remark, Rewound, Undone
from app.core.rewinds import Live, live
from app.errors import SessionNotFound

EVENTS_FILE = "events.jsonl"
OUTPUTS_FOLDER = "outputs"
SEGMENT_NAME = re.compile(r"transcript_(\d{4,})\.jsonl")

_HEAD_BYTES = 256


@dataclass(frozen=True, slots=True)
class Counters:
    """The numbers that the next things written get."""

    seq: int = 1
    number: int = 1
    result: int = 1
    commit: int = 1


@dataclass(frozen=True, slots=True)
class _Start:
    """Where a segment begins in the record's numbers."""

    segment: int
    number: int
    result: int


def segment_name(segment: int) -> str:
    """Return the file name of a segment, numbered from 1."""
    return f"transcript_{segment:04}.jsonl"


def segment_numbers(folder: Path) -> list[int]:
    """Return the numbers of the segments in a session's folder, ascending."""
    found = (SEGMENT_NAME.fullmatch(path.name) for path in folder.iterdir())
    return sorted(int(match[1]) for match in found if match)


class SessionReader:
    """The record of one session, read piece by piece. All methods block; one thread at a time.

    Args:
        folder: The session's folder.

    Raises:
        SessionNotFound: There is no transcript in it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.segments = segment_numbers(folder)
        except (FileNotFoundError, NotADirectoryError):
            self.segments = []
        if not self.segments:
            raise SessionNotFound(f"there is no session in {folder}")
        self._scans: dict[int, SegmentScan] = {}
        self._starts: list[_Start] = []
        self._events: EventScan | None = None
        self._events_missing = not (folder / EVENTS_FILE).exists()
        self._unreadable: dict[str, set[int]] = {}

    # State

    def segment_path(self, segment: int) -> Path:
        """Return the file of a segment."""
        return self.folder / segment_name(segment)

    def scan(self, segment: int) -> SegmentScan:
        """Return the index of a segment; read at the first call."""
        if segment not in self._scans:
            self._scans[segment] = scan_segment(self.segment_path(segment))
        return self._scans[segment]

    @property
    def events(self) -> EventScan:
        """Where the marks stand in the events file; read at the first look."""
        if self._events is None:
            self._events = scan_events(self.folder / EVENTS_FILE)
        return self._events

    @property
    def notices(self) -> tuple[str, ...]:
        """What was found damaged so far, one sentence a file, for a person."""
        told: list[str] = []
        gaps = [n for a, b in pairwise((0, *self.segments)) for n in range(a + 1, b)]
        told += [f"{segment_name(n)} is missing; its messages cannot be shown." for n in gaps]
        if self._events_missing:
            told.append(f"{EVENTS_FILE} is missing: cleared results are whole again.")
        tails = [(segment_name(n), scan.tail) for n, scan in sorted(self._scans.items())]
        if self._events is not None:
            tails.append((EVENTS_FILE, self._events.tail))
        for name, tail in tails:
            told += damage_notices(name, tail, self._unreadable.get(name, ()))
        return tuple(told)

    def counters(self) -> Counters:
        """Return the numbers that the record goes on with."""
        events = self.events
        seq, number, result = events.tail.last_seq + events.tail.lost_at_end, 0, 0
        for segment in reversed(self.segments):
            scan = self.scan(segment)
            lost = scan.tail.lost_at_end
            seq = max(seq, scan.tail.last_seq + lost)
            known = scan.index.last + 1 if scan.index.last else scan.first_number
            if segment == self.segments[0]:
                known = known or 1
            number = number or (known + lost if known else 0)
            result = result or scan.index.next_result or scan.first_result
            if number and result:
                break
        commit = max(self.segments[-1], *(number + 1 for number in self.undone()), 1)
        return Counters(seq + 1, number or 1, result or 1, commit)

    # Reading

    def history(self, before: int | None = None) -> tuple[HistoryItem, ...]:
        """Return what the view is replayed from, in order of ``seq``: no more than that.

        These are the newest compaction not undone, the messages it keeps, the pins before it, and every message,
        compaction and mark after it; nothing of it was rewound.

        Args:
            before: Number of a compaction: return what the view was replayed from just before it instead.
        """
        last = self.segments[-1] if before is None else before
        cut = self.commit(before) if before is not None else None
        places = [m for m in self.events.marks if cut is None or m.seq < cut.seq]
        counting = self.counting(cut)
        undone = self.undone(cut)
        base: Commit | None = None
        items: list[HistoryItem] = []
        for segment in reversed([n for n in self.segments if n <= last]):
            index = self.scan(segment).index
            items += self._entries(segment, range(len(index)))
            commit = self.commit(segment - 1)
            if commit is None:
                continue
            items.append(commit)
            if commit.number not in undone and commit.seq in counting:
                base = commit
                break
        floor = base.seq if base else 0
        if base is not None:
            items += self.messages([int(kept[1:]) for kept in base.kept if kept[1:].isdecimal()])
        items += self._marks([m for m in places if m.seq > floor or m.kind == "pinned"])
        return tuple(sorted((i for i in items if i.seq in counting), key=lambda item: item.seq))

    def undone(self, before: Commit | None = None) -> frozenset[int]:
        """Return the numbers of the compactions that were taken back (before another one was made, if given)."""
        counting = self.counting(before)
        places = [m for m in self.events.marks if m.kind == "undone" and m.seq in counting]
        return frozenset(m.commit for m in self._marks(places) if isinstance(m, Undone))

    def counting(self, before: Commit | None = None) -> Live:
        """Return what of the record was not rewound (before a compaction was made, if given)."""
        places = [m for m in self.events.marks if m.kind == "rewound"]
        marks = [mark for mark in self._marks(places) if isinstance(mark, Rewound)]
        return live(marks, before=before.seq if before else None)

    def rewinds(self) -> tuple[Rewound, ...]:
        """Return the rewinds that count, oldest first."""
        counting = self.counting()
        places = [m for m in self.events.marks if m.kind == "rewound" and m.seq in counting]
        return tuple(mark for mark in self._marks(places) if isinstance(mark, Rewound))

    def commit(self, number: int) -> Commit | None:
        """Return a compaction, or None when it is not in the record or cannot be read."""
        segment = number + 1
        if number < 1 or segment not in self.segments:
            return None
        path = self.segment_path(segment)
        with path.open("rb") as file:
            line = file.readline()
        try:
            stored = decode_line(line)
        except ValueError:
            place = self.scan(segment).commit
            found = list(self._read(path, [place])) if place else []
            stored = found[0] if found else None  # type: ignore[assignment]
        return stored.commit if isinstance(stored, CommitLine) else None

    def remarks(
        self, kinds: Set[str], *, since: int = 0, until: int | None = None
    ) -> tuple[Remark, ...]:
        """Return the remarks of these kinds after ``since`` and before ``until``, oldest first."""
        path = self.folder / EVENTS_FILE
        found: list[Remark] = []
        if not path.exists():
            return ()
        for _, line in lines(path):
            head = EVENT_HEAD.match(line)
            if head and _elsewhere(head, kinds, since, until) and is_plain(line):
                continue
            for piece in pieces(line)[0]:
                try:
                    stored = decode(piece.value)
                except ValueError:
                    continue
                if (
                    isinstance(stored, Remark)
                    and stored.kind in kinds
                    and stored.seq > since
                    and (until is None or stored.seq < until)
                ):
                    found.append(stored)
        return tuple(found)

    def messages(self, numbers: Iterable[int]) -> tuple[Entry, ...]:
        """Return these messages in order of their numbers; unknown ones are left out."""
        by_segment: dict[int, list[int]] = {}
        for number in sorted(set(numbers)):
            segment = self._segment_of(number, [start.number for start in self._all_starts()])
            row = self.scan(segment).index.row(number)
            if row is not None:
                by_segment.setdefault(segment, []).append(row)
        found = (self._entries(segment, rows) for segment, rows in by_segment.items())
        return tuple(chain.from_iterable(found))

    def page(self, before: int | None, limit: int) -> tuple[Entry, ...]:
        """Return up to ``limit`` messages before a message number (None: the newest), oldest first.

        What was rewound is left out.
        """
        counting = self.counting()
        found: list[Entry] = []
        for start in reversed(self._all_starts()):
            if before is not None and start.number >= before:
                continue
            segment, index = start.segment, self.scan(start.segment).index
            stop = len(index) if before is None else index.rows_before(before)
            while stop and len(found) < limit:
                first = max(0, stop - (limit - len(found)))
                entries = self._entries(segment, range(first, stop))
                found[:0] = [entry for entry in entries if entry.seq in counting]
                stop = first
            if len(found) >= limit:
                break
        return tuple(found)

    def result_entry(self, number: int) -> Entry | None:
        """Return the message that holds a tool result."""
        segment = self._segment_of(number, [start.result for start in self._all_starts()])
        row = self.scan(segment).index.row_of_result(number)
        for entry in self._entries(segment, [] if row is None else [row]):
            if entry.first_result <= number < entry.first_result + len(entry.message.tool_results):
                return entry
        return None

    def walk(self) -> Iterator[Commit | Entry]:
        """Yield every compaction and message of the record, oldest first, one at a time."""
        for segment in self.segments:
            commit = self.commit(segment - 1)
            if commit is not None:
                yield commit
            yield from self._entries(segment, range(len(self.scan(segment).index)))

    def walk_back(self) -> Iterator[Entry]:
        """Yield every message of the record, newest first."""
        for segment in reversed(self.segments):
            yield from self._entries(segment, range(len(self.scan(segment).index) - 1, -1, -1))

    # Kept in step by the writer

    def grew(self, entry: Entry, place: Place) -> None:
        """Note a message that was written to the last segment."""
        index = self.scan(self.segments[-1]).index
        index.add(place, entry.number, entry.first_result, len(entry.message.tool_results))

    def marked(self, place: MarkPlace) -> None:
        """Note a mark that was written."""
        self.events.marks.append(place)

    def began(self, segment: int) -> None:
        """Note a new segment."""
        self.segments.append(segment)

    # Inside

    def _all_starts(self) -> list[_Start]:
        """Return where each segment begins: from its commit line, else from what stands in it."""
        while len(self._starts) < len(self.segments):
            self._starts.append(self._find_start(self.segments[len(self._starts)]))
        return self._starts

    def _find_start(self, segment: int) -> _Start:
        if segment == self.segments[0]:
            return _Start(segment, 1, 1)
        with self.segment_path(segment).open("rb") as file:
            head = COMMIT_HEAD.match(file.read(_HEAD_BYTES))
        if head:
            return _Start(segment, int(head[3]), int(head[4]))
        before = self._starts[-1]
        return _Start(segment, self.scan(segment).index.first or before.number, before.result)

    def _segment_of(self, number: int, firsts: Sequence[int]) -> int:
        """Return the last segment that begins at or before a number and is not empty."""
        at = max(0, bisect_right(firsts, number) - 1)
        while at and not len(self.scan(self.segments[at]).index):
            at -= 1
        return self.segments[at]

    def _entries(self, segment: int, rows: Sequence[int]) -> list[Entry]:
        index = self.scan(segment).index
        path = self.segment_path(segment)
        stored = self._read(path, [index.place(row) for row in rows])
        return [item for item in stored if isinstance(item, Entry)]

    def _marks(self, places: Sequence[MarkPlace]) -> list[Mark]:
        stored = self._read(self.folder / EVENTS_FILE, [mark.place for mark in places])
        return [item for item in stored if not isinstance(item, Entry | CommitLine | Remark)]

    def _read(self, path: Path, places: Sequence[Place]) -> Iterator[Stored]:
        """Yield the records at these places; one that cannot be read is noted and left out."""
        if not places:
            return
        with path.open("rb") as file:
            for place in places:
                file.seek(place.offset)
                data = file.read(place.length)
                try:
                    stored = decode_line(data)
                except ValueError:
                    self._note_unreadable(path, place)
                    continue
                yield stored

    def _note_unreadable(self, path: Path, place: Place) -> None:
        row = 1 + sum(1 for offset, _ in lines(path) if offset < place.offset)
        self._unreadable.setdefault(path.name, set()).add(row)


def _elsewhere(head: re.Match[bytes], kinds: Set[str], since: int, until: int | None) -> bool:
    """Whether the head of a line of the events says that it holds none of these remarks."""
    seq = int(head[1])
    if seq <= since or (until is not None and seq >= until):
        return True
    return head[2] == b"mark" or head[3].decode("ascii", "replace") not in kinds
