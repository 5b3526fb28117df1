"""One turn: layer 1, budget, layer 2, request, the answer's tools, layer 3, and again until the model is done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.agent.calls import COMPACT, CallRun, Fault, name_fault, with_text
from app.agent.channel import Tell
from app.agent.dialogue import INTERRUPTED, Dialogue
from app.agent.gate import Gate
from app.agent.layers import Layers
from app.agent.model_request import Asking
from app.agent.queue import TypedAhead
from app.agent.upkeep import Upkeep
from app.compaction.entry import ResultDraft
from app.compaction.notes import due_mark, note
from app.core import remarks
from app.core.budget import Usage
from app.core.events import (
    AnswerFinished,
    BudgetChanged,
    ErrorRaised,
    Missed,
    Notice,
    QueueChanged,
    QueuedDelivered,
    TurnEnd,
    TurnEnded,
    TurnStarted,
)
from app.core.finishing import to_its_end
from app.core.history import Entry
from app.core.messages import Image, Message, Text, ToolUse, user
from app.core.policy import AfterCompact
from app.core.ports import Tool
from app.core.requests import Answer, StopReason
from app.errors import PalError, RecordError, RecordUnwritable

PAUSES = 5
"""How often in a row a paused turn is continued."""
CUT_CALLS = 2
"""How often in a row a tool call cut by the output limit is answered and tried again."""
GO_ON = "Go on."
"""What the model is told when the user asks for more without words of their own."""
FULL = (
    "The context window was full in the middle of the answer, and compacting does not help. "
    "Shorten the conversation with /compact, or start anew with /clear."
)
NOT_RUN = "[not run: the answer was cut at its output limit before this call was complete]"


@dataclass(slots=True)
class Turn:
    """One turn on a dialogue. Used once."""

    dialogue: Dialogue
    layers: Layers
    tools: Mapping[str, Tool]
    gate: Gate
    queue: TypedAhead
    tell: Tell
    upkeep: Upkeep
    wanted: list[str]
    """Focuses of compactions asked for while the turn runs; emptied by it."""
    fault: Fault = name_fault
    asking: Asking = field(init=False)
    stop: str = ""
    _run: CallRun | None = None

    def __post_init__(self) -> None:
        self.asking = Asking(self.dialogue, self.layers, self.tell)

    async def start(self, text: str, pictures: Sequence[Image] = ()) -> None:
        """Add the user's message and run until the model is done; always ends with `TurnEnded`."""

        async def begin() -> None:
            if not text.strip():
                raise PalError("There is nothing to send: the message is empty.")
            await self._answer_open_calls()
            waiting = self._unanswered(text, pictures)
            entry = waiting or await self.dialogue.say(text, pictures, notes=await self._note())
            self.tell(TurnStarted(text, entry.id))

        await self._run_from(begin)

    async def go_on(self) -> None:
        """Run from the conversation as it stands; when the model had the last word, ask it to go on."""

        async def begin() -> None:
            await self._answer_open_calls()
            await self._hand_over()

        await self._run_from(begin)

    async def _run_from(self, begin: Callable[[], Awaitable[None]]) -> None:
        account = self.dialogue.ledger.account
        usage_before, cost_before = account.usage, account.cost
        reports_before = len(self.dialogue.reports)
        end, problem = TurnEnd.FAILED, ""
        try:
            await begin()
            self.layers.spoken()
            await self.upkeep.make_ready()
            self.tell(BudgetChanged(self.dialogue.budget()))
            end = await self._steps()
            await self._compact_if_wanted()
        except asyncio.CancelledError:
            end = TurnEnd.CANCELLED
            try:
                await to_its_end(self._after_cancel())
            except RecordError as error:
                await self._tell_problem(error)
            raise
        except PalError as error:
            problem = str(error)
            await self._tell_problem(error)
        finally:
            self.wanted.clear()
            self.dialogue.interrupted = self._run
            used = _minus(account.usage, usage_before)
            cost = account.cost
            self.tell(BudgetChanged(self.dialogue.budget()))
            self.tell(
                TurnEnded(
                    end,
                    text=self.asking.text,
                    usage=used,
                    cost=None if cost is None or cost_before is None else cost - cost_before,
                    compactions=sum(
                        1 for report in self.dialogue.reports[reports_before:] if report.commit
                    ),
                    error=problem,
                    stop=self.stop,
                )
            )

    async def _tell_problem(self, error: PalError) -> None:
        """Tell what ended the turn, and keep it in the record when that can be written."""
        self.tell(
            ErrorRaised(str(error), error.hint, unwritten=isinstance(error, RecordUnwritable))
        )
        if isinstance(error, RecordError):
            return
        try:
            data = {"message": str(error), "hint": error.hint}
            await self.dialogue.record.remark(remarks.ERROR, data)
        except RecordError as second:
            await self._tell_problem(second)

    def _unanswered(self, text: str, pictures: Sequence[Image]) -> Entry | None:
        """Return the newest message when it says this already and nobody answered it: it is not said twice."""
        newest = next(iter(self.dialogue.conversation.entries[-1:]), None)
        if newest is None or newest.words != text:
            return None
        return newest if all(picture in newest.message.content for picture in pictures) else None

    async def _hand_over(self) -> None:
        """Ask the model to go on where it had the last word: a request ends with the user's message."""
        conversation = self.dialogue.conversation
        answered = conversation.unseen_from == len(conversation.entries)
        if answered and not self.queue.texts:
            await self.dialogue.append(user(GO_ON))

    async def _answer_open_calls(self) -> None:
        """Answer what an interruption left open: with what came of the calls, as far as that is known."""
        calls = self.dialogue.conversation.open_calls
        if not calls:
            return
        run = self._run or self.dialogue.interrupted
        if run is None or tuple(run.calls) != calls:
            run = self._call_run(calls)
        run.tell = self.tell
        run.interrupt(INTERRUPTED)
        await self._add_results(calls, run)
        self._run = self.dialogue.interrupted = None

    async def _steps(self) -> TurnEnd:
        pauses = cut_calls = 0
        was_full = False
        while True:
            await self._deliver_queue()
            await self.upkeep.change_model()
            await self.layers.micro(self.tell)
            await self.layers.auto(self.tell)
            answer = await self.asking.ask()
            kept = await self._keep(answer)
            self.stop = answer.stop_text or answer.stop.value
            uses = answer.message.tool_uses if kept else ()
            match answer.stop:
                case StopReason.TOOL_USE | StopReason.PAUSE_TURN if uses:
                    pauses = cut_calls = 0
                    if await self._run_calls(uses) is TurnEnd.WAITING:
                        return TurnEnd.WAITING
                case StopReason.PAUSE_TURN if pauses < PAUSES:
                    pauses += 1
                case StopReason.WINDOW_EXCEEDED:
                    await self._refuse_calls(uses, "[not run: the context window was full]")
                    size = self.dialogue.used
                    if was_full or not await self.layers.overflow(self.tell):
                        self.tell(Notice(FULL, warning=True))
                        return TurnEnd.CUT
                    was_full = True
                    await self.asking.learn_from_full(size)
                    await self._hand_over()
                case StopReason.MAX_TOKENS:
                    await self._refuse_calls(uses, NOT_RUN)
                    raised = self.upkeep.raise_output()
                    if not uses or cut_calls >= CUT_CALLS:
                        self._tell_cut(raised=raised)
                        return TurnEnd.CUT
                    cut_calls += 1
                case StopReason.REFUSAL:
                    why = f": {answer.stop_text}" if answer.stop_text else ""
                    self.tell(Notice(f"The model refused to answer{why}", warning=True))
                    return TurnEnd.REFUSED
                case _:
                    await self._refuse_calls(uses, f"[not run: the answer ended with {self.stop}]")
                    self._tell_odd_end(answer, kept=kept)
                    await self._compact_if_wanted()
                    if not self.queue.texts:
                        return TurnEnd.DONE

    async def _deliver_queue(self) -> None:
        while (delivered := await self.queue.deliver(self.dialogue.say)) is not None:
            text, entry = delivered
            self.layers.spoken()
            self.tell(QueuedDelivered(text, entry.id))
            self.tell(QueueChanged(self.queue.texts))

    async def _keep(self, answer: Answer) -> bool:
        """Put the answer into the record; refused and empty ones stay out of the conversation."""
        empty = not any(
            not isinstance(block, Text) or block.text.strip() for block in answer.message.content
        )
        refused = answer.stop is StopReason.REFUSAL
        kept = not empty and not refused
        entry_id = ""
        if kept:
            entry_id = (await self.dialogue.append(answer.message)).id
        else:
            await self.asking.keep_partial()
        await self.asking.charge(answer)
        self.tell(AnswerFinished(entry_id, answer.usage))
        self.tell(BudgetChanged(self.dialogue.budget()))
        return kept

    async def _run_calls(self, uses: tuple[ToolUse, ...]) -> TurnEnd | None:
        """Run an answer's calls and add their results; then layer 3 if it was asked for."""
        self._run = run = self._call_run(uses)
        await run.run()
        await self.upkeep.keep_todo(self.tell)
        await self._add_results(uses, run)
        self._run = None
        self.tell(BudgetChanged(self.dialogue.budget()))
        await self._watch_misses(uses, run)
        for call in uses:
            if call.name == COMPACT and not run.finished[call.id][0].is_error:
                focus = str(call.input.get("focus", ""))
                if await self._compact("the model asked for it", focus):
                    policy = self.dialogue.policy.manual
                    if policy.after_compact is AfterCompact.WAIT:
                        return TurnEnd.WAITING
        await self._compact_if_wanted()
        return None

    async def _add_results(self, uses: tuple[ToolUse, ...], run: CallRun) -> None:
        results = [run.finished[call.id][0] for call in uses]
        effects = {call.id: run.finished[call.id][1] for call in uses}
        drafts = [
            ResultDraft(run.first_result + at, call.name, result.content, run.full.get(call.id))
            for at, (call, result) in enumerate(zip(uses, results, strict=True))
            if isinstance(result.content, str)
        ]
        shortened = await self.layers.shorten(drafts, self.tell)
        by_number = {d.number: s for d, s in zip(drafts, shortened, strict=True)}
        for at, call in enumerate(uses):
            short = by_number.get(run.first_result + at)
            if short is not None and short.stored:
                results[at] = with_text(results[at], short.text)
                stored = f"r{run.first_result + at}.txt"
                effects[call.id] = replace(effects[call.id], stored=stored)
        notes = tuple(Text(note) for note in await self._note())
        await self.dialogue.append(Message("user", (*results, *notes)), effects=effects)
        run.written()

    async def _watch_misses(self, uses: tuple[ToolUse, ...], run: CallRun) -> None:
        """Notice that something cleared was needed again, and keep it from now on."""
        conversation = self.dialogue.conversation
        cleared = {ref.id: ref for ref in conversation.results if ref.id in conversation.stubs}
        for at, call in enumerate(uses):
            missed, how = "", ""
            if call.name == "recall" and call.input.get("id") in cleared:
                missed, how = str(call.input["id"]), "recall"
            elif call.name == "read_file":
                same = [
                    r.id for r in cleared.values() if (r.tool, r.input) == ("read_file", call.input)
                ]
                missed, how = (same[-1] if same else ""), "read again"
            if missed and not run.finished[call.id][0].is_error:
                await self.dialogue.pin([missed, f"r{run.first_result + at}"])
                self.tell(Missed(missed, how))

    async def _refuse_calls(self, uses: tuple[ToolUse, ...], why: str) -> None:
        """Answer calls that must not run, so that the conversation stays valid."""
        if not uses:
            return
        run = self._call_run(uses)
        run.interrupt(why)
        await self._add_results(uses, run)

    async def _compact_if_wanted(self) -> bool:
        if not self.wanted:
            return False
        focus = self.wanted[-1]
        self.wanted.clear()
        return await self._compact("you asked for it", focus)

    async def _compact(self, reason: str, focus: str) -> bool:
        return await self.layers.manual(reason, focus, self.tell)

    def _call_run(self, uses: tuple[ToolUse, ...]) -> CallRun:
        record = self.dialogue.record
        return CallRun(uses, self.tools, self.gate, record, self.tell, self.fault)

    async def _note(self) -> tuple[str, ...]:
        """Return the note for a share of the threshold that was just passed, once for each share and view."""
        dialogue = self.dialogue
        used, limit = dialogue.used, dialogue.trigger
        mark = due_mark(dialogue.policy.manual, used=used, threshold=limit, given={dialogue.noted})
        if mark is None:
            return ()
        await dialogue.record.remark(remarks.NOTE, {"mark": mark})
        dialogue.noted = mark
        return (note(mark, used=used, threshold=limit),)

    async def _after_cancel(self) -> None:
        """Leave a conversation that can be sent: every call answered, now or before the next turn."""
        try:
            await self._answer_open_calls()
        except RecordError as error:
            await self._tell_problem(error)

    def _tell_odd_end(self, answer: Answer, *, kept: bool) -> None:
        """Say what a reader would otherwise take for a finished answer."""
        if answer.stop is StopReason.OTHER:
            word = f"The answer ended with an unknown stop reason: {self.stop}"
            self.tell(Notice(word, warning=True))
        elif answer.stop is StopReason.PAUSE_TURN:
            word = f"The model paused {PAUSES + 1} times in a row. Say “go on” to continue."
            self.tell(Notice(word, warning=True))
        elif not kept:
            self.tell(
                Notice(
                    "The model gave an empty answer. Send the message again, or use /retry.",
                    warning=True,
                )
            )

    def _tell_cut(self, *, raised: bool) -> None:
        limit = self.dialogue.frame.max_tokens
        more = f" The limit is now {limit:,} tokens." if raised else ""
        self.tell(
            Notice(
                f"The answer was cut at its output limit.{more} Say “go on” to continue.",
                warning=True,
            )
        )


def _minus(after: Usage, before: Usage) -> Usage:
    return Usage(
        after.input - before.input,
        after.cache_read - before.cache_read,
        after.cache_write - before.cache_write,
        after.output - before.output,
    )
