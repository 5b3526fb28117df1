"""The conversation with its record and its meter: the one place where messages are added and views replaced."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.agent.calls import CallRun
from app.agent.ledger import Ledger
from app.compaction.thinking import thinks
from app.core import remarks
from app.core.arriving import Charge
from app.core.budget import Budget, Meter
from app.core.conversation import Conversation, replay
from app.core.effects import Effects
from app.core.events import TodoItem
from app.core.history import Entry
from app.core.messages import Image, JsonObject, Message, ToolResult, user
from app.core.policy import CompactionPolicy
from app.core.ports import CommitDraft, Model, Record
from app.core.reports import CompactionReport
from app.core.requests import CachePoint, ModelRequest, Purpose, ToolSpec
from app.core.tokens import estimate_json, estimate_text
from app.tools.result_room import Room

INTERRUPTED = "[interrupted: this call did not finish, and it was not run again]"
CUT_OFF = (
    "[interrupted: the program ended before this call's result was in the record; it may have taken effect, "
    "and it was not run again]"
)


LEARNED = "learned"
"""The source of a window that a refusal taught."""
SUMMARY_PROMPT_TOKENS = 1_000
"""Room for the question that asks for a summary."""


def highest_threshold(wanted: int, window: int, max_tokens: int) -> int:
    """Return the wanted threshold, or the highest that leaves room for an answer and for the summary call.

    A window hardly larger than the longest answer is shared by halves: most answers are far shorter than the longest.
    """
    return max(1, min(wanted, max(window - max_tokens - SUMMARY_PROMPT_TOKENS, window // 2)))


def floor_of(system: str, tools: Sequence[ToolSpec]) -> float:
    """Return the raw estimate of what stands around the messages."""
    specs = [[tool.name, tool.description, dict(tool.input_schema)] for tool in tools]
    return estimate_text(system) + estimate_json(specs)


@dataclass(slots=True)
class Frame:
    """What stands around the messages of each request. It changes only between turns, or at a compaction."""

    model: str
    system: str
    tools: tuple[ToolSpec, ...]
    max_tokens: int
    window: int
    window_source: str
    threshold: int
    """Tokens above which layer 2 runs, already held below what the window allows."""

    def floor(self) -> float:
        """Return the raw estimate of everything but the messages."""
        return floor_of(self.system, self.tools)


@dataclass(slots=True)
class Dialogue:
    """Owner of the conversation. Each change is on disk before it is in memory."""

    record: Record
    model: Model
    frame: Frame
    policy: CompactionPolicy
    conversation: Conversation = field(default_factory=Conversation)
    meter: Meter = field(default_factory=Meter)
    ledger: Ledger = field(default_factory=Ledger)
    reports: list[CompactionReport] = field(default_factory=list)
    todo: tuple[TodoItem, ...] = ()
    prompt_in_record: tuple[str, list[dict[str, Any]]] | None = None
    """System prompt and tools that the record has in force; None before the first."""
    max_output: int | None = None
    """The model's own limit for an answer in tokens, where the endpoint says it."""
    learned: dict[str, int] = field(default_factory=dict)
    """Windows that refusals taught, in tokens by model."""
    muted_until: int = 0
    """Layer 2 waits until the next request passes this many tokens; 0 when it does not wait."""
    interrupted: CallRun | None = None
    """The calls of the newest answer, where their results could not be written."""
    overheard: list[str] = field(default_factory=list)
    """What the user did meanwhile and wants told with their next message."""
    noted: float = 0.0
    """Highest share of the threshold that the model was told about since the last compaction."""

    @property
    def used(self) -> int:
        """Tokens of the next request."""
        return self.meter.used(self.conversation.sizes.total)

    @property
    def reach(self) -> int:
        """The most that the next request is likely to be."""
        return self.meter.reach(self.conversation.sizes.total)

    @property
    def trigger(self) -> int:
        """Tokens above which layer 2 runs now, after an undo higher than the threshold."""
        return max(self.frame.threshold, self.muted_until)

    @property
    def room(self) -> Room:
        """What tools may return, by the threshold that holds now: below the one set where the window is small."""
        auto = dataclasses.replace(
            self.policy.auto, threshold=self.frame.threshold, threshold_share=None
        )
        return Room(dataclasses.replace(self.policy, auto=auto), self.meter.factor)

    def budget(self, counted: int | None = None) -> Budget:
        """Return what the gauge shows; ``counted`` is the endpoint's own count of the request that it answers now."""
        sizes, used = self.conversation.sizes, counted or self.used
        estimated = 0 if counted else self.meter.estimated(sizes.total)
        return Budget(
            used=used,
            measured=counted is not None or self.meter.is_measured(sizes.total),
            threshold=self.trigger,
            window=self.frame.window,
            window_source=self.frame.window_source,
            parts=self.meter.parts(
                used,
                summary=sizes.summary,
                words=sizes.words,
                other=sizes.other,
                results=sizes.results,
            ),
            cached=self.meter.last.cache_read,
            prompt=self.meter.last.prompt,
            cost=self.ledger.account.cost,
            auto=self.policy.auto.enabled,
            factor=self.meter.factor,
            estimated=estimated,
        )

    async def put_prompt(self, system: str) -> bool:
        """Put a system prompt in force; return whether it differs from the one before, in this run or an earlier one.

        Signed thinking is bound to the prompt in front of it, so a change removes what there is.
        """
        specs = [dataclasses.asdict(spec) for spec in self.frame.tools]
        tools = json.loads(json.dumps(specs))
        before, now = self.prompt_in_record, (system, tools)
        self.frame.system = system
        self.measure_floor()
        if before == now:
            return False
        if (
            before is not None
        ):  # first: after a crash in between, the new prompt has no old thinking behind it
            await self.bare_all()
        await self.record.remark(remarks.PROMPT, {"system": system, "tools": tools})
        self.prompt_in_record = now
        return before is not None

    def measure_floor(self) -> None:
        """Estimate again what stands around the messages."""
        self.meter = dataclasses.replace(self.meter, floor=self.frame.floor())

    def put_policy(self, policy: CompactionPolicy) -> None:
        """Put other numbers of the layers in force; a threshold that the user sets ends the wait after an undo."""
        if policy.auto.wanted != self.policy.auto.wanted:
            self.muted_until = 0
        self.policy = policy
        self.fit_threshold()

    def fit_threshold(self) -> None:
        """Hold the threshold below what the window in force allows."""
        frame = self.frame
        wanted = self.policy.auto.threshold_for(frame.window)
        frame.threshold = highest_threshold(wanted, frame.window, frame.max_tokens)

    async def learn_window(self, window: int) -> None:
        """Believe what a refusal said about the model's window, also after a resume."""
        data = {"model": self.frame.model, "window": window}
        await self.record.remark(remarks.WINDOW, data)
        self.learned[self.frame.model] = window
        self.frame.window, self.frame.window_source = window, LEARNED
        self.fit_threshold()

    def request(
        self, messages: tuple[Message, ...], cache_points: tuple[CachePoint, ...]
    ) -> ModelRequest:
        """Return the request that carries these messages."""
        return ModelRequest(
            model=self.frame.model,
            system=self.frame.system,
            tools=self.frame.tools,
            messages=messages,
            max_tokens=self.frame.max_tokens,
            cache_points=cache_points,
        )

    async def append(
        self,
        message: Message,
        *,
        spoken: Sequence[int] = (),
        effects: Mapping[str, Effects] | None = None,
    ) -> Entry:
        """Add one message."""
        entry = await self.record.append(message, spoken=spoken, effects=effects)
        self.conversation = self.conversation.append(entry)
        return entry

    async def say(
        self, text: str, pictures: Sequence[Image] = (), *, notes: Sequence[str] = ()
    ) -> Entry:
        """Add what the user wrote: pictures first, behind the text what was overheard and notes of the program."""
        overheard = tuple(self.overheard)
        message = user(text, *overheard, *notes)
        message = dataclasses.replace(message, content=(*pictures, *message.content))
        entry = await self.append(message, spoken=(len(pictures),))
        self.ledger.spoken()
        del self.overheard[: len(overheard)]
        return entry

    async def clear(self, stubs: Mapping[str, str], bare: Sequence[str]) -> None:
        """Replace results by stubs."""
        cleared = await self.record.clear(stubs, bare=bare)
        self.conversation = self.conversation.clear(cleared)

    async def pin(self, results: Sequence[str], *, on: bool = True) -> None:
        """Pin results, or free them."""
        pinned = await self.record.pin(results, on=on)
        self.conversation = self.conversation.apply(pinned)

    async def bare_all(self) -> None:
        """Remove all thinking from the view, for good."""
        ids = [e.id for e in self.conversation.entries if thinks(e.message)]
        if ids:
            bared = await self.record.bare(ids)
            self.conversation = self.conversation.apply(bared)

    async def commit(self, draft: CommitDraft) -> int:
        """Replace the view by a compaction; return its number."""
        commit = await self.record.commit(draft)
        self.conversation = self.conversation.compact(commit)
        self.replaced_view()
        self.muted_until = 0
        return commit.number

    async def undo(self, commit: int, *, bare: Sequence[str]) -> None:
        """Take a compaction back."""
        await self.record.undo(commit, bare=bare)
        self.conversation = replay(await self.record.history())
        self.replaced_view()

    async def rewind(self, before: int | None, *, message: str, files: bool) -> None:
        """Go back to just before an item of the record (None: with files alone).

        Thinking stays out of the restored view where it no longer fits: behind another prompt or model.
        """
        was_bare = bool(self.conversation.bare)
        rewound = await self.record.rewind(before, message=message, files=files)
        if before is None:
            return
        self.ledger.went_back(rewound.seq, before)
        self.conversation = replay(await self.record.history())
        self.replaced_view()
        other = await self.record.remarks({remarks.MODEL, remarks.PROMPT}, since=before)
        if was_bare or other:
            await self.bare_all()

    def replaced_view(self) -> None:
        """Note that another view is in force: what was measured and told of the old one counts no more."""
        self.meter = self.meter.restart()
        self.noted = 0.0

    async def mute(self, until: int) -> None:
        """Let layer 2 wait until the next request passes this many tokens."""
        wanted = list(self.policy.auto.wanted)
        await self.record.remark(remarks.MUTED, {"until": until, "wanted": wanted})
        self.muted_until = until

    def wait_of(self, data: JsonObject) -> int:
        """Return until when a remark of the record lets layer 2 wait: no longer once another threshold is set."""
        wanted = data.get("wanted")
        same = wanted is None or wanted == list(self.policy.auto.wanted)
        return int(data["until"]) if same else 0

    async def report(self, report: CompactionReport) -> CompactionReport:
        """Keep a report; return it with the time it got in the record."""
        report = dataclasses.replace(report, requests=len(self.ledger.contexts))
        remark = await self.record.remark(remarks.REPORT, dataclasses.asdict(report))
        report = dataclasses.replace(report, time=remark.time)
        self.take_report(report, remark.seq)
        return report

    def take_report(self, report: CompactionReport, seq: int) -> None:
        """Count a report that the record holds as item ``seq``."""
        self.reports.append(report)
        self.ledger.took(seq, report.saved)

    async def charge(self, charge: Charge, purpose: Purpose, *, sent: float) -> float | None:
        """Count a billed request; return its cost in US dollars, or None when the price is unknown.

        Args:
            charge: What the endpoint billed, or what we think it did.
            purpose: What the request was for.
            sent: Raw estimate of the conversation that the request carried.
        """
        usage, estimated = charge.usage, charge.estimated
        price = self.model.price(self.frame.model)
        cost = price.of(usage) if price else None
        data: dict[str, Any] = {**dataclasses.asdict(usage), "purpose": purpose.value}
        data |= {"model": self.frame.model, "sent": sent, "cost": cost}
        await self.record.remark(remarks.USAGE, data | ({"estimated": True} if estimated else {}))
        self.ledger.bill(usage, purpose, self.frame.model, cost, price)
        if purpose is Purpose.TURN and not estimated:
            now = self.conversation.sizes.total
            self.meter = self.meter.measure(usage, sent=sent, now=now)
        return cost

    async def answer_open_calls(self, finished: Mapping[str, tuple[ToolResult, Effects]]) -> bool:
        """Give every call that an earlier process left open a result; return whether any was open.

        Args:
            finished: Results that came before the interruption, by ``tool_use_id``.
        """
        calls = self.conversation.open_calls
        if not calls:
            return False
        cut = (ToolResult(call.id, CUT_OFF, is_error=True) for call in calls)
        blocks = tuple(finished[r.tool_use_id][0] if r.tool_use_id in finished else r for r in cut)
        effects = {call.id: finished[call.id][1] for call in calls if call.id in finished}
        await self.append(Message("user", blocks), effects=effects)
        return True
