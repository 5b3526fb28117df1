"""Upkeep: what a turn has done between its requests - the model made sure of, limits, prompt and todo list kept up."""

from __future__ import annotations

import asyncio
from typing import Protocol

from app.agent.channel import Tell
from app.agent.dialogue import LEARNED, Dialogue
from app.agent.parts import SessionParts
from app.agent.prompt import build_system_prompt
from app.core import remarks
from app.core.events import Notice, TodoChanged, TodoItem
from app.core.requests import ModelInfo
from app.errors import Busy, ConfigError, ModelError, Unreachable

MODEL_INFO_SECONDS = 5.0
"""How long the endpoint's word about its model is waited for, once."""


class Upkeep(Protocol):
    """What a turn and the layers ask of the session around them."""

    async def make_ready(self) -> None:
        """Make sure of the model before the first request of a piece of work.

        Raises:
            ConfigError: No model is chosen.
        """
        ...

    async def change_model(self) -> None:
        """Put a model in force that the user chose meanwhile; called before every request."""
        ...

    def raise_output(self) -> bool:
        """Raise the output limit to what the model allows; return whether there was more to give."""
        ...

    async def keep_todo(self, tell: Tell) -> None:
        """Put a todo list that a call has set into the record."""
        ...

    async def renew_prompt(self, tell: Tell) -> None:
        """Make the system prompt again from disk and put it in force, as an event of the record when it changed."""
        ...


class SessionUpkeep:
    """The upkeep of a session's dialogue."""

    def __init__(self, parts: SessionParts, dialogue: Dialogue) -> None:
        self._parts = parts
        self._dialogue = dialogue
        self._info: ModelInfo | None = None
        self._info_known = False
        self._begun = False
        self._new_todo: tuple[TodoItem, ...] | None = None
        self.wanted_model = ""
        """The model to go on with from the next request on; "" for the one in force."""
        self.printed = False
        """Whether the session was only ever used without a screen."""

    async def make_ready(self) -> None:
        """Put a chosen model in force, and ask what the endpoint says about it, until it answers.

        The endpoint's silence costs a few seconds, once.

        Raises:
            ConfigError: No model is chosen.
        """
        await self._begin_run()
        await self._switch()
        frame = self._dialogue.frame
        if not frame.model:
            raise ConfigError(
                "MODEL_ID", "no model is chosen", hint="Choose one with /model, or set MODEL_ID."
            )
        await self.learn_model()

    async def learn_model(self) -> None:
        """Ask what the endpoint says about the model in force, until it answers: its window, its longest answer."""
        frame = self._dialogue.frame
        if self._info_known or not frame.model:
            return
        model, asked = self._parts.model, frame.model
        await model.warm_up()
        try:
            async with asyncio.timeout(MODEL_INFO_SECONDS):
                info = await model.info(asked)
        except (Busy, Unreachable):
            return  # asked again before the next piece of work
        except (ModelError, TimeoutError):
            info = None
        if frame.model != asked:
            return  # another one was chosen meanwhile
        self._info, self._info_known = info, True
        self._dialogue.max_output = info.max_output if info else None
        self.find_window()

    def find_window(self) -> None:
        """Take the window of the model in force: what the settings say, a refusal taught, or the endpoint said."""
        frame = self._dialogue.frame
        frame.window, frame.window_source = self._parts.window_of(self._info, frame.model)
        learned = self._dialogue.learned.get(frame.model)
        if learned is not None and learned < frame.window and frame.window_source != "settings":
            frame.window, frame.window_source = learned, LEARNED
        self._dialogue.fit_threshold()

    def set_output(self, tokens: int) -> None:
        """Let an answer have this many tokens, from the next request on."""
        self._dialogue.frame.max_tokens = tokens
        self._dialogue.fit_threshold()

    async def change_model(self) -> None:
        """Put a model in force that the user chose meanwhile."""
        if self.wanted_model:
            await self.make_ready()

    async def _begin_run(self) -> None:
        """Say once in the record that this run of the program goes on with the session."""
        if not self._begun:
            data = {"printed": True} if self.printed else {}
            remark = await self._parts.record.remark(remarks.RUN, data)
            self._dialogue.ledger.begin_run(remark.time)
            self._begun = True

    async def _switch(self) -> None:
        """Go on with the model that is wanted: earlier thinking is removed, since only its own model can read it."""
        model, self.wanted_model = self.wanted_model, ""
        if not model:
            return
        await self._parts.record.remark(remarks.MODEL, {"model": model})
        await self._dialogue.bare_all()
        self._dialogue.frame.model = model
        self._info, self._info_known = None, False
        self.find_window()

    def raise_output(self) -> bool:
        """Raise the output limit to what the model allows; return whether there was more to give."""
        frame = self._dialogue.frame
        most = self._dialogue.max_output or frame.max_tokens
        if most <= frame.max_tokens:
            return False
        self.set_output(most)
        return True

    def set_todo(self, items: tuple[TodoItem, ...]) -> None:
        """Take the todo list that a call has set; `keep_todo` puts it into the record."""
        self._new_todo = items

    async def keep_todo(self, tell: Tell) -> None:
        """Put a todo list that a call has set into the record."""
        if self._new_todo is None:
            return
        items = [{"text": item.text, "state": item.state} for item in self._new_todo]
        await self._parts.record.remark(remarks.TODO, {"items": items})
        self._dialogue.todo, self._new_todo = self._new_todo, None
        tell(TodoChanged(self._dialogue.todo))

    async def renew_prompt(self, tell: Tell) -> None:
        """Make the system prompt again from disk and put it in force, as an event of the record when it changed."""
        system = await asyncio.to_thread(build_system_prompt, self._parts.surroundings)
        if await self._dialogue.put_prompt(system):
            tell(
                Notice(
                    "The system prompt or the project's instructions changed; the new ones are in force."
                )
            )
