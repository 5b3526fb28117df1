"""A session that plays events a test wrote down, and notes what the screen asked of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from app.agent.channel import Channel, Tell, Work
from app.agent.ledger import Run
from app.agent.queue import Typed
from app.agent.rewinding import FileMove, FilePlan, RewindPoint
from app.compaction.head import HeadParts
from app.core.budget import Budget, Parts, Usage
from app.core.conversation import Conversation
from app.core.effects import Effects
from app.core.events import (
    AnswerFinished,
    BudgetChanged,
    Compacted,
    Event,
    QueuedDelivered,
    RequestSent,
    SummaryPreviewed,
    TextArrived,
    TodoItem,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnEnd,
    TurnEnded,
    TurnStarted,
    WentBack,
)
from app.core.file_states import ABSENT, FileState
from app.core.history import Commit, Entry
from app.core.messages import Message, Text, ToolResult, ToolUse, user
from app.core.originals import Original
from app.core.permission import Judgement, Mode, Verdict
from app.core.policy import CompactionPolicy
from app.core.reports import CompactionReport, Layer, Outcome
from app.core.requests import ModelInfo
from app.core.savings import Savings
from app.errors import PalError, RecordUnwritable

BUDGET = Budget(
    used=18_240,
    measured=False,
    threshold=50_000,
    window=200_000,
    window_source="endpoint",
    parts=Parts(floor=6_100, summary=2_040, words=800, conversation=4_200, results=5_100),
    cached=14_000,
    prompt=17_000,
    cost=0.123,
)
MICRO = CompactionReport(
    Layer.MICRO,
    Outcome.APPLIED,
    "it pays back after 6 requests",
    41_200,
    33_100,
    ("r1", "r2", "r3"),
    time="2026-11-29T12:04:00.000Z",
    transcript=".transcripts/s/transcript_0001.jsonl",
)
HELD = CompactionReport(
    Layer.MICRO,
    Outcome.HELD,
    "pays back after 31 requests; press c to clear now",
    41_200,
    41_200,
    ("r4",),
    time="2026-11-29T12:05:00.000Z",
)
AUTO = CompactionReport(
    Layer.AUTO,
    Outcome.APPLIED,
    "the next request would be 50,310 tokens, over the threshold of 50,000",
    50_310,
    17_900,
    messages=42,
    kept=6,
    summary="[Conversation compressed.]\n\n## What was accomplished\nThe parser reads lists.",
    cost=0.021,
    seconds=6.4,
    transcript=".transcripts/s/transcript_0001.jsonl",
    commit=1,
    time="2026-11-29T12:10:00.000Z",
    method="summary",
)
MANUAL = CompactionReport(
    Layer.MANUAL,
    Outcome.APPLIED,
    "you asked for it",
    31_900,
    14_200,
    messages=18,
    kept=4,
    focus="the parser",
    summary="[Conversation compressed.]\n\n## What was accomplished\nTests pass.",
    cost=0.012,
    seconds=4.1,
    transcript=".transcripts/s/transcript_0002.jsonl",
    commit=2,
    time="2026-11-29T12:20:00.000Z",
    method="summary",
)
SAWTOOTH = tuple(
    [*range(8_000, 49_000, 3_500), *range(33_000, 50_000, 2_500), *range(17_000, 48_000, 2_200)]
)


POINTS = (
    RewindPoint(9, "m7", "and now the tests", "2026-11-29T12:20:00.000Z"),
    RewindPoint(7, "", "write a parser", ""),
    RewindPoint(2, "m1", "write a parser", "2026-11-29T12:00:00.000Z", ("a.py", "b.py"), 12, 3),
)
PLAN = FilePlan(
    (
        FileMove("a.py", FileState("aa", 0o644), True, 3, 1, False),
        FileMove("b.py", ABSENT, True, 0, 12, True),
        FileMove(
            "c.bin",
            FileState("cc", 0o644, "larger than 8 MB"),
            True,
            0,
            0,
            False,
            "larger than 8 MB",
        ),
    ),
    folders=("new/part", "new"),
)


def _around() -> tuple[Conversation, Conversation]:
    call = ToolUse("t1", "read_file", {"path": "src/parser.py"})
    result = ToolResult("t1", "def parse_list(text): ...\n" * 80)
    effects = {"t1": Effects("src/parser.py", "lines 1-80")}
    before = Conversation().extend(
        (
            Entry(1, 1, "", user("write a parser"), spoken=(0,)),
            Entry(2, 2, "", Message("assistant", (Text("I read it first."), call))),
            Entry(3, 3, "", Message("user", (result,)), effects=effects, first_result=1),
            Entry(4, 4, "", Message("assistant", (Text("It takes no comma."),))),
            Entry(5, 5, "", user("accept one"), spoken=(0,)),
        )
    )
    head = HeadParts(
        "## What was accomplished\nThe parser reads lists.", "Files read: src/parser.py"
    )
    commit = Commit(6, 1, "", Layer.AUTO, head.message(AUTO.transcript), ("m1", "m4"), ("m5",))
    return before, before.compact(commit)


AROUND = _around()


def answer(text: str, *extra: Event) -> list[Event]:
    """A turn that says one thing; ``extra`` comes before its end."""
    return [
        RequestSent(1, 18_000),
        *(TextArrived(piece) for piece in text.splitlines(keepends=True)),
        AnswerFinished("m2", Usage(input=18_000, output=40)),
        *extra,
        TurnEnded(TurnEnd.DONE, text=text, usage=Usage(input=18_000, output=40), cost=0.01),
    ]


class FakeSession:
    """Implements what the screen uses of `app.agent.session.Session`.

    Args:
        turns: Events of each turn, in order; without a script a turn says "ok".
        hold: When set, each turn waits for it before its last event.
    """

    def __init__(
        self, turns: Iterable[list[Event]] = (), *, hold: asyncio.Event | None = None
    ) -> None:
        self.turns = list(turns)
        self.hold = hold
        self.asked: list[tuple[str, str]] = []
        self.name = "2026-11-29T12-00-00Z-7f3a"
        self.folder = Path("/home/me/project")
        self.transcript = f".transcripts/{self.name}/transcript_0001.jsonl"
        self.model = "claude-sonnet-4-5"
        self.policy = CompactionPolicy()
        self.budget = BUDGET
        self.conversation = Conversation()
        self.reports: tuple[CompactionReport, ...] = ()
        self.contexts: tuple[int, ...] = ()
        self.todo: tuple[TodoItem, ...] = ()
        self.queue: tuple[str, ...] = ()
        self.usage = Usage(input=20_000, cache_read=60_000, output=3_000)
        self.cost: float | None = 0.123
        self.requests = 7
        self.learned = 0
        self.runs: tuple[Run, ...] = ()
        self.turn_starts: tuple[int, ...] = (0, 2, 4)
        self.savings = Savings(sent=80_000, whole=210_000, cost=0.123, whole_cost=0.311)
        self.mode = Mode.ASK
        self.rules = ()
        self.last_asked = None
        self.unsaved = ""
        self.has_tour = True
        self.notices: tuple[str, ...] = ()
        self.closed = False
        self.named = ""
        self.copy_of = ""
        self.pictures: tuple = ()
        self.pages: list[tuple] = []
        self._cancelled = asyncio.Event()
        self._channel = Channel()

    @property
    def busy(self) -> bool:
        return self._channel.busy

    def submit(self, text: str, pictures=()):
        self.asked.append(("submit", text))
        self.pictures = tuple(pictures)
        return self._play(
            [TurnStarted(text, "m1"), *(self.turns.pop(0) if self.turns else answer("ok"))]
        )

    def go_on(self):
        self.asked.append(("go_on", ""))
        waiting, self.queue = self.queue, ()
        said = [QueuedDelivered(text, "m1") for text in waiting]
        return self._play([*said, *(self.turns.pop(0) if self.turns else answer("ok"))])

    def add_rule(self, rule):
        kept = replace(rule, source="this session")
        self.rules = (*self.rules, kept)
        return kept

    def remove_rule(self, rule) -> None:
        self.rules = tuple(r for r in self.rules if r != rule)

    def explain(self, tool, arguments) -> Judgement:
        return Judgement(Verdict.ASK, f"{arguments['command']}: it is not known.")

    async def go_unsaved(self) -> str:
        self.unsaved = "/tmp/elsewhere"
        return self.unsaved

    def compact(self, focus: str = ""):
        self.asked.append(("compact", focus))
        return self._play([Compacted(MANUAL)])

    def redo(self):
        self.asked.append(("redo", ""))
        return self._play([Compacted(MANUAL)])

    def again(self, focus: str = ""):
        self.asked.append(("again", focus))
        return self._play([Compacted(MANUAL)])

    def undo(self):
        self.asked.append(("undo", ""))
        return self._play(
            [Compacted(replace(MANUAL, outcome=Outcome.UNDONE, before=14_200, after=31_900))]
        )

    def clear_now(self):
        self.asked.append(("clear_now", ""))
        return self._play([Compacted(MICRO)])

    def request_compaction(self, focus: str = "") -> None:
        self.asked.append(("request_compaction", focus))

    def preview(self, focus: str = "") -> Work:
        self.asked.append(("preview", focus))
        return self._play([SummaryPreviewed("## What was accomplished\nA lot.", focus, 0, "m9")])

    def apply_preview(self, preview: SummaryPreviewed, text: str) -> Work:
        self.asked.append(("apply_preview", text))
        return self._play([Compacted(MANUAL)])

    def cancel(self) -> None:
        self.asked.append(("cancel", ""))
        self._cancelled.set()

    async def enqueue(self, text: str, pictures=()) -> None:
        self.queue = (*self.queue, text)

    async def take_back(self, at: int = -1) -> Typed | None:
        if not self.queue:
            return None
        waiting = list(self.queue)
        text = waiting.pop(at)
        self.queue = tuple(waiting)
        return Typed(text)

    async def run_command(self, command: str, *, share: bool):
        self.asked.append(("run_command" if share else "run_command_privately", command))
        yield ToolStarted("own-1", "!", command, {"command": command})
        yield ToolOutput("own-1", "live output\n")
        if self.hold is not None:
            await self.hold.wait()
        yield ToolFinished("own-1", "!", True, "all output", "exit 0, 1 line", 0.1, target=command)

    def cancel_command(self) -> None:
        self.asked.append(("cancel_command", ""))

    async def rewind_points(self) -> tuple[RewindPoint, ...]:
        return POINTS

    async def rewind_files(self, point: RewindPoint) -> FilePlan:
        return PLAN

    def rewind(
        self, point: RewindPoint, *, conversation: bool, files: tuple = (), folders: tuple = ()
    ) -> Work:
        what = ["conversation"] * conversation + [move.path for move in files] + [*folders]
        self.asked.append(("rewind", ", ".join(what)))
        return self._play([WentBack(point.words, conversation, tuple(m.path for m in files))])

    async def pin(self, result: str, on: bool = True) -> None:
        self.asked.append(("pin", result))
        pinned = self.conversation.pinned
        self.conversation = replace(
            self.conversation, pinned=pinned | {result} if on else pinned - {result}
        )

    async def recall(self, id_: str) -> str:
        if not id_.startswith("r"):
            raise PalError(f"There is no {id_} in this session.")
        return f"the whole text of {id_}"

    async def original(self, id_: str) -> Original:
        return Original(f"{id_} (src/{id_}.py)", await self.recall(id_))

    async def rename(self, title: str) -> str:
        self.asked.append(("rename", title))
        self.named = title
        return title

    async def title(self) -> str:
        return self.named

    async def export(self, path: Path, *, replace: bool = False) -> None:
        self.asked.append(("export", f"{path.name}{' over the old one' if replace else ''}"))
        if path.name == "there.md":
            raise RecordUnwritable("there.md exists already", hint="Name another file.")

    async def page(self, before: int | None, limit: int) -> tuple:
        return self.pages.pop(0) if self.pages else ()

    async def asides(self, page: tuple) -> tuple:
        return ()

    async def around(self, commit: int) -> tuple[Conversation, Conversation]:
        return AROUND

    async def bring_back(self, result: str) -> None:
        self.asked.append(("bring_back", result))
        if result == "r9":
            raise PalError("r9 stands in the view whole already.")

    async def learn_model(self) -> None:
        self.learned += 1

    def set_policy(self, policy: CompactionPolicy) -> None:
        self.policy = policy
        self.budget = replace(self.budget, threshold=policy.auto.threshold)

    def set_max_output(self, tokens: int) -> None:
        self.asked.append(("set_max_output", str(tokens)))

    def find_window(self) -> None:
        self.asked.append(("find_window", ""))

    def set_mode(self, mode: Mode) -> None:
        self.mode = mode

    async def set_model(self, model: str) -> None:
        self.model = model

    async def models(self) -> tuple[ModelInfo, ...]:
        return (
            ModelInfo("claude-sonnet-4-5", "Sonnet", 200_000),
            ModelInfo("claude-haiku-4-5", "Haiku", 200_000),
        )

    async def close(self) -> None:
        self.closed = True

    def _play(self, events: list[Event]) -> Work:
        return self._channel.run(lambda tell: self._tell(events, tell))

    async def _tell(self, events: list[Event], tell: Tell) -> None:
        for event in events:
            ending = isinstance(event, TurnEnded)
            if ending and self.hold is not None:
                waits = [asyncio.ensure_future(e.wait()) for e in (self.hold, self._cancelled)]
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                for wait in waits:
                    wait.cancel()
                if self._cancelled.is_set():
                    event = TurnEnded(TurnEnd.CANCELLED)
                    self._cancelled.clear()
            if isinstance(event, Compacted):
                self.reports = (*self.reports, event.report)
            if isinstance(event, BudgetChanged):
                self.budget = event.budget
            tell(event)
