"""What the record holds: messages, compactions and the marks that change the view.

All items carry one running `seq` over both files of a session. Ids are stable for ever: ``m<N>`` is the Nth message
of the record, ``r<N>`` its Nth tool result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.core.effects import Effects
from app.core.messages import JsonObject, Message
from app.core.reports import Layer


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of the record."""

    seq: int
    number: int
    """Nth message of the record, from 1."""
    time: str
    """UTC, ISO 8601."""
    message: Message
    spoken: tuple[int, ...] = ()
    """Positions in ``message.content`` of the texts that the user wrote."""
    effects: Mapping[str, Effects] = field(default_factory=dict)
    """By ``tool_use_id``, for each tool result in the message."""
    first_result: int = 0
    """Number of its first tool result; the others follow. 0 when it has none."""

    @property
    def id(self) -> str:
        """``m<N>``."""
        return f"m{self.number}"

    @property
    def words(self) -> str:
        """What the user wrote in this message; "" when nothing."""
        return "\n\n".join(self.message.content[i].text for i in self.spoken)  # type: ignore[union-attr]


@dataclass(frozen=True, slots=True)
class Cleared:
    """Layer 1 replaced results by one-line stubs."""

    seq: int
    stubs: Mapping[str, str]
    """Result id to the line that stands for it."""
    bare: tuple[str, ...] = ()
    """Messages whose thinking was removed with it, for good."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A compaction: all that the new view needs. First line of its transcript segment."""

    seq: int
    number: int
    """Nth compaction of the record, from 1; its messages go to ``transcript_<number + 1>``."""
    time: str
    layer: Layer
    head: Message
    """The message that stands for what was replaced."""
    replaced: tuple[str, str]
    """First and last message id of the view that it replaced."""
    kept: tuple[str, ...] = ()
    """Messages that stay in the view after the head, oldest first."""
    stubs: Mapping[str, str] = field(default_factory=dict)
    """Results among the kept ones that were already cleared."""
    bare: tuple[str, ...] = ()
    """Kept messages whose thinking was removed."""
    summary: str = ""
    """The model's part of the head, as it wrote it; "" for a digest by code."""
    facts: JsonObject = field(default_factory=dict)
    """What code knows of everything before it, as `compaction.facts` writes and reads it."""


@dataclass(frozen=True, slots=True)
class Undone:
    """A compaction was taken back; the view before it holds again."""

    seq: int
    commit: int
    bare: tuple[str, ...] = ()
    """Messages made since, whose thinking no longer fits."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """Results that layer 1 must leave alone, or may clear again."""

    seq: int
    results: tuple[str, ...]
    on: bool = True


@dataclass(frozen=True, slots=True)
class Bared:
    """All thinking was removed from these messages, for good (another model, or a rejected signature)."""

    seq: int
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Remark:
    """Anything else worth keeping: usage, approvals, queue, prompt in force, reports, errors.

    `core.remarks` names the kinds and the shape of their data.
    """

    seq: int
    time: str
    kind: str
    data: JsonObject


@dataclass(frozen=True, slots=True)
class Rewound:
    """The user went back: the conversation is as it was just before an earlier item, and goes on from there.

    Nothing is deleted: `core.rewinds` says what counts. Going back to just before a rewind takes it back.
    """

    seq: int
    before: int
    """``seq`` of that item; its own when only files went back."""
    message: str = ""
    """Id of the user's message before which it was; "" when a rewind was taken back."""
    files: bool = False
    """Whether files went back with it."""
    time: str = field(default="", compare=False)
    """UTC, ISO 8601, where it was read from the record."""


Mark = Cleared | Undone | Pinned | Bared | Rewound
"""What changes the view without being a message."""
HistoryItem = Entry | Commit | Mark | Remark
