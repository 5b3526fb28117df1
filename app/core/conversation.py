"""The conversation: what the next request sends, as a pure function of what the record holds.

`Conversation` is folded from history items, one after another; `replay` folds a whole record. Compaction decides
elsewhere; here its decisions are only applied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from app.core.folding import Fold
from app.core.history import Cleared, Commit, Entry, HistoryItem, Undone
from app.core.messages import (
    Block,
    JsonObject,
    Message,
    Text,
    ToolResult,
    ToolUse,
    ended,
    without_thinking,
)
from app.core.pairing import Part, distinct, of_its_role, paired, put
from app.core.rewinds import live_items
from app.core.view_parts import ResultRef, Sizes

NO_OUTPUT = "(no output)"
"""Stands for a tool result without content: some endpoints refuse an empty one."""


@dataclass(frozen=True, slots=True)
class View:
    """The messages of the next request and where their parts come from."""

    messages: tuple[Message, ...]
    origins: tuple[tuple[str, ...], ...]
    """For each message the ids of the record's messages in it; () for the summary alone."""
    results: tuple[ResultRef, ...]
    """The tool results in it, oldest first."""

    def place(self, result: str) -> tuple[int, int] | None:
        """Return the (message, block) position of ``r<N>``, None when it is not in the view."""
        ref = next((ref for ref in self.results if ref.id == result), None)
        for at, ids in enumerate(self.origins):
            if ref is None or ref.entry not in ids:
                continue
            for block_at, block in enumerate(self.messages[at].content):
                if isinstance(block, ToolResult) and block.tool_use_id == ref.tool_use_id:
                    return at, block_at
        return None


@dataclass(frozen=True, slots=True)
class Conversation:
    """The state that the view is made from."""

    head: Message | None = None
    """The summary message of the compaction in force."""
    base: int = 0
    """Number of that compaction; 0 before the first."""
    facts: JsonObject = field(default_factory=dict)
    """Its facts, see `Commit.facts`."""
    entries: tuple[Entry, ...] = ()
    """The record's messages in the view, oldest first."""
    results: tuple[ResultRef, ...] = ()
    """All tool results in the view, oldest first, also the cleared ones."""
    live: tuple[ResultRef, ...] = ()
    """Those of them that stand in the view whole, so that layer 1 need not look at cleared ones again."""
    own_tokens: tuple[float, ...] = ()
    """For each entry the raw tokens, up to its end, of everything that is not a tool result's content."""
    stubs: Mapping[str, str] = field(default_factory=dict)
    """Cleared results and the lines that stand for them."""
    pinned: frozenset[str] = frozenset()
    bare: frozenset[str] = frozenset()
    """Messages whose thinking was removed."""
    sizes: Sizes = field(default_factory=Sizes)
    calls: Mapping[str, ToolUse] = field(default_factory=dict)
    """The calls of the last assistant message, by id."""

    @property
    def open_calls(self) -> tuple[ToolUse, ...]:
        """Calls of the last message that nothing has answered yet."""
        if not self.entries or self.entries[-1].message.role != "assistant":
            return ()
        return self.entries[-1].message.tool_uses

    @property
    def unseen_from(self) -> int:
        """Position in ``entries`` of the first message that no answer of the model followed."""
        at = len(self.entries)
        while at and self.entries[at - 1].message.role == "user":
            at -= 1
        return at

    def append(self, entry: Entry) -> Conversation:
        """Return the conversation with one more message."""
        return self.extend((entry,))

    def extend(self, entries: Iterable[Entry]) -> Conversation:
        """Return the conversation with more messages; the same as one after another, but copied only once."""
        return self._after(*entries)

    def clear(self, cleared: Cleared) -> Conversation:
        """Return the conversation with results replaced by their stubs; results not in the view are ignored."""
        return self._after(cleared)

    def compact(self, commit: Commit) -> Conversation:
        """Return the conversation after a compaction."""
        return self._after(commit)

    def apply(self, item: HistoryItem) -> Conversation:
        """Return the conversation after one item of the record; undoing needs `replay`."""
        return self._after(item)

    def _after(self, *items: HistoryItem) -> Conversation:
        fold = Fold(
            head=self.head,
            base=self.base,
            facts=self.facts,
            entries=list(self.entries),
            results=list(self.results),
            live={ref.number: ref for ref in self.live},
            own_tokens=list(self.own_tokens),
            stubs=dict(self.stubs),
            pinned=self.pinned,
            bare=set(self.bare),
            sizes=self.sizes,
            calls=self.calls,
        )
        for item in items:
            fold.apply(item)
        return folded(fold)

    def view(self) -> View:
        """Return the messages of the next request: stubs in place, thinking removed, neighbours merged, pairs whole."""
        parts: list[Part] = [] if self.head is None else [(self.head, ())]
        lines = self._lines()
        for entry in self.entries:
            message = self._shown(entry, lines.get(entry.id, {}))
            if message.content:
                put(parts, message, entry.id)
        whole = paired(distinct(parts))
        messages = tuple(message for message, _ in whole)
        sources = tuple(ids for _, ids in whole)
        return View(messages, sources, self.results)

    def _lines(self) -> dict[str, dict[str, str]]:
        """Return the lines of cleared results: by message, by the id of the call."""
        lines: dict[str, dict[str, str]] = {}
        for ref in self.results if self.stubs else ():
            line = self.stubs.get(ref.id)
            if line is not None:
                lines.setdefault(ref.entry, {})[ref.tool_use_id] = line
        return lines

    def _shown(self, entry: Entry, lines: Mapping[str, str]) -> Message:
        """Return an entry as it is sent: stubs in place, no removed thinking, nothing empty."""
        message = without_thinking(entry.message) if entry.id in self.bare else entry.message
        message = of_its_role(message)
        if not lines and not any(map(_is_empty, message.content)):
            return ended(message)
        blocks: list[Block] = []
        for block in message.content:
            if isinstance(block, ToolResult):
                shown = lines.get(block.tool_use_id, block.content)
                blocks.append(replace(block, content=shown or NO_OUTPUT))
            elif not _is_empty(block):
                blocks.append(block)
        return ended(Message(message.role, tuple(blocks)))


def folded(fold: Fold) -> Conversation:
    """Return the conversation that a fold has come to."""
    return Conversation(
        head=fold.head,
        base=fold.base,
        facts=fold.facts,
        entries=tuple(fold.entries),
        results=tuple(fold.results),
        live=tuple(fold.live.values()),
        own_tokens=tuple(fold.own_tokens),
        stubs=fold.stubs,
        pinned=fold.pinned,
        bare=frozenset(fold.bare),
        sizes=fold.sizes,
        calls=fold.calls,
    )


def in_force(items: Iterable[HistoryItem]) -> tuple[HistoryItem, ...]:
    """Return what the view is folded from: all but what was rewound, and the compactions that were taken back."""
    history = live_items(items)
    undone = {item.commit for item in history if isinstance(item, Undone)}
    return tuple(i for i in history if not (isinstance(i, Commit) and i.number in undone))


def replay(items: Iterable[HistoryItem]) -> Conversation:
    """Return the conversation that a record describes; ``items`` in order of ``seq``."""
    fold = Fold()
    for item in in_force(items):
        fold.apply(item)
    return folded(fold)


def _is_empty(block: Block) -> bool:
    """Whether the API would refuse the block for being empty."""
    if isinstance(block, ToolResult):
        return not block.content
    return isinstance(block, Text) and (not block.text or block.text.isspace())
