"""The session: what a front end talks to. It owns the conversation and runs one piece of work at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial

from app.agent.bringing_back import bring_back, restore_brought_back
from app.agent.channel import Channel, Tell, Work
from app.agent.dialogue import Dialogue, Frame, highest_threshold
from app.agent.gate import Gate
from app.agent.layers import Layers
from app.agent.own_commands import OwnCommands
from app.agent.parts import SessionParts, ToolNeeds
from app.agent.queue import Typed, TypedAhead
from app.agent.redoing import redo, refuse_to_drop_edits
from app.agent.restoring import restore
from app.agent.rewinding import (
    FileMove,
    RewindPoint,
    rewind,
)
from app.agent.session_view import SessionView
from app.agent.tour import MODE as TOUR_MODE
from app.agent.tour import announcement, tour_policy
from app.agent.turn import Turn
from app.agent.undoing import undo
from app.agent.upkeep import SessionUpkeep
from app.core import remarks
from app.core.events import BudgetChanged, ErrorRaised, Notice, SummaryPreviewed, TodoItem
from app.core.messages import Image, JsonObject
from app.core.permission import ApprovalRequest, Judgement, Mode, Rule
from app.core.policy import CompactionPolicy
from app.core.reports import Layer, Outcome
from app.core.requests import ModelInfo, ToolSpec
from app.core.session_title import clean_title
from app.errors import CompactionRefused, PalError, RecordUnwritable


class Session(SessionView):
    """A conversation with its record, tools and layers.

    The methods that return `Work` begin it at once, or when what runs has ended; it is read as an async iterator of
    events. Closing it cancels it and leaves a conversation that can be sent.
    """

    def __init__(self, parts: SessionParts) -> None:
        self._parts = parts
        self._tools = parts.tools(
            ToolNeeds(
                self._set_todo,
                lambda: self._dialogue.room,
                lambda: self.mode,
            )
        )
        self._channel = Channel()
        self._side = Channel()
        """For the user's own commands, which run beside a turn."""
        self._wanted: list[str] = []
        self.unsaved = ""
        """The temporary folder that holds the record because its own cannot be written; "" when all is well."""
        self.closed = False
        self.copy_of = ""
        """The session that it was copied from to be opened now; "" when it was not."""
        self.named = ""
        """What the user named the session; "" when they did not."""
        self.mode = parts.mode
        self.rules = parts.rules
        frame = _frame(parts, tuple(tool.spec for tool in self._tools.values()))
        self._dialogue = Dialogue(parts.record, parts.model, frame, parts.policy)
        self._queue = TypedAhead(parts.record)
        self._own = OwnCommands(parts.own_shell, self._dialogue)
        self._upkeep = SessionUpkeep(parts, self._dialogue)
        self._layers = Layers(self._dialogue, parts.read_lines, parts.clock, self._upkeep)
        self._gate = Gate(
            self._judge,
            parts.approver,
            parts.record,
            allow=self.add_rule,
            admitted=parts.admitted,
        )

    @classmethod
    async def open(cls, parts: SessionParts) -> Session:
        """Return the session of a new or an existing record; calls that were cut off get their results."""
        session = cls(parts)
        finished = await restore(session._dialogue, session._queue)
        session.named = await session.title()
        session._upkeep.find_window()  # a refusal may have taught it
        await session._restore_own()
        await session._dialogue.answer_open_calls(finished)
        await session._upkeep.renew_prompt(lambda _: None)
        return session

    # Turns

    def submit(self, text: str, pictures: Sequence[Image] = ()) -> Work:
        """Run one turn that begins with the user's message."""

        async def work(tell: Tell) -> None:
            turn = self._turn(tell)
            if not self._parts.is_tour(text):
                await turn.start(text, pictures)
                return
            policy, mode = self.policy, self.mode
            self._begin_tour(tell)
            try:
                await turn.start(text)
            finally:
                self.set_policy(policy)
                self.set_mode(mode)
                tell(BudgetChanged(self.budget))

        return self._channel.run(work)

    def go_on(self) -> Work:
        """Run a turn from the conversation as it stands: after a failure, a cut answer or a wait."""
        return self._channel.run(lambda tell: self._turn(tell).go_on())

    def cancel(self) -> None:
        """Stop the running work; its iterator still yields what is left to tell, `TurnEnded` last."""
        self._channel.cancel()

    async def enqueue(self, text: str, pictures: Sequence[Image] = ()) -> None:
        """Keep a message for the next step of the running turn."""
        await self._queue.add(text, pictures)

    async def take_back(self, at: int = -1) -> Typed | None:
        """Return a waiting message to the prompt box, the newest by default; None when there is none."""
        return await self._queue.take_back(at)

    def run_command(self, command: str, *, share: bool) -> Work:
        """Run a command of the user's own, also beside a turn; ``share`` tells the model with the next message."""
        return self._work(partial(self._own.run, command, share), self._side)

    def cancel_command(self) -> None:
        """Stop the user's own command."""
        self._side.cancel()

    # Compaction

    def compact(self, focus: str = "") -> Work:
        """Compact now; nothing starts by itself afterwards."""

        async def work(tell: Tell) -> None:
            await self._upkeep.make_ready()
            await self._layers.manual("you asked for it", focus, tell)

        return self._work(work)

    def request_compaction(self, focus: str = "") -> None:
        """Compact after the running step."""
        self._wanted.append(focus)

    def preview(self, focus: str = "") -> Work:
        """Ask for the summary that a compaction would use now and tell it as `SummaryPreviewed`; apply nothing."""

        async def work(tell: Tell) -> None:
            if not self.conversation.entries:
                raise CompactionRefused("there is nothing to compact yet")
            await self._upkeep.make_ready()
            text = await self._layers.summary(focus, tell)
            tell(SummaryPreviewed(text, focus, *self._base()))
            tell(BudgetChanged(self.budget))

        return self._work(work)

    def apply_preview(self, preview: SummaryPreviewed, text: str) -> Work:
        """Compact with a summary that the user has seen and may have edited."""

        async def work(tell: Tell) -> None:
            if self._base() != (preview.base, preview.newest):
                raise CompactionRefused(
                    "the conversation went on since the preview; make a new one"
                )
            await self._layers.apply_summary(text, preview.focus, tell)

        return self._work(work)

    def undo(self) -> Work:
        """Bring back the view before the newest compaction that is in force."""
        return self._work(partial(undo, self._dialogue, self._layers))

    def redo(self) -> Work:
        """Take the newest undo back: the compaction is in force again, with what was said since behind it."""
        return self._work(partial(redo, self._dialogue, self._layers))

    def again(self, focus: str = "") -> Work:
        """Undo the newest compaction and make it anew from the record; without a new one the old one stays."""

        async def work(tell: Tell) -> None:
            refuse_to_drop_edits(self._dialogue)
            await self._upkeep.make_ready()
            await undo(self._dialogue, self._layers, tell)
            reason = "made again from the record"
            made = await self._layers.compact(Layer.MANUAL, reason, focus, tell)
            if made.outcome is not Outcome.APPLIED:
                await redo(self._dialogue, self._layers, tell)

        return self._work(work)

    def rewind(
        self,
        point: RewindPoint,
        *,
        conversation: bool,
        files: Sequence[FileMove] = (),
        folders: Sequence[str] = (),
    ) -> Work:
        """Go back to a moment: with the conversation, with these files and emptied folders, or with both."""
        checkpoints = self._parts.checkpoints

        async def work(tell: Tell) -> None:
            await rewind(
                self._dialogue,
                self._layers,
                checkpoints,
                point,
                tell,
                conversation=conversation,
                files=files,
                folders=folders,
            )

        return self._work(work)

    def clear_now(self) -> Work:
        """Run layer 1 now, whatever it would cost in cache."""

        async def work(tell: Tell) -> None:
            before = len(self._dialogue.reports)
            await self._layers.micro(tell, force=True)
            if len(self._dialogue.reports) == before:
                tell(
                    Notice(
                        "There is nothing to clear: every old result is a line already, or kept."
                    )
                )

        return self._work(work)

    async def pin(self, result: str, on: bool = True) -> None:
        """Keep a result from being cleared, or let it be cleared again."""
        await self._dialogue.pin([result], on=on)

    async def bring_back(self, result: str) -> None:
        """Let the model have the original of a result again, with the user's next message.

        Raises:
            PalError: There is no such result, or the view holds it whole.
        """
        await bring_back(self._dialogue, result)

    # The record

    async def go_unsaved(self) -> str:
        """Go on with the record in a temporary folder, because its own cannot be written; return that folder.

        Raises:
            RecordUnwritable: There is no such folder either.
        """
        if self._parts.refuge is None:
            raise RecordUnwritable("there is no other place for the record")
        self.unsaved = await self._parts.refuge()
        return self.unsaved

    def without_screen(self) -> None:
        """Let the record say that the session was only ever used without a screen."""
        self._upkeep.printed = True

    async def rename(self, title: str) -> str:
        """Give the session another title, "" for none; return it as it is kept."""
        title = clean_title(title)
        await self._parts.record.remark(remarks.RENAMED, {"name": title})
        self.named = title
        return title

    # Settings

    def set_policy(self, policy: CompactionPolicy) -> None:
        """Put other numbers of the layers in force, from the next step on."""
        self._dialogue.put_policy(policy)

    def set_max_output(self, tokens: int) -> None:
        """Let an answer have this many tokens, from the next request on."""
        self._upkeep.set_output(tokens)

    def find_window(self) -> None:
        """Look again how large the model's window is, because what the settings say of it changed."""
        self._upkeep.find_window()

    def set_mode(self, mode: Mode) -> None:
        """Put another permission mode in force."""
        self.mode = mode

    def add_rule(self, rule: Rule) -> Rule:
        """Put a rule in force, keep it if that is possible, and return it as it is listed."""
        try:
            kept = self._parts.keep_rule(rule)
        except OSError:
            kept = dataclasses.replace(rule, source="this session")
        if kept not in self.rules:
            self.rules = (*self.rules, kept)
        return kept

    def remove_rule(self, rule: Rule) -> None:
        """Take a rule out of force, and forget it if it was kept.

        Raises:
            OSError: It is still kept and comes back with the next session.
        """
        self.rules = tuple(r for r in self.rules if r != rule)
        self._parts.drop_rule(rule)

    def explain(self, tool: str, arguments: JsonObject) -> Judgement:
        """Return what would become of a call now, and why."""
        return self._judge(tool, arguments)

    @property
    def last_asked(self) -> ApprovalRequest | None:
        """The newest question of this run."""
        return self._gate.last_asked

    async def set_model(self, model: str) -> None:
        """Go on with another model: now, or from the running work's next request on."""
        self._upkeep.wanted_model = model
        if not self.busy:
            await self._upkeep.make_ready()

    async def learn_model(self) -> None:
        """Ask the endpoint about its model before the first request needs to know; what it says is in `budget`."""
        await self._upkeep.learn_model()

    async def models(self) -> tuple[ModelInfo, ...]:
        """Return what the endpoint lists."""
        return await self._parts.model.models()

    async def close(self) -> None:
        """End what runs, also in the background, and let go of the record; what fails does not keep the rest open."""
        self.closed = True
        parts = self._parts
        async with AsyncExitStack() as last:  # the last one first
            last.push_async_callback(parts.model.close)
            last.push_async_callback(parts.record.close)
            last.push_async_callback(parts.release)
            last.push_async_callback(self._channel.stop)
            last.push_async_callback(self._side.stop)

    # Inside

    def _base(self) -> tuple[int, str]:
        entries = self.conversation.entries
        return self.conversation.base, entries[-1].id if entries else ""

    async def _restore_own(self) -> None:
        """Take up what the user's own commands have to tell, and what was brought back."""
        kept = await self._parts.record.remarks({remarks.OWN_COMMAND, remarks.BROUGHT_BACK})
        own = (r for r in kept if r.kind == remarks.OWN_COMMAND)
        self._own.restore(own, self.conversation.entries)
        back = (r for r in kept if r.kind == remarks.BROUGHT_BACK)
        restore_brought_back(self._dialogue, back, self.conversation.entries)

    def _work(
        self, work: Callable[[Tell], Awaitable[object]], channel: Channel | None = None
    ) -> Work:
        """Run work outside of a turn; what fails is told, not raised."""

        async def told(tell: Tell) -> None:
            try:
                await work(tell)
            except PalError as error:
                unwritten = isinstance(error, RecordUnwritable)
                tell(ErrorRaised(str(error), error.hint, unwritten=unwritten))

        return (channel or self._channel).run(told)

    def _turn(self, tell: Tell) -> Turn:
        return Turn(
            self._dialogue,
            self._layers,
            self._tools,
            self._gate,
            self._queue,
            tell,
            self._upkeep,
            wanted=self._wanted,
            fault=self._parts.fault,
        )

    def _judge(self, tool: str, arguments: JsonObject) -> Judgement:
        return self._parts.judge(tool, arguments, self.mode, self.rules)

    def _set_todo(self, items: tuple[TodoItem, ...]) -> None:
        self._upkeep.set_todo(items)

    def _begin_tour(self, tell: Tell) -> None:
        self.set_policy(tour_policy(self.policy, self._dialogue.meter.floor_tokens))
        self.set_mode(TOUR_MODE)
        tell(Notice(announcement(self._dialogue.frame.threshold)))


def _frame(parts: SessionParts, tools: tuple[ToolSpec, ...]) -> Frame:
    window, source = parts.window_of(None, parts.model_id)
    return Frame(
        model=parts.model_id,
        system="",
        tools=tools,
        max_tokens=parts.max_output_tokens,
        window=window,
        window_source=source,
        threshold=highest_threshold(
            parts.policy.auto.threshold_for(window), window, parts.max_output_tokens
        ),
    )
