"""What the agent needs from the outside world. Adapters and front ends implement these; tests have fakes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from app.core.effects import Effects
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
from app.core.messages import Image, JsonObject, Message, Text
from app.core.originals import Texts
from app.core.permission import ApprovalAnswer, ApprovalRequest
from app.core.prices import Price
from app.core.reports import Layer
from app.core.requests import ModelEvent, ModelInfo, ModelRequest, ToolSpec


class Clock(Protocol):
    """Time, so that tests can set it."""

    def now(self) -> str:
        """Return the time in UTC, ISO 8601 with milliseconds and a ``Z``."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""
        ...


class Model(Protocol):
    """A model behind the Messages API."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Send a request and yield what comes back, an `Answer` last. Close the iterator to cancel.

        Retries on its own, each announced by a `RetryWait`.

        Raises:
            ModelError: The call failed for good; no `Answer` was yielded.
        """
        ...

    async def warm_up(self) -> None:
        """Load what the first call needs, so that this time does not count as the endpoint's silence."""
        ...

    async def models(self) -> tuple[ModelInfo, ...]:
        """Return what the endpoint lists; () when it has no list."""
        ...

    async def info(self, model: str) -> ModelInfo | None:
        """Return what the endpoint says about a model, or None."""
        ...

    def price(self, model: str) -> Price | None:
        """Return the known price, or None."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


@dataclass(frozen=True, slots=True)
class CommitDraft:
    """A `Commit` before the record gave it its numbers and time."""

    layer: Layer
    head: Callable[[str], Message]
    """Makes the head from the path of the transcript that holds what is replaced."""
    replaced: tuple[str, str]
    kept: tuple[str, ...] = ()
    stubs: Mapping[str, str] = field(default_factory=dict)
    bare: tuple[str, ...] = ()
    summary: str = ""
    facts: JsonObject = field(default_factory=dict)


class Record(Protocol):
    """The append-only record of one session. It gives out seq, ids and times; every method is durable on return.

    All methods raise `RecordUnwritable` when nothing can be written; nothing is half-written then.
    """

    @property
    def session(self) -> str:
        """The session's name, such as ``2026-11-29T22-16-40Z-7f3a``."""
        ...

    @property
    def transcript(self) -> str:
        """Path of the current segment as people see it, ``.transcripts/<session>/transcript_0001.jsonl``."""
        ...

    @property
    def next_result(self) -> int:
        """Number that the next tool result will get."""
        ...

    @property
    def notices(self) -> tuple[str, ...]:
        """What was found damaged so far, one sentence each."""
        ...

    async def append(
        self,
        message: Message,
        *,
        spoken: Sequence[int] = (),
        effects: Mapping[str, Effects] | None = None,
    ) -> Entry:
        """Write one message."""
        ...

    async def clear(self, stubs: Mapping[str, str], *, bare: Sequence[str] = ()) -> Cleared:
        """Write that results were cleared."""
        ...

    async def pin(self, results: Sequence[str], *, on: bool = True) -> Pinned:
        """Write that results are pinned or free again."""
        ...

    async def bare(self, messages: Sequence[str]) -> Bared:
        """Write that thinking was removed for good."""
        ...

    async def commit(self, draft: CommitDraft) -> Commit:
        """Sync what is there, write the compaction as the first line of a new segment, and go on there."""
        ...

    async def undo(self, commit: int, *, bare: Sequence[str] = ()) -> Undone:
        """Write that a compaction was taken back."""
        ...

    async def rewind(self, before: int | None, *, message: str, files: bool) -> Rewound:
        """Write that the user went back to just before item ``before`` (None: with files alone)."""
        ...

    async def rewinds(self) -> tuple[Rewound, ...]:
        """Return the rewinds that count, oldest first."""
        ...

    async def remark(self, kind: str, data: JsonObject) -> Remark:
        """Write anything else."""
        ...

    async def remarks(
        self,
        kinds: Set[str],
        *,
        since: int = 0,
        until: int | None = None,
        limit: int | None = None,
    ) -> tuple[Remark, ...]:
        """Return the remarks of these kinds with a higher ``seq`` than ``since``, oldest first.

        Args:
            kinds: Names of `core.remarks`.
            since: Those up to this ``seq`` are left out.
            until: Those from this ``seq`` on are left out too; None for no end.
            limit: At most so many, the oldest; None for all.
        """
        ...

    async def sync(self) -> None:
        """Return when all that was written is on the disk."""
        ...

    async def history(self, *, before: int | None = None) -> tuple[HistoryItem, ...]:
        """Return the items that the view is made from, in order of seq: `replay` of them gives the conversation.

        With ``before``, the items behind the view right before compaction number ``before``.
        """
        ...

    async def compaction(self, number: int) -> Commit | None:
        """Return the Nth compaction, also an undone one, or None."""
        ...

    async def messages(self, numbers: Sequence[int]) -> tuple[Entry, ...]:
        """Return these messages of the record; unknown numbers are left out."""
        ...

    async def page(self, before: int | None, limit: int) -> tuple[Entry, ...]:
        """Return up to ``limit`` messages before message number ``before`` (None: the newest), oldest first."""
        ...

    async def result_entry(self, number: int) -> Entry | None:
        """Return the message that holds the Nth tool result."""
        ...

    def texts(self) -> AsyncGenerator[Texts, None]:
        """Yield all that was said, called, returned or stored, newest message first, in batches."""
        ...

    async def store_output(self, name: str, text: str | Iterable[str]) -> str:
        """Write a result's full text, or its pieces, to ``outputs/<name>``; return its path as people see it."""
        ...

    async def load_output(self, name: str) -> str | None:
        """Return a stored text, or None."""
        ...

    async def export(self, path: Path, *, replace: bool = False) -> None:
        """Write the session to a file for people or programs: Markdown, or JSON lines for a name in ``.jsonl``.

        Raises:
            RecordUnwritable: The file exists already, unless it may be replaced, or cannot be written.
        """
        ...

    async def close(self) -> None:
        """Sync and let go of the session."""
        ...


class Contents(Protocol):
    """Keeps contents of files, for taking changes back; all methods block and may be called from any thread."""

    def name(self, data: bytes) -> str:
        """Return the name of a content; the same bytes always have the same."""
        ...

    def put(self, data: bytes) -> bool:
        """Keep a content; return whether there was room and it could be written."""
        ...

    def get(self, name: str) -> bytes | None:
        """Return a content, or None when it was not kept or is damaged."""
        ...


class Approver(Protocol):
    """Asks the user."""

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Return the user's answer; cancelling the task withdraws the question."""
        ...


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a tool returns."""

    content: str | tuple[Text | Image, ...]
    effects: Effects = Effects()
    ok: bool = True
    diff: str = ""
    """Unified diff, for the user's eyes."""
    full: Callable[[], Iterator[str]] | None = None
    """Gives the whole text piece by piece, when ``content`` is only a part of it; blocks, and works once."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a call would do, for the approval: made without changing anything."""

    title: str
    detail: str
    is_diff: bool = False


Emit = Callable[[str], None]
"""Shows a piece of a running tool's output."""


class Tool(Protocol):
    """One tool. It raises `ToolError` for what the model should be told."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and input schema."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether calls never change anything, so that several may run side by side."""
        ...

    def target(self, arguments: JsonObject) -> str:
        """Return one line that says what the call is about; never raises."""
        ...

    async def propose(self, arguments: JsonObject) -> Proposal:
        """Return what the call would do."""
        ...

    async def run(self, arguments: JsonObject, emit: Emit) -> ToolOutcome:
        """Do it. Cancelling the task stops it and leaves nothing running."""
        ...
