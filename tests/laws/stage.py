"""A real session under full control: its record on disk, its model behind a played endpoint, tools that wait.

All runs in one thread and one loop that is turned by hand, so that a test can stop between any two steps.
"""

from __future__ import annotations

import asyncio
import dataclasses
import shutil
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from app.adapters.anthropic_model import AnthropicModel
from app.adapters.journal import Journal
from app.agent.channel import Work
from app.agent.parts import SessionParts, ToolNeeds
from app.agent.prompt import Surroundings
from app.agent.session import Session
from app.core import remarks
from app.core.effects import Effects, Span
from app.core.events import (
    AnswerFinished,
    Compacted,
    ErrorRaised,
    Event,
    QueuedDelivered,
    SummaryPreviewed,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
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
from app.core.policy import CompactionPolicy
from app.core.ports import Emit, Proposal, ToolOutcome
from app.core.requests import ToolSpec
from app.errors import RecordUnwritable, ToolError
from app.tools.checkpoints import Checkpoints
from app.tools.compact import CompactTool
from app.tools.recall import RecallTool
from app.tools.workspace import Workspace
from tests.fakes.clock import FakeClock
from tests.laws.endpoint import Endpoint

RAM = Path("/dev/shm")
"""A folder in memory, where there is one: what is synced there costs nothing."""
MANY_TURNS = 20_000
SCHEMA = {"type": "object", "properties": {"token": {"type": "string"}}}


class AtOnce(ThreadPoolExecutor):
    """Runs work in the thread that asks for it; whoever waits for it still waits for one turn of the loop."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)
        return future


class StageJournal(Journal):
    """The real record, without a thread of its own; its disk can be full for some writes."""

    failures = 0

    def stay_in_this_thread(self) -> None:
        self._worker.shutdown()
        self._worker = AtOnce(1)

    async def _do(self, work: Callable[..., Any], *arguments: object) -> Any:
        writes = getattr(work, "__name__", "") in (
            "append",
            "mark",
            "commit",
            "remark",
            "store_output",
        )
        if writes and self.failures:
            self.failures -= 1
            await asyncio.sleep(0)
            raise RecordUnwritable("the disk is full")
        return await super()._do(work, *arguments)


@dataclass
class Running:
    """A call that runs until the test says how it ends."""

    name: str
    token: str
    emit: Emit
    end: asyncio.Future[ToolOutcome]


@dataclass
class StageTool:
    """A tool whose calls wait for the test, or return at once what is in their input."""

    stage: Stage
    name: str
    read_only: bool
    waits: bool = False

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, f"The tool {self.name}.", SCHEMA)

    def target(self, arguments: JsonObject) -> str:
        return str(arguments.get("path", arguments.get("command", "")))

    async def propose(self, arguments: JsonObject) -> Proposal:
        if arguments.get("token", "").endswith("impossible"):
            raise ToolError("the text to replace is not there")
        return Proposal(f"run {self.name}", str(arguments))

    async def run(self, arguments: JsonObject, emit: Emit) -> ToolOutcome:
        token = str(arguments.get("token", ""))
        self.stage.ran.append(token)
        self.stage.check_call_is_on_disk(token)
        if not self.waits:
            return self._outcome(arguments)
        running = Running(self.name, token, emit, asyncio.get_running_loop().create_future())
        self.stage.running.append(running)
        try:
            return await running.end
        finally:
            self.stage.running.remove(running)

    def _outcome(self, arguments: JsonObject) -> ToolOutcome:
        path = self.target(arguments)
        text = self.stage.text_of(arguments)
        match self.name:
            case "read_file":
                count = text.count("\n") + 1
                return ToolOutcome(
                    text, Effects(path, f"{count} lines", (Span(path, 1, count, count),))
                )
            case "edit_file":
                return ToolOutcome(
                    text, Effects(path, "1 replacement", modified=(path,)), diff="-a\n+b"
                )
            case "fail":
                raise ToolError(text or "it broke")
            case "bug":
                raise ZeroDivisionError("a bug")
        return ToolOutcome(text, Effects(path, "done"))


class StageUser:
    """The user at a question, who answers when the test says so."""

    def __init__(self) -> None:
        self.questions: list[tuple[ApprovalRequest, asyncio.Future[ApprovalAnswer]]] = []

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        question = (request, asyncio.get_running_loop().create_future())
        self.questions.append(question)
        try:
            return await question[1]
        finally:
            self.questions.remove(question)


@dataclass
class Job:
    """A piece of the session's work and what it has told."""

    work: Work
    is_turn: bool
    events: list[Event] = field(default_factory=list)
    reader: asyncio.Task[None] | None = None


class Stage:
    """The session, everything around it, and what must never be lost."""

    def __init__(
        self, policy: CompactionPolicy, *, window: int = 60_000, rules: tuple[Rule, ...] = ()
    ) -> None:
        self.home = Path(tempfile.mkdtemp(dir=RAM if RAM.is_dir() else None, prefix="pal-stage-"))
        self.project = self.home / "project"
        self.project.mkdir()
        self.loop = asyncio.new_event_loop()
        self.loop.set_default_executor(AtOnce(1))
        self.clock = FakeClock(step=0.25)
        self.endpoint = Endpoint()
        self.user = StageUser()
        self.sleeping: list[asyncio.Future[None]] = []
        self.policy, self.window = policy, window
        self.mode, self.model_name, self.rules = Mode.ASK, "claude-opus-5-5", rules
        self.roots = 1
        self.jobs: list[Job] = []
        self.count = 0
        self.running: list[Running] = []
        self.ran: list[str] = []
        self.texts: dict[str, str] = {}
        """What instant tools return, by token."""
        self.said: list[str] = []
        """What the user said and the session took."""
        self.latest = ""
        """What of it was said last in the conversation as it stands."""
        self.results: dict[str, str] = {}
        """What tools returned, by result id."""
        self.answered: dict[str, str] = {}
        """What the model said, by message id."""
        self.previews: list[SummaryPreviewed] = []
        self.unwritten = False
        """Whether the record could not be written since the last turn began."""
        self.model = AnthropicModel(
            base_url="https://api.anthropic.com",
            api_key="sk-stage",
            transport=self.endpoint,
            sleep=self._sleep,
            chance=lambda: 0.0,
        )
        self.session: Session
        self.do(self._open(None))

    @property
    def root(self) -> Path:
        return self.home / f"root-{self.roots}" / ".transcripts"

    def token(self, kind: str) -> str:
        """Return a word that stands nowhere else."""
        self.count += 1
        return f"{kind}-{self.count}"

    # Turning the loop

    def do(self, work: Any) -> Any:
        """Run a coroutine, and then everything that can go on without the outside."""
        result = self.loop.run_until_complete(work)
        self.settle()
        return result

    def settle(self) -> None:
        """Turn the loop until all that is left waits for the outside."""
        self.loop.run_until_complete(self._turn(MANY_TURNS))

    def tick(self, turns: int) -> None:
        """Turn the loop so many times at most."""
        self.loop.run_until_complete(self._turn(turns, must_end=False))

    async def _turn(self, turns: int, *, must_end: bool = True) -> None:
        for _ in range(turns):
            await asyncio.sleep(0)
            if not self.loop._ready:  # type: ignore[attr-defined] # the only way to know that all wait
                return
        assert not must_end, "the session never comes to rest"

    # The session

    async def _open(self, name: str | None) -> None:
        if name is None:
            self.journal = await StageJournal.create(self.root, clock=self.clock)
        else:
            self.journal = await StageJournal.open(self.root, name, clock=self.clock)
        self.journal.stay_in_this_thread()
        checkpoints = Checkpoints(
            Workspace(self.project),
            self.journal.contents,
            partial(self.journal.remark, remarks.FILES),
        )
        self.session = await Session.open(
            SessionParts(
                record=self.journal,
                model=self.model,
                approver=self.user,
                clock=self.clock,
                surroundings=Surroundings(self.project, "2026-01-01"),
                tools=self._tools,
                judge=judge,
                checkpoints=checkpoints,
                read_lines=no_file,
                policy=self.policy,
                model_id=self.model_name,
                window_of=lambda info, model: (self.window, "settings"),
                mode=self.mode,
                rules=self.rules,
            )
        )

    def _tools(self, needs: ToolNeeds) -> Mapping[str, Any]:
        tools = (
            StageTool(self, "look", read_only=True, waits=True),
            StageTool(self, "read_file", read_only=True),
            StageTool(self, "bash", read_only=False, waits=True),
            StageTool(self, "edit_file", read_only=False),
            StageTool(self, "fail", read_only=True),
            StageTool(self, "bug", read_only=True),
            RecallTool(self.journal, needs.room),
            CompactTool(),
        )
        return {tool.spec.name: tool for tool in tools}

    def begin(self, make: Callable[[Session], Work], *, is_turn: bool = False) -> Job:
        """Begin a piece of work with somebody who reads it; the loop is not turned yet."""

        async def start() -> Job:
            job = Job(make(self.session), is_turn)
            job.reader = asyncio.create_task(self._read(job))
            return job

        job = self.loop.run_until_complete(start())
        self.jobs.append(job)
        return job

    async def _read(self, job: Job) -> None:
        async for event in job.work:
            job.events.append(event)
            self._note(event)

    def _note(self, event: Event) -> None:
        match event:
            case TurnStarted(text) | QueuedDelivered(text):
                self.said.append(text)
                self.latest = text
            case ToolFinished():
                self.results[event.result] = event.text
            case AnswerFinished(message) if message:
                self.answered.setdefault(message, "")
            case SummaryPreviewed():
                self.previews.append(event)
            case ErrorRaised(unwritten=True):
                self.unwritten = True
            case _:
                pass

    def close_and_open(self) -> None:
        """End the session as a user does, and resume it."""
        name = self.session.name
        self.do(self.session.close())
        empty = not (self.root / name).exists()
        self._forget_jobs()
        self.do(self._open(None if empty else name))

    def crash_and_open(self) -> None:
        """Resume a copy of what is on disk now, as after a power cut; what went on in memory is gone."""
        name, old = self.session.name, self.root / self.session.name
        exists = old.exists()
        self.roots += 1
        if exists:
            shutil.copytree(old, self.root / name)
        for sleeper in self.sleeping:
            sleeper.cancel()
        self.do(self.session.close())
        self._forget_jobs(crashed=True)
        self.do(self._open(name if exists else None))

    def _forget_jobs(self, *, crashed: bool = False) -> None:
        for job in self.jobs:
            assert job.reader is not None and job.reader.done()
            if not crashed:
                self.check_job(job)
        self.jobs.clear()
        self.previews.clear()
        self.endpoint.exchanges.clear()
        assert not self.running and not self.user.questions, "nothing runs after the session"

    def end(self) -> None:
        """Close everything and remove the folder."""
        try:
            self.do(self.session.close())
        finally:
            for task in asyncio.all_tasks(self.loop):
                task.cancel()
            self.settle()
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.close()
            shutil.rmtree(self.home, ignore_errors=True)

    # What tools and the wire need

    def text_of(self, arguments: JsonObject) -> str:
        return self.texts.get(str(arguments.get("token", "")), "")

    async def _sleep(self, seconds: float) -> None:
        sleeper: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.sleeping.append(sleeper)
        try:
            await sleeper
        finally:
            self.sleeping.remove(sleeper)

    # Laws

    def check_call_is_on_disk(self, token: str) -> None:
        """R1: an assistant's message is on disk before any of its calls runs, and none runs twice."""
        assert self.ran.count(token) == 1, f"the call {token} ran twice"
        folder = self.root / self.session.name
        written = "".join(p.read_text("utf-8") for p in sorted(folder.glob("transcript_*.jsonl")))
        assert f'"{token}"' in written, f"the call {token} runs and is not on disk"

    def check_job(self, job: Job) -> None:
        """What a reader of events may rely on."""
        assert job.reader is not None
        if not job.reader.cancelled() and job.reader.exception() is not None:
            raise job.reader.exception()  # type: ignore[misc]
        if job.is_turn:
            ends = [e for e in job.events if isinstance(e, TurnEnded)]
            assert len(ends) == 1 and job.events[-1] is ends[0], "TurnEnded comes once and last"
        started = [e.call_id for e in job.events if isinstance(e, ToolStarted)]
        finished = [e.call_id for e in job.events if isinstance(e, ToolFinished)]
        assert len(set(finished)) == len(finished), "a call finishes once"
        assert set(started) <= set(finished), "a call that started also finishes"
        for event in job.events:
            if isinstance(event, Compacted) and event.report.outcome == "applied":
                least = (
                    0 if event.report.layer == "micro" else 1
                )  # a line may save less than a token
                assert event.report.saved >= least, f"R6: {event.report}"


def judge(tool: str, arguments: JsonObject, mode: Mode, rules: tuple[Rule, ...]) -> Judgement:
    """Ask for what changes something, unless mode or rules say otherwise."""
    if tool not in ("bash", "edit_file") or any(rule.tool == tool for rule in rules):
        return Judgement(Verdict.ALLOW, "reads only")
    if mode is Mode.READ_ONLY:
        return Judgement(Verdict.DENY, "read only")
    if mode is Mode.ACCEPT_EDITS and tool == "edit_file":
        return Judgement(Verdict.ALLOW, "an edit")
    return Judgement(Verdict.ASK, "it changes something", Rule(Verdict.ALLOW, tool))


async def no_file(path: str, first: int, last: int) -> str | None:
    return None


def answer_with(answer: Answered, **more: Any) -> ApprovalAnswer:
    return dataclasses.replace(ApprovalAnswer(answer), **more)
