"""The sessions of one run: opened one after another, ended together."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.adapters.own_environment import forget_keys
from app.core.finishing import to_its_end
from app.launch.launch_options import Launch, named_session, settings_of
from app.launch.masking import mask_of, own_keys
from app.launch.session_shelf import FolderShelf
from app.settings import Level, Settings, TrustQuestion, read_trust, remember_trust, trust_now

if TYPE_CHECKING:
    from app.adapters.sandbox import Sandbox
    from app.agent.session import Session
    from app.core.ports import Approver


class Opening:
    """Opens the sessions of one run: the same folder and settings, each with a record of its own."""

    def __init__(self, launch: Launch, settings: Settings) -> None:
        self._launch = launch
        self._settings = settings
        self._sandbox: Sandbox | None = None
        self._sessions: list[Session] = []
        self._one_at_a_time = asyncio.Lock()
        self.shelf = FolderShelf(lambda: self._settings)
        """The sessions of the folder."""

    def use(self, settings: Settings) -> None:
        """Open sessions with these settings from now on; those that run take from them what can change meanwhile."""
        self._settings = settings

    async def open_first(self, approver: Approver) -> Session:
        """Open the session that the arguments name, or a new one; without a name the screen lets choose."""
        launch = self._launch
        choosing = launch.resume == "" and not launch.go_on
        if choosing:
            return await self.open(approver, None)
        name = await asyncio.to_thread(named_session, launch, self._settings, for_screen=True)
        return await self.open(
            approver, await self.shelf.fork(name) if launch.fork and name else name
        )

    async def open_unsaved(self, approver: Approver) -> Session:
        """Open a new session whose record is in a temporary folder, because its own cannot be written."""
        graph = await _graph()
        place = str(await asyncio.to_thread(graph.unsaved_place))
        session = await self._open(approver, None, place)
        session.unsaved = place
        return session

    async def open(self, approver: Approver, name: str | None) -> Session:
        """Open a session by name, or a new one for None; the event loop stays free meanwhile."""
        return await self._open(approver, name)

    async def _open(self, approver: Approver, name: str | None, transcripts: str = "") -> Session:
        async with self._one_at_a_time:
            forget_keys(own_keys(self._settings))
            graph = await _graph()
            from app.launch.confinement import find_sandbox  # loaded, beside the event loop

            if self._sandbox is None:
                finding = asyncio.to_thread(find_sandbox, self._settings)
                # To its end: what it makes is deleted by `aclose` also when the user leaves meanwhile.
                self._sandbox = await to_its_end(finding)
            settings = self._settings
            if transcripts:
                settings = replace(settings, transcript_dir=transcripts)
            session: Session = await graph.open_session(
                settings, self._sandbox, approver, name, now=lambda: self._settings
            )
            session.copy_of = self.shelf.copies.get(name or "", "")
            self._sessions = [*(each for each in self._sessions if not each.closed), session]
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

    async def aclose(self) -> None:
        """Close the sessions that are still open, with their commands, and delete the sandbox's folder."""
        async with self._one_at_a_time, AsyncExitStack() as last:
            sandbox, self._sandbox = self._sandbox, None
            if sandbox is not None:
                last.callback(sandbox.close)
            sessions, self._sessions = self._sessions, []
            for session in sessions:
                last.push_async_callback(session.close)


async def _graph() -> Any:
    """Import what a session is made of, in a thread: it takes a while."""
    return await asyncio.to_thread(importlib.import_module, "app.launch.graph")
