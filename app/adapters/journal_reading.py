"""Reads a session's files on demand; only an index of them stays in memory.

Nothing here writes, repairs or locks, so a session can be read while another process writes it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import BinaryIO

from app.adapters.journal_format import (
    COMMIT_HEAD,
    MARK_NAMES,
    CommitLine,
    Stored,
    decode_line,
)
from app.adapters.journal_holding import HELD_BYTES, cleared_results, newest, telling
from app.adapters.journal_index import Place
from app.adapters.journal_scan import (
    EventScan,
    SegmentScan,
    damage_notices,
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
_VIEW_MARKS = frozenset({"cleared", "undone", "bared", "rewound"})


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
        self.left_out = 0
        """Messages since the last compaction that are too many to be held."""

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
        if self.left_out:
            told.append(
                f"What was said since the last compaction is more than any model takes: {self.left_out:,} messages are "
                "not in the context. All of them are in the record; scroll up, or search and recall them."
            )
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
        counting = self.counting(cut)
        undone = self.undone(cut)
        base: Commit | None = None
        items: list[HistoryItem] = []
        since: list[int] = []
        for segment in reversed([n for n in self.segments if n <= last]):
            since.insert(0, segment)
            commit = self.commit(segment - 1)
            if commit is None:
                continue
            items.append(commit)
            if commit.number not in undone and commit.seq in counting:
                base = commit
                break
        until = cut.seq if cut else None
        marks = self._marks(_VIEW_MARKS, since=base.seq if base else 0, until=until)
        if base is not None:
            items += self.messages([int(kept[1:]) for kept in base.kept if kept[1:].isdecimal()])
        items += self._since(since, cleared_results(m for m in marks if m.seq in counting))
        items += marks
        items += self._marks({"pinned"}, until=until)
        return tuple(sorted((i for i in items if i.seq in counting), key=lambda item: item.seq))

    def undone(self, before: Commit | None = None) -> frozenset[int]:
        """Return the numbers of the compactions that were taken back (before another one was made, if given)."""
        counting = self.counting(before)
        marks = [mark for mark in self._marks({"undone"}) if mark.seq in counting]
        return frozenset(mark.commit for mark in marks if isinstance(mark, Undone))

    def counting(self, before: Commit | None = None) -> Live:
        """Return what of the record was not rewound (before a compaction was made, if given)."""
        marks = [mark for mark in self._marks({"rewound"}) if isinstance(mark, Rewound)]
        return live(marks, before=before.seq if before else None)

    def rewinds(self) -> tuple[Rewound, ...]:
        """Return the rewinds that count, oldest first."""
        counting = self.counting()
        marks = [mark for mark in self._marks({"rewound"}) if mark.seq in counting]
        return tuple(mark for mark in marks if isinstance(mark, Rewound))

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
        self,
        kinds: Set[str],
        *,
        since: int = 0,
        until: int | None = None,
        limit: int | None = None,
    ) -> tuple[Remark, ...]:
        """Return the oldest ``limit`` remarks of these kinds after ``since`` and before ``until``, oldest first."""
        found = islice(self.events.remarks.find(kinds, since=since, until=until), limit)
        stored = self._read(self.folder / EVENTS_FILE, (place for _, place in found))
        return tuple(item for item in stored if isinstance(item, Remark))

    def messages(self, numbers: Iterable[int]) -> tuple[Entry, ...]:
        """Return these messages in order of their numbers; unknown ones are left out."""
        by_segment: dict[int, list[int]] = {}
        firsts = [start.number for start in self._all_starts()]
        for number in sorted(set(numbers)):
            segment = self._segment_of(number, firsts)
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
        self.scan(self.segments[-1]).index.add_entry(entry, place)

    def noted(self, event: Mark | Remark, place: Place) -> None:
        """Note a mark or a remark that was written."""
        if isinstance(event, Remark):
            self.events.remarks.add(event.kind, event.seq, place.offset, place.length)
        else:
            name = MARK_NAMES[type(event)]
            self.events.marks.add(name, event.seq, place.offset, place.length)

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

    def _since(self, segments: Sequence[int], cleared: Set[int]) -> list[Entry]:
        """Return the messages of these segments; of more than can be held the newest, and what tells of the rest."""
        files = [(self.segment_path(n), self.scan(n).index) for n in segments]
        if sum(index.bytes for _, index in files) <= HELD_BYTES:
            rows = ((segment, range(len(self.scan(segment).index))) for segment in segments)
            return [entry for segment, all_ in rows for entry in self._entries(segment, all_)]
        held = newest(files, self._read_with_places, cleared)
        told = telling(files, held[0].number if held else None)
        self.left_out = sum(len(index) for _, index in files) - len(held)
        return [*told, *held]

    def _entries(self, segment: int, rows: Sequence[int]) -> list[Entry]:
        index = self.scan(segment).index
        path = self.segment_path(segment)
        stored = self._read(path, [index.place(row) for row in rows])
        return [item for item in stored if isinstance(item, Entry)]

    def _marks(self, kinds: Set[str], *, since: int = 0, until: int | None = None) -> list[Mark]:
        found = self.events.marks.find(kinds, since=since, until=until)
        stored = self._read(self.folder / EVENTS_FILE, [place for _, place in found])
        return [item for item in stored if not isinstance(item, Entry | CommitLine | Remark)]

    def _read(self, path: Path, places: Iterable[Place]) -> Iterator[Stored]:
        """Yield the records at these places; one that cannot be read is noted and left out."""
        return (stored for stored, _ in self._read_with_places(path, places))

    def _read_with_places(
        self, path: Path, places: Iterable[Place]
    ) -> Iterator[tuple[Stored, Place]]:
        with ExitStack() as stack:
            file: BinaryIO | None = None
            for place in places:
                file = file or stack.enter_context(path.open("rb"))
                file.seek(place.offset)
                try:
                    stored = decode_line(file.read(place.length))
                except ValueError:
                    self._note_unreadable(path, place)
                    continue
                yield stored, place

    def _note_unreadable(self, path: Path, place: Place) -> None:
        row = 1 + sum(1 for offset, _ in lines(path) if offset < place.offset)
        self._unreadable.setdefault(path.name, set()).add(row)
