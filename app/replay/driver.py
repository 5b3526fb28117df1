"""Runs a recorded session through the real turn: same layers, same record, same requests, no model."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from app.adapters.clock import SystemClock
from app.adapters.demo.prompt_cache import TokensOf, estimated
from app.adapters.journal import Journal
from app.agent.dialogue import Dialogue, Frame, highest_threshold
from app.agent.gate import Gate
from app.agent.layers import Layers
from app.agent.queue import TypedAhead
from app.agent.turn import Turn
from app.core.budget import Usage
from app.core.events import Compacted, ErrorRaised, Event
from app.core.messages import JsonObject, Message, Text
from app.core.permission import Answered, ApprovalAnswer, ApprovalRequest, Judgement, Rule, Verdict
from app.core.policy import CompactionPolicy
from app.core.reports import Layer, Outcome
from app.core.requests import Purpose
from app.core.tokens import estimate_text
from app.replay.effects import is_read
from app.replay.losses import Losses
from app.replay.recordings import RecordedStep, RecordedTurn, Recording, turns
from app.replay.shelf import Shelf
from app.replay.stand_ins import RELATIVE_PRICE, RecordedModel, RecordedTools, Sent

FLOOR_TOKENS = 6_000
"""Stand-in for system prompt and tools."""
OUTPUT_TOKENS = 8_000
READ_FILE = "read_file"
MEMORY = "/dev/shm"
"""Where a system keeps files in memory, if it has such a folder."""


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """What compaction did to one recorded session. Token figures are what the requests were billed."""

    session: str
    requests: int
    """The agent's requests."""
    summaries: int
    """Requests for a summary."""
    peak: int
    """Largest request of the agent."""
    mean: int
    input_tokens: int
    """Of all requests, cached or not."""
    cached: float
    """Share of it that was read from the cache."""
    cost: float
    """In units of one uncached input token: read 0.1, write 1.25, output 5."""
    clears: int
    """Results that layer 1 cleared."""
    clearings: int
    """How often it did."""
    compactions: int
    over_threshold: int
    """Requests of the agent above the threshold."""
    edits: int
    edits_lost: int
    edits_unnamed: int
    """Lost ones whose file the request did not even name."""
    unseen_cleared: int
    bad_lines: int
    problem: str = ""
    """Why the replay ended early; "" when it did not."""


@dataclass(slots=True)
class _Tally:
    """Counts while a replay runs."""

    threshold: int
    on_request: Callable[[dict[str, Any]], None] | None
    tokens_of: TokensOf
    losses: Losses = field(default_factory=Losses)
    shelf: Shelf = field(default_factory=Shelf)
    sizes: list[int] = field(default_factory=list)
    summaries: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    clears: int = 0
    clearings: int = 0
    compactions: int = 0
    problem: str = ""
    coming: deque[tuple[Message, ...]] = field(default_factory=deque)
    """For each request to come, the recorded messages that are new in it."""

    def sent(self, sent: Sent) -> None:
        """Count a request."""
        if self.on_request is not None:
            self.on_request(dict(sent.body))
        self.usage += sent.usage
        self.cost += RELATIVE_PRICE.of(sent.usage)
        if sent.request.purpose is Purpose.SUMMARY:
            self.summaries += 1
        else:
            self.sizes.append(sent.usage.prompt)
            self.losses.saw(self.coming.popleft() if self.coming else ())
            self.losses.check(sent.request.messages, sent.answer)

    def told(self, event: Event) -> None:
        """Count what the layers did."""
        match event:
            case Compacted(report) if report.outcome is Outcome.APPLIED:
                if report.layer is Layer.MICRO:
                    self.clears += len(report.results)
                    self.clearings += 1
                elif report.layer is not Layer.ENTRY:
                    self.compactions += 1
            case ErrorRaised(message, _):
                self.problem = message
            case _:
                pass


class _Nobody:
    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        return ApprovalAnswer(Answered.YES)


async def replay_recording(
    recording: Recording,
    policy: CompactionPolicy,
    *,
    window: int = 200_000,
    on_request: Callable[[dict[str, Any]], None] | None = None,
    tokens_of: TokensOf = estimated,
) -> ReplayReport:
    """Replay one session.

    Args:
        recording: The session.
        policy: The layers' numbers.
        window: Tokens the stand-in model accepts.
        on_request: Hears the body of each request, summary calls included.
        tokens_of: Counts what a content block is billed; an estimate where no tokenizer is at hand.
    """
    policy = _with_read_tools(policy, recording)
    threshold = highest_threshold(policy.auto.threshold_for(window), window, OUTPUT_TOKENS)
    tally = _Tally(threshold, on_request, tokens_of)
    memory = MEMORY if Path(MEMORY).is_dir() else None  # a record that is thrown away needs no disk
    with tempfile.TemporaryDirectory(prefix="pal-replay-", dir=memory) as folder:
        record = await Journal.create(Path(folder), clock=SystemClock())
        try:
            stage = _Stage(record, policy, window, threshold, tally)
            for turn in turns(recording):
                await stage.play(turn)
                if tally.problem:
                    break
        finally:
            await record.close()
    return _report(recording, tally)


class _Stage:
    """The parts of a session with stand-ins for model, tools and user."""

    def __init__(
        self, record: Journal, policy: CompactionPolicy, window: int, threshold: int, tally: _Tally
    ) -> None:
        self._tally = tally
        self._queue = TypedAhead(record)
        self._model = RecordedModel(tally.sent, self._queue.add, tokens_of=tally.tokens_of)
        self._tools = RecordedTools(tally.shelf)
        frame = Frame("recorded", floor_text(), (), OUTPUT_TOKENS, window, "assumed", threshold)
        self._dialogue = Dialogue(record, self._model, frame, policy)
        self._dialogue.measure_floor()
        self._upkeep = _NoUpkeep()
        self._layers = Layers(self._dialogue, tally.shelf.read, SystemClock(), self._upkeep)
        self._gate = Gate(_allow, _Nobody(), record, allow=_forget, admitted=_ignore)

    async def play(self, turn: RecordedTurn) -> None:
        """Run one recorded turn."""
        await self._say(turn.said)
        new: tuple[Message, ...] = (turn.said,)
        for step in turn.steps:
            self._model.steps.append(step)
            self._tally.coming.append(new)
            for call, result in zip(step.answer.tool_uses, step.results, strict=True):
                self._tools.expect(call, result)
            new = (step.answer, Message("user", (*step.results, Text(step.said))))
        if turn.steps[-1].answer.tool_uses:  # the recording breaks off inside a tool loop
            going_on = Message("assistant", (Text("[the recording goes on]"),))
            self._model.steps.append(RecordedStep(going_on, ()))
        await self._turn().go_on()
        self._tally.losses.saw(new)

    async def _say(self, said: Message) -> None:
        spoken = [at for at, block in enumerate(said.content) if isinstance(block, Text)]
        content = said.content or (Text("[the recording begins with an answer]"),)
        await self._dialogue.append(Message("user", content), spoken=spoken)
        self._layers.spoken()

    def _turn(self) -> Turn:
        return Turn(
            self._dialogue,
            self._layers,
            self._tools,
            self._gate,
            self._queue,
            self._tally.told,
            self._upkeep,
            wanted=[],
        )


def _with_read_tools(policy: CompactionPolicy, recording: Recording) -> CompactionPolicy:
    """Let the recording's own names for reading a file stand beside ours."""
    calls = (call for message in recording.messages for call in message.tool_uses)
    names = frozenset(call.name for call in calls if is_read(call))
    entry = replace(policy.entry, paged_tools=policy.entry.paged_tools | names)
    micro = policy.micro
    if READ_FILE in micro.preserve_tools:
        micro = replace(micro, preserve_tools=micro.preserve_tools | names)
    return replace(policy, entry=entry, micro=micro)


def floor_text() -> str:
    """Return a system prompt of `FLOOR_TOKENS`."""
    line = "The system prompt and the tools of the recorded session stood here.\n"
    return line * max(1, round(FLOOR_TOKENS / estimate_text(line)))


def _report(recording: Recording, tally: _Tally) -> ReplayReport:
    sizes, usage = tally.sizes, tally.usage
    return ReplayReport(
        session=recording.name,
        requests=len(sizes),
        summaries=tally.summaries,
        peak=max(sizes, default=0),
        mean=round(sum(sizes) / len(sizes)) if sizes else 0,
        input_tokens=usage.prompt,
        cached=round(usage.cache_read / usage.prompt, 4) if usage.prompt else 0.0,
        cost=round(tally.cost),
        clears=tally.clears,
        clearings=tally.clearings,
        compactions=tally.compactions,
        over_threshold=sum(size > tally.threshold for size in sizes),
        edits=tally.losses.edits,
        edits_lost=tally.losses.edits_lost,
        edits_unnamed=tally.losses.edits_unnamed,
        unseen_cleared=tally.losses.unseen_cleared,
        bad_lines=recording.bad_lines,
        problem=tally.problem,
    )


def as_json(report: ReplayReport) -> dict[str, Any]:
    """Return the report as a JSON object."""
    return asdict(report)


class _NoUpkeep:
    """A recorded session has its model, prompt and limits once for all."""

    async def make_ready(self) -> None:
        return None

    async def change_model(self) -> None:
        return None

    def raise_output(self) -> bool:
        return False

    async def keep_todo(self, tell: object) -> None:
        return None

    async def renew_prompt(self, tell: object) -> None:
        return None


def _allow(tool: str, arguments: JsonObject) -> Judgement:
    return Judgement(Verdict.ALLOW, "recorded")


def _forget(rule: Rule) -> None:
    return None


def _ignore(tool: str, arguments: JsonObject) -> None:
    return None
