"""The fold of a record: its items taken one after another, each at the cost of that item alone.

`core.conversation` makes its values from it; a whole record is folded in one go without a copy for each item.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from app.core.history import (
    Bared,
    Cleared,
    Commit,
    Entry,
    HistoryItem,
    Pinned,
    Remark,
    Rewound,
    Undone,
)
from app.core.messages import JsonObject, Message, ToolUse
from app.core.record_ids import number_in
from app.core.tokens import estimate_message, estimate_text
from app.core.view_parts import ResultRef, Sizes, refs_of, sizes_of, thinking_tokens


@dataclass(slots=True)
class Fold:
    """What `Conversation` holds, while it grows; the fields mean the same."""

    head: Message | None = None
    base: int = 0
    facts: JsonObject = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    results: list[ResultRef] = field(default_factory=list)
    live: dict[int, ResultRef] = field(default_factory=dict)
    """By their numbers, oldest first."""
    own_tokens: list[float] = field(default_factory=list)
    stubs: dict[str, str] = field(default_factory=dict)
    pinned: frozenset[str] = frozenset()
    bare: set[str] = field(default_factory=set)
    sizes: Sizes = field(default_factory=Sizes)
    calls: Mapping[str, ToolUse] = field(default_factory=dict)

    def apply(self, item: HistoryItem) -> None:
        """Take one item of the record; what was undone or rewound must be left out by the caller."""
        match item:
            case Entry():
                self.append(item)
            case Cleared(_, stubs, bare):
                self.clear(stubs, bare)
            case Commit():
                self.compact(item)
            case Pinned(_, results, on):
                self.pinned = self.pinned | set(results) if on else self.pinned - set(results)
            case Bared(_, messages):
                self.remove_thinking(messages)
            case Undone(_, _, bare):
                self.remove_thinking(bare)
            case Rewound() | Remark():
                pass

    def append(self, entry: Entry) -> None:
        """Take one more message."""
        refs = refs_of(entry, self.calls)
        if entry.message.role == "assistant":
            self.calls = {call.id: call for call in entry.message.tool_uses}
        part = sizes_of(entry, refs)
        own = self.own_tokens[-1] if self.own_tokens else 0.0
        self.own_tokens.append(own + (part.words + part.other))
        self.sizes += part
        self.entries.append(entry)
        self.results += refs
        self.live.update((ref.number, ref) for ref in refs)

    def clear(self, stubs: Mapping[str, str], bare: Sequence[str]) -> None:
        """Put stubs in the place of results; results not in the view are ignored."""
        delta = 0.0
        for id_, line in stubs.items():
            ref = self.live.pop(number_in(id_), None)
            if ref is not None:
                self.stubs[id_] = line
                delta += estimate_text(line) - ref.tokens
        self.sizes += Sizes(results=delta)
        self.remove_thinking(bare)

    def remove_thinking(self, ids: Iterable[str]) -> None:
        """Remove the thinking of these messages, for good."""
        wanted = set(ids) - self.bare
        if not wanted:
            return
        removed = sum(thinking_tokens(e) for e in self._named(wanted))
        self.bare |= wanted
        self.sizes += Sizes(other=-removed)

    def compact(self, commit: Commit) -> None:
        """Take a compaction: its head, and of the messages those that it keeps."""
        kept = self._named(set(commit.kept))
        self.head, self.base, self.facts = commit.head, commit.number, commit.facts
        self.entries, self.results, self.live, self.own_tokens = [], [], {}, []
        self.stubs, self.bare, self.calls = {}, set(), {}
        self.sizes = Sizes(summary=estimate_message(commit.head))
        for entry in kept:
            self.append(entry)
        self.clear(commit.stubs, commit.bare)

    def _named(self, ids: set[str]) -> list[Entry]:
        """Return the messages of these ids, oldest first; their numbers ascend, so each is found by bisection."""
        found = []
        for number in sorted(map(number_in, ids)):
            at = bisect_left(self.entries, number, key=_number)
            if at < len(self.entries) and self.entries[at].number == number:
                found.append(self.entries[at])
        return found


def _number(entry: Entry) -> int:
    return entry.number
