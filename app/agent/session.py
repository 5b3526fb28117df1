"""The session: what a front end talks to. It owns the conversation and runs one piece of work at a time."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from app.agent.channel import Channel, Tell
from app.agent.dialogue import Dialogue, Frame, highest_threshold
from app.agent.gate import Gate
from app.agent.layers import Layers
from app.agent.parts import SessionParts, ToolNeeds
from app.agent.prompt import build_system_prompt
from app.agent.queue import TypedAhead
from app.agent.restoring import restore
from app.agent.tour import MODE as TOUR_MODE
from app.agent.tour import announcement, tour_policy
from app.agent.turn import Turn
from app.agent.undoing import undo
from app.core import remarks
from app.core.budget import Budget, Usage
from app.core.conversation import Conversation, replay
from app.core.events import BudgetChanged, ErrorRaised, Event, Notice, TodoChanged, TodoItem
from app.core.history import Entry
from app.core.messages import JsonObject, Message
from app.core.originals import find_original, read_id
from app.core.permission import Judgement, Mode, Rule
from app.core.policy import CompactionPolicy
from app.core.reports import CompactionReport, Layer
from app.core.requests import ModelInfo, ToolSpec
from app.errors import (
    Busy,
    CompactionRefused,
    ConfigError,
    ModelError,
    PalError,
    RecordUnwritable,
    Unreachable,
)

MODEL_INFO_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Preview:
    """A summary that nothing has used yet."""

    text: str
    focus: str
    base: tuple[int, str]
    """Compaction in force and newest message when it was made; it can be applied only while both are so."""


class Session:
    """A conversation with its record, tools and layers.

    The methods that return an async iterator run the work they name while they are read; closing the iterator
    cancels it and leaves a conversation that can be sent. Only one may be read at a time.
    """

    def __init__(self, parts: SessionParts) -> None:
        self._parts = parts
        self._new_todo: tuple[TodoItem, ...] | None = None
        self._tools = parts.tools(
            ToolNeeds(self._set_todo, lambda: self._dialogue.policy_in_force, lambda: self.mode)
        )
        self._channel = Channel()
        self._wanted: list[str] = []
        self._info_known = False
        self.unsaved = ""
        """The temporary folder that holds the record because its own cannot be written; "" when all is well."""
        self.mode = parts.mode
        self.rules = parts.rules
        frame = _frame(parts, tuple(tool.spec for tool in self._tools.values()))
        self._dialogue = Dialogue(parts.record, parts.model, frame, parts.policy)
        self._queue = TypedAhead(parts.record)
        self._layers = Layers(self._dialogue, parts.read_lines, parts.clock, self._renew_prompt)
        self._gate = Gate(
            self._judge,
            parts.approver,
            parts.record,
            allow=self.allow,
            admitted=parts.admitted,
        )

    @classmethod
    async def open(cls, parts: SessionParts) -> Session:
        """Return the session of a new or an existing record; calls that were cut off get their results."""
        session = cls(parts)
        finished = await restore(session._dialogue, session._queue)
        await session._dialogue.answer_open_calls(finished)
        await session._renew_prompt(lambda _: None)
        return session

    # What a front end shows

    @property
    def name(self) -> str:
        """The session's name on disk."""
        return self._parts.record.session

    @property
    def folder(self) -> Path:
        """The project folder."""
        return self._parts.surroundings.folder

    @property
    def transcript(self) -> str:
        """Path of the current transcript segment."""
        return self._parts.record.transcript

    @property
    def model(self) -> str:
        """The model in force."""
        return self._dialogue.frame.model

    @property
    def policy(self) -> CompactionPolicy:
        """The layers' numbers in force."""
        return self._dialogue.policy

    @property
    def budget(self) -> Budget:
        """What the next request would be billed as input."""
        return self._dialogue.budget()

    @property
    def conversation(self) -> Conversation:
        """The conversation as it stands; a value, never changed."""
        return self._dialogue.conversation

    @property
    def reports(self) -> tuple[CompactionReport, ...]:
        """All runs of the layers, also those before a resume, oldest first."""
        return tuple(self._dialogue.reports)

    @property
    def contexts(self) -> tuple[int, ...]:
        """Billed input tokens of each of the agent's requests, oldest first."""
        return tuple(self._dialogue.contexts)

    @property
    def todo(self) -> tuple[TodoItem, ...]:
        """The todo list."""
        return self._dialogue.todo

    @property
    def queue(self) -> tuple[str, ...]:
        """What the user typed ahead, oldest first."""
        return self._queue.texts

    @property
    def usage(self) -> Usage:
        """Tokens billed in this session, summary calls included."""
        return self._dialogue.usage

    @property
    def cost(self) -> float | None:
        """US dollars of this session, or None when a price is unknown."""
        return self._dialogue.cost

    @property
    def requests(self) -> int:
        """Requests of this session, summary calls included."""
        return self._dialogue.requests

    @property
    def notices(self) -> tuple[str, ...]:
        """What was found damaged in the record, one sentence each."""
        return self._parts.record.notices

    @property
    def has_tour(self) -> bool:
        """Whether the model that answers knows the tour."""
        return self._parts.is_tour("tour")

    @property
    def busy(self) -> bool:
        """Whether a turn or a compaction runs."""
        return self._channel.busy

    # Turns

    def submit(self, text: str) -> AsyncGenerator[Event, None]:
        """Run one turn that begins with the user's message."""

        async def work(tell: Tell) -> None:
            turn = self._turn(tell)
            if not self._parts.is_tour(text):
                await turn.start(text)
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

    def go_on(self) -> AsyncGenerator[Event, None]:
        """Run a turn from the conversation as it stands: after a failure, a cut answer or a wait."""
        return self._channel.run(lambda tell: self._turn(tell).go_on())

    def cancel(self) -> None:
        """Stop the running work; its iterator still yields what is left to tell, `TurnEnded` last."""
        self._channel.cancel()

    async def enqueue(self, text: str) -> None:
        """Keep a message for the next step of the running turn."""
        await self._queue.add(text)

    async def take_back(self) -> str | None:
        """Return the newest waiting message to the prompt box; None when none waits."""
        return await self._queue.take_back()

    # Compaction

    def compact(self, focus: str = "") -> AsyncGenerator[Event, None]:
        """Compact now; nothing starts by itself afterwards."""

        async def work(tell: Tell) -> None:
            await self._learn_model()
            await self._layers.manual("you asked for it", focus, tell)

        return self._work(work)

    def request_compaction(self, focus: str = "") -> None:
        """Compact after the running step."""
        self._wanted.append(focus)

    async def preview(self, focus: str = "") -> Preview:
        """Return the summary that a compaction would use now.

        Raises:
            CompactionRefused: There is nothing to compact, or the model gave no usable summary.
            ModelError: The call failed.
        """
        if not self.conversation.entries:
            raise CompactionRefused("there is nothing to compact yet")
        base = self._base()
        return Preview(await self._layers.summary(focus, lambda _: None), focus, base)

    def apply_preview(self, preview: Preview, text: str) -> AsyncGenerator[Event, None]:
        """Compact with a summary that the user has seen and may have edited."""

        async def work(tell: Tell) -> None:
            if self._base() != preview.base:
                raise CompactionRefused(
                    "the conversation went on since the preview; make a new one"
                )
            await self._layers.apply_summary(text, preview.focus, tell)

        return self._work(work)

    def undo(self) -> AsyncGenerator[Event, None]:
        """Bring back the view before the newest compaction that is in force."""
        return self._work(partial(undo, self._dialogue, self._layers))

    def redo(self, focus: str = "") -> AsyncGenerator[Event, None]:
        """Undo the newest compaction and make it again from the record."""

        async def work(tell: Tell) -> None:
            await self._learn_model()
            if await undo(self._dialogue, self._layers, tell):
                await self._layers.compact(Layer.MANUAL, "made again from the record", focus, tell)

        return self._work(work)

    def clear_now(self) -> AsyncGenerator[Event, None]:
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

    # The record

    async def recall(self, id_: str) -> str:
        """Return the original text of ``r<N>`` or ``m<N>``.

        Raises:
            PalError: There is no such result or message.
        """
        wanted = read_id(id_)
        original = await find_original(self._parts.record, *wanted) if wanted else None
        if original is None:
            raise PalError(f"There is no {id_} in this session.")
        return original.text

    async def page(self, before: int | None, limit: int) -> tuple[Entry, ...]:
        """Return up to ``limit`` messages of the record before message number ``before``, oldest first."""
        return await self._parts.record.page(before, limit)

    async def view_before(self, commit: int) -> tuple[Message, ...]:
        """Return the view right before a compaction."""
        return replay(await self._parts.record.history(before=commit)).view().messages

    async def view_after(self, commit: int) -> tuple[Message, ...]:
        """Return the view right after a compaction; () when there is no such compaction."""
        made = await self._parts.record.compaction(commit)
        if made is None:
            return ()
        before = replay(await self._parts.record.history(before=commit))
        return before.compact(made).view().messages

    async def go_unsaved(self) -> str:
        """Go on with the record in a temporary folder, because its own cannot be written; return that folder.

        Raises:
            RecordUnwritable: There is no such folder either.
        """
        if self._parts.refuge is None:
            raise RecordUnwritable("there is no other place for the record")
        self.unsaved = await self._parts.refuge()
        return self.unsaved

    # Settings

    def set_policy(self, policy: CompactionPolicy) -> None:
        """Put other numbers of the layers in force, from the next step on."""
        self._dialogue.policy = policy
        self._dialogue.fit_threshold()

    def set_mode(self, mode: Mode) -> None:
        """Put another permission mode in force."""
        self.mode = mode

    def allow(self, rule: Rule) -> None:
        """Add a rule for this session."""
        self.rules = (*self.rules, dataclasses.replace(rule, source="this session"))

    def remove_rule(self, rule: Rule) -> None:
        """Remove a rule."""
        self.rules = tuple(r for r in self.rules if r != rule)

    async def set_model(self, model: str) -> None:
        """Go on with another model: earlier thinking is removed, since only its own model can read it."""
        await self._parts.record.remark(remarks.MODEL, {"model": model})
        await self._dialogue.bare_all()
        frame = self._dialogue.frame
        frame.model = model
        frame.window, frame.window_source = self._parts.window_of(None, model)
        self._dialogue.fit_threshold()
        self._info_known = False
        self._layers.last_request = None
        await self._learn_model()

    async def models(self) -> tuple[ModelInfo, ...]:
        """Return what the endpoint lists."""
        return await self._parts.model.models()

    async def close(self) -> None:
        """End what runs and let go of the record."""
        await self._channel.stop()
        await self._parts.record.close()
        await self._parts.model.close()

    # Inside

    def _base(self) -> tuple[int, str]:
        entries = self.conversation.entries
        return self.conversation.base, entries[-1].id if entries else ""

    def _work(self, work: Callable[[Tell], Awaitable[object]]) -> AsyncGenerator[Event, None]:
        """Run work outside of a turn; what fails is told, not raised."""

        async def told(tell: Tell) -> None:
            try:
                await work(tell)
            except PalError as error:
                unwritten = isinstance(error, RecordUnwritable)
                tell(ErrorRaised(str(error), error.hint, unwritten=unwritten))

        return self._channel.run(told)

    def _turn(self, tell: Tell) -> Turn:
        return Turn(
            self._dialogue,
            self._layers,
            self._tools,
            self._gate,
            self._queue,
            tell,
            wanted=self._wanted,
            raise_output=self._raise_output,
            prepare=self._learn_model,
            keep_todo=self._keep_todo,
        )

    def _judge(self, tool: str, arguments: JsonObject) -> Judgement:
        return self._parts.judge(tool, arguments, self.mode, self.rules)

    def _begin_tour(self, tell: Tell) -> None:
        self.set_policy(tour_policy(self.policy, self._dialogue.meter.floor_tokens))
        self.set_mode(TOUR_MODE)
        tell(Notice(announcement(self._dialogue.frame.threshold)))

    def _set_todo(self, items: tuple[TodoItem, ...]) -> None:
        self._new_todo = items

    async def _keep_todo(self, tell: Tell) -> None:
        if self._new_todo is None:
            return
        self._dialogue.todo, self._new_todo = self._new_todo, None
        items = [{"text": item.text, "state": item.state} for item in self._dialogue.todo]
        await self._parts.record.remark(remarks.TODO, {"items": items})
        tell(TodoChanged(self._dialogue.todo))

    async def _learn_model(self) -> None:
        """Ask what the endpoint says about the model, until it answers; its silence costs a few seconds, once."""
        frame = self._dialogue.frame
        if not frame.model:
            raise ConfigError(
                "MODEL_ID", "no model is chosen", hint="Choose one with /model, or set MODEL_ID."
            )
        if self._info_known:
            return
        model = self._parts.model
        await model.warm_up()
        try:
            async with asyncio.timeout(MODEL_INFO_SECONDS):
                info = await model.info(frame.model)
        except (Busy, Unreachable):
            return  # asked again before the next turn
        except (ModelError, TimeoutError):
            info = None
        self._info_known = True
        self._dialogue.max_output = info.max_output if info else None
        frame.window, frame.window_source = self._parts.window_of(info, frame.model)
        self._dialogue.fit_threshold()

    def _raise_output(self) -> bool:
        """Raise the output limit to what the model allows; return whether there was more to give."""
        frame = self._dialogue.frame
        most = self._dialogue.max_output or frame.max_tokens
        if most <= frame.max_tokens:
            return False
        frame.max_tokens = most
        self._dialogue.fit_threshold()
        return True

    async def _renew_prompt(self, tell: Tell) -> None:
        """Make the system prompt again from disk and put it in force, as an event of the record when it changed."""
        system = await asyncio.to_thread(build_system_prompt, self._parts.surroundings)
        if await self._dialogue.put_prompt(system):
            tell(
                Notice(
                    "The system prompt or the project's instructions changed; the new ones are in force."
                )
            )


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
