"""The conversation: what the next request sends, as a pure function of what the record holds.

`Conversation` is folded from history items, one after another; `replay` folds a whole record. Compaction decides
elsewhere; here its decisions are only applied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.core.effects import Effects
from app.core.history import Bared, Cleared, Commit, Entry, HistoryItem, Pinned, Remark, Undone
from app.core.messages import (
    Block,
    JsonObject,
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    without_thinking,
)
from app.core.tokens import estimate_block, estimate_message, estimate_result, estimate_text

NO_EFFECTS = Effects()
NO_OUTPUT = "(no output)"
"""Stands for a tool result without content: some endpoints refuse an empty one."""


@dataclass(frozen=True, slots=True)
class ResultRef:
    """A tool result of the view, with the call that asked for it."""

    number: int
    entry: str
    """Id of the message it stands in."""
    block: int
    """Its position in that message's content."""
    tool_use_id: str
    tool: str
    """Name of the tool; "unknown" when the call is not known."""
    input: JsonObject
    effects: Effects
    tokens: float
    """Estimated tokens of the original content, before the session's factor."""
    chars: int
    """Characters of its text."""
    is_error: bool

    @property
    def id(self) -> str:
        """``r<N>``."""
        return f"r{self.number}"


@dataclass(frozen=True, slots=True)
class Sizes:
    """Estimated tokens of the view by part, before the session's factor."""

    summary: float = 0.0
    words: float = 0.0
    """What the user wrote."""
    results: float = 0.0
    """Tool results, cleared ones at the size of their stubs."""
    other: float = 0.0
    """The model's own messages and notes."""

    @property
    def total(self) -> float:
        """All parts together."""
        return self.summary + self.words + self.results + self.other

    def __add__(self, other: Sizes) -> Sizes:
        return Sizes(
            self.summary + other.summary,
            self.words + other.words,
            self.results + other.results,
            self.other + other.other,
        )


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
    sizes: Sizes = Sizes()
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

    def extend(self, entries: Sequence[Entry]) -> Conversation:
        """Return the conversation with more messages; the same as one after another, but copied only once."""
        if not entries:
            return self
        calls, sizes = self.calls, self.sizes
        own = self.own_tokens[-1] if self.own_tokens else 0.0
        results: list[ResultRef] = []
        own_tokens: list[float] = []
        for entry in entries:
            refs = _refs(entry, calls)
            if entry.message.role == "assistant":
                calls = {call.id: call for call in entry.message.tool_uses}
            part = _sizes(entry, refs)
            own += part.words + part.other
            sizes += part
            results += refs
            own_tokens.append(own)
        return replace(
            self,
            entries=(*self.entries, *entries),
            results=(*self.results, *results) if results else self.results,
            live=(*self.live, *results) if results else self.live,
            own_tokens=(*self.own_tokens, *own_tokens),
            sizes=sizes,
            calls=calls,
        )

    def clear(self, cleared: Cleared) -> Conversation:
        """Return the conversation with results replaced by their stubs; results not in the view are ignored."""
        known = {ref.id: ref for ref in self.live}
        stubs = {i: line for i, line in cleared.stubs.items() if i in known}
        delta = sum(estimate_text(line) - known[i].tokens for i, line in stubs.items())
        conversation = replace(
            self,
            stubs={**self.stubs, **stubs},
            live=tuple(ref for i, ref in known.items() if i not in stubs),
            sizes=self.sizes + Sizes(results=delta),
        )
        return conversation.without_thinking(cleared.bare)

    def without_thinking(self, ids: Iterable[str]) -> Conversation:
        """Return the conversation with the thinking of these messages removed, for good."""
        wanted = set(ids) - self.bare
        if not wanted:
            return self
        removed = sum(_thinking_tokens(e) for e in self.entries if e.id in wanted)
        return replace(self, bare=self.bare | wanted, sizes=self.sizes + Sizes(other=-removed))

    def compact(self, commit: Commit) -> Conversation:
        """Return the conversation after a compaction."""
        kept_ids = set(commit.kept)
        fresh = Conversation(
            head=commit.head,
            base=commit.number,
            facts=commit.facts,
            pinned=self.pinned,
            sizes=Sizes(summary=estimate_message(commit.head)),
        )
        fresh = fresh.extend([entry for entry in self.entries if entry.id in kept_ids])
        return fresh.clear(Cleared(commit.seq, commit.stubs, commit.bare))

    def apply(self, item: HistoryItem) -> Conversation:
        """Return the conversation after one item of the record; undoing needs `replay`."""
        match item:
            case Entry():
                return self.append(item)
            case Cleared():
                return self.clear(item)
            case Commit():
                return self.compact(item)
            case Pinned(_, results, on):
                return replace(
                    self, pinned=self.pinned | set(results) if on else self.pinned - set(results)
                )
            case Bared(_, messages):
                return self.without_thinking(messages)
            case Undone(_, _, bare):
                return self.without_thinking(bare)
            case Remark():
                return self

    def view(self) -> View:
        """Return the messages of the next request: stubs in place, thinking removed, neighbours merged."""
        merged: list[tuple[Message, tuple[str, ...]]] = []
        if self.head is not None:
            merged.append((self.head, ()))
        lines = self._lines()
        for entry in self.entries:
            message = self._shown(entry, lines.get(entry.id, {}))
            if not message.content:
                continue
            if merged and merged[-1][0].role == message.role:
                before, origins = merged[-1]
                merged[-1] = (_join(before, message), (*origins, entry.id))
            else:
                merged.append((message, (entry.id,)))
        messages = tuple(message for message, _ in merged)
        sources = tuple(ids for _, ids in merged)
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
        if not lines and not any(map(_is_empty, message.content)):
            return _ended(message)
        blocks: list[Block] = []
        for block in message.content:
            if isinstance(block, ToolResult):
                shown = lines.get(block.tool_use_id, block.content)
                blocks.append(replace(block, content=shown or NO_OUTPUT))
            elif not _is_empty(block):
                blocks.append(block)
        return _ended(Message(message.role, tuple(blocks)))


def replay(items: Iterable[HistoryItem]) -> Conversation:
    """Return the conversation that a record describes; ``items`` in order of ``seq``."""
    history = tuple(items)
    undone = {item.commit for item in history if isinstance(item, Undone)}
    conversation = Conversation()
    new: list[Entry] = []
    for item in history:
        if isinstance(item, Entry):
            new.append(item)
        elif not (isinstance(item, Commit) and item.number in undone):
            conversation = conversation.extend(new).apply(item)
            new.clear()
    return conversation.extend(new)


def _is_empty(block: Block) -> bool:
    """Whether the API would refuse the block for being empty."""
    if isinstance(block, ToolResult):
        return not block.content
    return isinstance(block, Text) and (not block.text or block.text.isspace())


def _refs(entry: Entry, calls: Mapping[str, ToolUse]) -> tuple[ResultRef, ...]:
    if not entry.first_result:
        return ()
    refs: list[ResultRef] = []
    for at, block in enumerate(entry.message.content):
        if not isinstance(block, ToolResult):
            continue
        call = calls.get(block.tool_use_id)
        refs.append(
            ResultRef(
                number=entry.first_result + len(refs),
                entry=entry.id,
                block=at,
                tool_use_id=block.tool_use_id,
                tool=call.name if call else "unknown",
                input=call.input if call else {},
                effects=entry.effects.get(block.tool_use_id, NO_EFFECTS),
                tokens=estimate_result(block),
                chars=len(block.text),
                is_error=block.is_error,
            )
        )
    return tuple(refs)


def _sizes(entry: Entry, refs: tuple[ResultRef, ...]) -> Sizes:
    results = sum(ref.tokens for ref in refs)
    words = sum(estimate_block(entry.message.content[i]) for i in entry.spoken)
    other = estimate_message(entry.message) - results - words
    return Sizes(words=words, results=results, other=other)


def _thinking_tokens(entry: Entry) -> float:
    return sum(estimate_block(b) for b in entry.message.content if isinstance(b, Thinking))


def _ended(message: Message) -> Message:
    """Return an answer that was cut off while it thought without that thinking: no message may end with it."""
    end = len(message.content)
    while message.role == "assistant" and end and isinstance(message.content[end - 1], Thinking):
        end -= 1
    return message if end == len(message.content) else Message(message.role, message.content[:end])


def _join(first: Message, second: Message) -> Message:
    """Join two neighbours of one role; tool results come first, as the API wants them."""
    blocks = (*first.content, *second.content)
    results = tuple(block for block in blocks if isinstance(block, ToolResult))
    rest = tuple(block for block in blocks if not isinstance(block, ToolResult))
    return Message(first.role, (*results, *rest))
