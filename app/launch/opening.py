"""The sessions of one run: opened one after another, ended together."""

from __future__ import annotations

import asyncio
import importlib
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.adapters.own_environment import forget_keys
from app.launch.asked import Launch, settings_of, wanted_session
from app.launch.masking import mask_of, own_keys
from app.launch.session_shelf import FolderShelf
from app.settings import Level, Settings, TrustQuestion, read_trust, remember_trust, trust_now

if TYPE_CHECKING:
    from app.adapters.sandbox import Sandbox
    from app.agent.session import Session
    from app.core.ports import Approver
    from app.tools.process import Processes

UNSAVED_PREFIX = "pal-record-"
"""Begins the name of a temporary folder for a record that cannot be where it belongs."""


class Opening:
    """Opens the sessions of one run: the same folder and settings, each with a record of its own."""

    def __init__(self, launch: Launch, settings: Settings) -> None:
        self._launch = launch
        self._settings = settings
        self._sandbox: Sandbox | None = None
        self._processes: list[Processes] = []
        self.shelf = FolderShelf(lambda: self._settings)
        """The sessions of the folder."""
        self._warming: asyncio.Task[None] | None = None
        """Loads the SDK in a thread while the user types the first message."""

    async def open_first(self, approver: Approver) -> Session:
        """Open the session that the arguments name, or a new one; without a name the screen lets choose."""
        launch = self._launch
        choosing = launch.resume == "" and not launch.go_on
        name = None if choosing else await asyncio.to_thread(wanted_session, launch, self._settings)
        return await self.open(approver, name)

    async def open_unsaved(self, approver: Approver) -> Session:
        """Open a new session whose record is in a temporary folder, because its own cannot be written."""
        place = await asyncio.to_thread(tempfile.mkdtemp, prefix=UNSAVED_PREFIX)
        session = await self._open(approver, None, replace(self._settings, transcript_dir=place))
        session.unsaved = place
        return session

    async def open(self, approver: Approver, name: str | None) -> Session:
        """Open a session by name, or a new one for None; the event loop stays free meanwhile."""
        return await self._open(approver, name, self._settings)

    async def _open(self, approver: Approver, name: str | None, settings: Settings) -> Session:
        forget_keys(own_keys(settings))
        graph: Any = await asyncio.to_thread(importlib.import_module, "app.launch.graph")
        from app.launch.confinement import find_sandbox  # loaded by now, and beside the event loop

        if self._sandbox is None:
            self._sandbox = await asyncio.to_thread(find_sandbox, settings)
        opened = await graph.open_session(settings, self._sandbox, approver, name)
        self._processes.append(opened.processes)
        self._warming = asyncio.create_task(opened.model.warm_up())
        session: Session = opened.session
        return session

    def mask(self, text: str) -> str:
        """Return a text as it may be written to the disk."""
        return mask_of(self._settings)(text)

    def sandbox_name(self) -> str:
        """Return what confines commands; "" when nothing does, or before a session is open."""
        return self._sandbox.kind.value if self._sandbox is not None and self._sandbox.works else ""

    def answer_trust(self, question: TrustQuestion) -> Callable[[Level], Settings]:
        """Return what stores the answer to a question and gives the settings that hold with it.

        It raises `ConfigError`, and stores nothing, when the folder's files cannot be used.
        """

        def answer(level: Level) -> Settings:
            state = read_trust(self._launch.folder, home=Path.home())
            self._settings = settings_of(self._launch, trust_now(question, state, level))
            remember_trust(question, level, home=Path.home())
            return self._settings

        return answer

    async def close(self) -> None:
        """End the commands that still run and delete the sandbox's folder."""
        for processes in self._processes:
            await processes.close()
        if self._sandbox is not None:
            self._sandbox.close()
