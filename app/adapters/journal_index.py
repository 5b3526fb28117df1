"""Where the records of a session's files stand, in a few bytes each."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Set
from dataclasses import dataclass

from app.core.history import Entry


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record stands in its file, in bytes."""

    offset: int
    length: int


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
        self._last_seq = 0

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

    @property
    def bytes(self) -> int:
        """What all its messages take in the file."""
        return sum(self._lengths)

    def add(
        self, seq: int, offset: int, length: int, number: int, *, first_result: int, results: int
    ) -> int:
        """Add the next message; return how many before it turn out to have a wrong number, and leave.

        A copy of an earlier message is left out. The number of a damaged line may be anything: one that is higher than
        that of the message behind it is wrong.
        """
        if number <= self.last and seq <= self._last_seq:
            return 0
        wrong = 0
        while number <= self.last:
            self._remove_last()
            wrong += 1
        if results and first_result:
            self._result_firsts.append(first_result)
            self._result_rows.append(len(self._numbers))
            self.next_result = first_result + results
        self._offsets.append(offset)
        self._lengths.append(length)
        self._numbers.append(number)
        self._last_seq = seq
        return wrong

    def add_entry(self, entry: Entry, place: Place) -> None:
        """Add a message that was read whole."""
        self.add(
            entry.seq,
            place.offset,
            place.length,
            entry.number,
            first_result=entry.first_result,
            results=len(entry.message.tool_results),
        )

    def _remove_last(self) -> None:
        self._offsets.pop()
        self._lengths.pop()
        self._numbers.pop()
        if self._result_rows and self._result_rows[-1] == len(self._numbers):
            self._result_rows.pop()
            self._result_firsts.pop()

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


class EventIndex:
    """Where each mark, or each remark, of the events file stands, by kind and ``seq``; 26 bytes each."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._kinds = array("H")
        self._seqs = array("Q")
        self._offsets = array("Q")
        self._lengths = array("Q")
        self._ascending = True

    def add(self, kind: str, seq: int, offset: int, length: int) -> None:
        """Add the next one."""
        self._kinds.append(self._names.setdefault(kind, len(self._names)))
        self._ascending = self._ascending and (not self._seqs or seq >= self._seqs[-1])
        self._seqs.append(seq)
        self._offsets.append(offset)
        self._lengths.append(length)

    def find(
        self, kinds: Set[str], *, since: int = 0, until: int | None = None
    ) -> Iterator[tuple[int, Place]]:
        """Yield (seq, place) of those of these kinds after ``since`` and before ``until``, oldest first."""
        wanted = bytes(name in kinds for name in self._names)
        for at in range(bisect_right(self._seqs, since) if self._ascending else 0, len(self._seqs)):
            if not wanted[self._kinds[at]]:
                continue
            seq = self._seqs[at]
            if seq > since and (until is None or seq < until):
                yield seq, Place(self._offsets[at], self._lengths[at])
