"""What a session is made of: given by the launch, or by a test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from app.agent.calls import Fault, name_fault
from app.agent.gate import Admitted
from app.agent.prompt import Surroundings
from app.compaction.working_files import ReadLines
from app.core.events import TodoItem
from app.core.messages import JsonObject
from app.core.permission import Judgement, Mode, Rule
from app.core.policy import CompactionPolicy
from app.core.ports import Approver, Clock, Model, Record, Tool
from app.core.requests import ModelInfo
from app.tools.checkpoints import Checkpoints
from app.tools.result_room import RoomNow

JudgeCall = Callable[[str, JsonObject, Mode, tuple[Rule, ...]], Judgement]
"""Judges a call by tool name and arguments, under a mode and rules."""


async def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class ToolNeeds:
    """What tools need from their session."""

    set_todo: Callable[[tuple[TodoItem, ...]], None]
    room: RoomNow
    """How much a call may return, by the threshold and the estimate that hold now."""
    mode: Callable[[], Mode]
    """The permission mode in force."""


@dataclass(frozen=True, slots=True)
class SessionParts:
    """What a session is made of."""

    record: Record
    model: Model
    approver: Approver
    clock: Clock
    surroundings: Surroundings
    tools: Callable[[ToolNeeds], Mapping[str, Tool]]
    judge: JudgeCall
    checkpoints: Checkpoints
    """Keeps and brings back files."""
    read_lines: ReadLines
    policy: CompactionPolicy
    model_id: str
    window_of: Callable[[ModelInfo | None, str], tuple[int, str]]
    """Returns a model's window in tokens and where the figure comes from."""
    admitted: Admitted = lambda _tool, _arguments: None
    """Called with each call that may run."""
    keep_rule: Callable[[Rule], Rule] = lambda rule: replace(rule, source="this session")
    """Keeps a rule that the user added and returns it as it is listed; may raise `OSError`."""
    drop_rule: Callable[[Rule], object] = lambda _rule: None
    """Forgets a rule that was kept; may raise `OSError`."""
    refuge: Callable[[], Awaitable[str]] | None = None
    """Moves the record to a temporary folder and returns its path, for when its own cannot be written."""
    is_tour: Callable[[str], bool] = lambda _text: False
    """Whether a text asks the embedded model for its tour."""
    fault: Fault = name_fault
    """Keeps what went wrong inside a tool, and says it in a line without secrets."""
    own_shell: Tool | None = None
    """Runs the user's own commands, unconfined."""
    release: Callable[[], Awaitable[object]] = _nothing
    """Ends what only this session uses besides record and model: its commands."""
    max_output_tokens: int = 8_000
    mode: Mode = Mode.ASK
    rules: tuple[Rule, ...] = ()
