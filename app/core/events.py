"""What the agent tells a front end: frozen values that JSON could carry.

Order within a turn: `TurnStarted`, then any number of the others, then exactly one `TurnEnded`. Each `ToolStarted` is
followed by exactly one `ToolFinished` with the same ``call_id``. `RetryWaiting` voids the text streamed since the
request began.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from app.core.budget import Budget, Usage
from app.core.messages import JsonObject
from app.core.permission import ApprovalAnswer, ApprovalRequest
from app.core.reports import CompactionReport, Layer


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The user's message is in the record and the agent begins."""

    text: str
    message: str
    """Its id in the record, ``m<N>``."""


@dataclass(frozen=True, slots=True)
class RequestSent:
    """A request leaves; ``number`` counts the requests of the session from 1."""

    number: int
    tokens: int


@dataclass(frozen=True, slots=True)
class TextArrived:
    """A piece of the model's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingArrived:
    """A piece of the model's thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class CallArriving:
    """The model is writing a tool call."""

    call_id: str
    tool: str
    chars: int


@dataclass(frozen=True, slots=True)
class AnswerFinished:
    """The model's message is complete and in the record."""

    message: str
    usage: Usage | None


OWN_TOOL = "!"
"""Stands for the tool where the user runs a command of their own."""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A call was allowed and runs."""

    call_id: str
    tool: str
    target: str
    """One line: the command, path or pattern."""
    input: JsonObject


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """A piece of a running command's output, for show only."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """The call ended; sent also for calls that were refused, cut or unknown."""

    call_id: str
    tool: str
    ok: bool
    text: str
    """The result as it came; layer 0 may still shorten it for the model."""
    outcome: str
    """One line, such as ``exit 1, 214 lines``."""
    seconds: float
    """Wall-clock time of the tool itself, without the wait for permission."""
    result: str = ""
    """Its id in the record, ``r<N>``."""
    diff: str = ""
    """Unified diff of an edit."""
    target: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalAsked:
    """The user is being asked."""

    request: ApprovalRequest


@dataclass(frozen=True, slots=True)
class ApprovalGiven:
    """The user answered."""

    request: ApprovalRequest
    answer: ApprovalAnswer


@dataclass(frozen=True, slots=True)
class BudgetChanged:
    """The budget moved."""

    budget: Budget


@dataclass(frozen=True, slots=True)
class CompactionStarted:
    """A layer that needs a model call began."""

    layer: Layer
    reason: str


@dataclass(frozen=True, slots=True)
class Compacted:
    """A run of a layer ended, in whatever way."""

    report: CompactionReport


@dataclass(frozen=True, slots=True)
class SummaryPreviewed:
    """A summary that nothing has used yet."""

    text: str
    focus: str
    base: int
    """Number of the compaction in force when it was made; it can be applied only while this and `newest` are so."""
    newest: str
    """Id of the newest message then."""


@dataclass(frozen=True, slots=True)
class Missed:
    """The model asked again for something that was cleared; it is pinned from now on."""

    result: str
    how: str
    """"recall" or "read again"."""


@dataclass(frozen=True, slots=True)
class RetryWaiting:
    """The endpoint failed; the next attempt starts in ``seconds``."""

    attempt: int
    attempts: int
    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class TodoItem:
    """A line of the todo list."""

    text: str
    state: str = "pending"
    """"pending", "doing" or "done"."""


@dataclass(frozen=True, slots=True)
class TodoChanged:
    """The todo list changed."""

    items: tuple[TodoItem, ...]


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """The typed-ahead messages, oldest first."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueuedDelivered:
    """A typed-ahead message went into the conversation."""

    text: str
    message: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know; nothing failed."""

    text: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class WentBack:
    """A rewind was made."""

    words: str
    """What the user said right after the moment to which it went back; "" when a rewind was taken back."""
    conversation: bool
    """Whether the conversation is another one now; else only files went back."""
    restored: tuple[str, ...] = ()
    """Files that are as they were then."""
    removed: tuple[str, ...] = ()
    """Files that were not there then and are gone."""
    kept: tuple[str, ...] = ()
    """Files that stay as they are because something else changed them since."""
    failed: tuple[str, ...] = ()
    """One line for each file that could not be brought back."""


@dataclass(frozen=True, slots=True)
class ErrorRaised:
    """Something failed; ``hint`` says what to do."""

    message: str
    hint: str = ""
    unwritten: bool = False
    """Whether the record could not be written: the user may try again, or go on unsaved."""


class TurnEnd(StrEnum):
    """How a turn ended."""

    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"
    REFUSED = "refused"
    """The model refused."""
    CUT = "cut"
    """The answer reached its output limit."""
    WAITING = "waiting"
    """After the compact tool, when the setting says to wait."""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn is over and the conversation can be sent again."""

    end: TurnEnd
    text: str = ""
    """All text that the model wrote in the turn's last message."""
    usage: Usage = field(default_factory=Usage)
    """Billed in this turn, summary calls included."""
    cost: float | None = None
    """US dollars of this turn, or None when the price is unknown."""
    compactions: int = 0
    error: str = ""
    stop: str = ""
    """The endpoint's stop reason of the last answer."""


Event = (
    TurnStarted
    | RequestSent
    | TextArrived
    | ThinkingArrived
    | CallArriving
    | AnswerFinished
    | ToolStarted
    | ToolOutput
    | ToolFinished
    | ApprovalAsked
    | ApprovalGiven
    | BudgetChanged
    | CompactionStarted
    | Compacted
    | SummaryPreviewed
    | Missed
    | RetryWaiting
    | TodoChanged
    | QueueChanged
    | QueuedDelivered
    | Notice
    | WentBack
    | ErrorRaised
    | TurnEnded
)
