"""A session on a real record in a temporary folder, with a scripted model and small tools."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from app.adapters.journal import Journal
from app.agent.parts import SessionParts, ToolNeeds
from app.agent.prompt import Surroundings
from app.agent.session import Session
from app.core import remarks
from app.core.effects import Effects
from app.core.events import Event, TurnEnded
from app.core.messages import JsonObject
from app.core.permission import (
    Answered,
    ApprovalAnswer,
    ApprovalRequest,
    Judgement,
    Mode,
    Rule,
    Verdict,
)
from app.core.policy import AutoPolicy, CompactionPolicy, ManualPolicy, MicroPolicy
from app.core.ports import Approver, Emit, Proposal, ToolOutcome
from app.core.requests import ModelInfo, ToolSpec
from app.errors import ToolError
from app.tools.checkpoints import Checkpoints
from app.tools.workspace import Workspace
from tests.fakes.clock import FakeClock
from tests.fakes.message_rules import problems
from tests.fakes.model import ScriptedModel

SCHEMA = {"type": "object", "properties": {}}


@dataclass
class Handy:
    """A tool that does what its function says."""

    name: str
    do: Callable[[JsonObject, Emit], Any]
    read_only: bool = True

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, f"the tool {self.name}", SCHEMA)

    def target(self, arguments: JsonObject) -> str:
        return str(arguments.get("path", arguments.get("command", "")))

    async def propose(self, arguments: JsonObject) -> Proposal:
        return Proposal(f"run {self.name}", str(arguments.get("command", "")))

    async def run(self, arguments: JsonObject, emit: Emit) -> ToolOutcome:
        result = self.do(arguments, emit)
        if asyncio.iscoroutine(result):
            result = await result
        if isinstance(result, ToolOutcome):
            return result
        return ToolOutcome(result, Effects(target=self.target(arguments), outcome="done"))


def failing(arguments: JsonObject, emit: Emit) -> str:
    raise ToolError("it broke")


def buggy(arguments: JsonObject, emit: Emit) -> str:
    raise ZeroDivisionError("a bug")


class ScriptedUser:
    """Answers approvals with what a test wrote down; keeps the questions."""

    def __init__(self, *answers: ApprovalAnswer) -> None:
        self.answers = list(answers)
        self.asked: list[ApprovalRequest] = []

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        self.asked.append(request)
        return self.answers.pop(0) if self.answers else ApprovalAnswer(Answered.YES)


def judge(tool: str, arguments: JsonObject, mode: Mode, rules: tuple[Rule, ...]) -> Judgement:
    if tool == "danger":
        return Judgement(Verdict.DENY, "Dangerous command blocked: it is dangerous")
    if tool == "write" and not any(rule.tool == "write" for rule in rules):
        return Judgement(Verdict.ASK, "it writes", Rule(Verdict.ALLOW, "write"))
    return Judgement(Verdict.ALLOW, "reads only")


@dataclass
class Rig:
    """Everything a test of the session needs."""

    folder: Path
    model: ScriptedModel
    user: Approver = field(default_factory=ScriptedUser)
    policy: CompactionPolicy = field(default_factory=CompactionPolicy)
    clock: FakeClock = field(default_factory=FakeClock)
    tools: tuple[Handy, ...] = ()
    own_shell: Handy | None = None
    window: int = 200_000
    journal: type[Journal] = Journal
    window_of: Callable[[ModelInfo | None, str], tuple[int, str]] = field(init=False)
    checkpoints: Checkpoints = field(init=False)
    needs: ToolNeeds = field(init=False)
    """What the newest session offers its tools."""

    def __post_init__(self) -> None:
        self.window_of = lambda info, _model: (self.window, "settings")

    async def open(self, name: str | None = None) -> Session:
        root = self.folder / ".transcripts"
        if name is None:
            record = await self.journal.create(root, clock=self.clock)
        else:
            record = await self.journal.open(root, name, clock=self.clock)

        self.checkpoints = Checkpoints(
            Workspace(self.folder), record.contents, partial(record.remark, remarks.FILES)
        )

        def tools(needs: ToolNeeds) -> Mapping[str, Handy]:
            self.needs = needs
            return {tool.name: tool for tool in (*STANDARD, *self.tools)}

        return await Session.open(
            SessionParts(
                record=record,
                model=self.model,
                approver=self.user,
                clock=self.clock,
                surroundings=Surroundings(self.folder, "2026-01-01"),
                tools=tools,
                judge=judge,
                checkpoints=self.checkpoints,
                read_lines=no_file,
                policy=self.policy,
                model_id="scripted",
                window_of=self.window_of,
                own_shell=self.own_shell,
            )
        )


async def no_file(path: str, first: int, last: int) -> str | None:
    return None


STANDARD = (
    Handy("look", lambda a, e: str(a.get("text", "seen")) * int(a.get("times", 1))),
    Handy("fail", failing),
    Handy("bug", buggy),
    Handy("danger", lambda a, e: "must never run"),
    Handy("write", lambda a, e: f"wrote {a.get('command', '')}", read_only=False),
    Handy("recall", lambda a, e: "the original"),
    Handy("compact", lambda a, e: "Compressing..."),
)


def small(threshold: int = 3_000, **micro: Any) -> CompactionPolicy:
    """A policy whose threshold a test reaches quickly."""
    return CompactionPolicy(
        micro=MicroPolicy(**micro),
        auto=AutoPolicy(threshold=threshold),
        manual=ManualPolicy(notes_at=()),
    )


async def read(events: AsyncIterator[Event]) -> list[Event]:
    """Read all events of a piece of work."""
    return [event async for event in events]


def of(events: list[Event], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def ended(events: list[Event]) -> TurnEnded:
    (end,) = of(events, TurnEnded)
    assert events[-1] is end, "TurnEnded comes last"
    return end


def all_valid(model: ScriptedModel) -> None:
    """Every request that left obeys the Messages API's rules."""
    for request in model.requests:
        assert problems(request.messages) == ()
