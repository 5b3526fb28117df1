"""Opening a session on the pair screen: after the first paint, for another one, and its older messages."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

from app.errors import PalError, RecordUnwritable, SessionBusy
from app.ui.collecting import settle_memory
from app.ui.format import plural
from app.ui.later import later
from app.ui.screens.settings_in_force import keep_settings
from app.ui.widgets.queue_bar import QueueBar

if TYPE_CHECKING:
    from app.agent.session import Session
    from app.ui.screens.pair import PairScreen
    from app.ui.wiring import SessionOpener, SessionReopener

HISTORY = 30
"""Messages of a resumed session that are shown at first; older ones come as one scrolls."""
MOST_COUNTED = 50
"""Earlier sessions that are counted at the start."""


def unsaved_words(place: str) -> str:
    """Return what is said when the record goes to a temporary folder."""
    return f"The record goes on in {place}; it is gone when the system clears that folder."


class SessionOpening:
    """Opens sessions for a pair screen, one at a time; what is typed meanwhile waits."""

    def __init__(self, screen: PairScreen) -> None:
        self._screen = screen
        self._early: list[str] = []
        self._later: list[Callable[[], None]] = []
        """Commands that wait for the session."""
        self._busy = False
        self._chosen = False
        """Whether the earlier sessions were offered, once at the start."""

    def begin(self) -> None:
        """Open the session to begin with, after this frame is on the screen."""
        if self._start():
            self._screen.call_after_refresh(
                lambda: self._screen.run_worker(later(self._open, None, first=True), group="open")
            )

    def change(self, name: str | None) -> None:
        """Go on with another session, or with a new one for None; the one before stays where that fails."""
        session = self._screen.session
        if session is not None and session.name == name:
            self._screen.chat.add_notice("That session is open already.")
        elif self._start():
            self._screen.run_worker(later(self._open, name, first=False), group="open")

    def begin_unsaved(self) -> None:
        """Open a session with a temporary record, because the one to begin with could not be opened."""
        opener = self._screen.app.wiring.open_unsaved
        if opener is not None and self._start():
            self._screen.run_worker(
                later(self._open, None, first=True, opener=opener), group="open"
            )

    def wait_for(self, text: str) -> None:
        """Keep a message until the session is open; opening is tried again when it had failed."""
        self._early.append(text)
        self._screen.query_one(QueueBar).show_texts(self._early)
        self.begin()

    def when_open(self, work: Callable[[], None]) -> None:
        """Do something once the session is open; opening is tried again when it had failed."""
        self._later.append(work)
        self.begin()

    def take_back(self) -> str | None:
        """Return the newest waiting message; None when none waits."""
        text = self._early.pop() if self._early else None
        if text is not None:
            self._screen.query_one(QueueBar).show_texts(self._early)
        return text

    def show_older(self, before: int) -> None:
        """Put the page of the record before message number ``before`` in front of the chat."""
        self._screen.run_worker(later(self._show_older, before), group="older", exclusive=True)

    def _start(self) -> bool:
        if self._busy:
            return False
        self._busy = True
        self._screen.status.wait("opening the session", hint="you can type already")
        return True

    async def _open(
        self, name: str | None, *, first: bool, opener: SessionOpener | None = None
    ) -> None:
        screen, wiring = self._screen, self._screen.app.wiring
        try:
            if first or wiring.reopen is None:
                await self._adopt(await (opener or wiring.open_session)(screen.app.approver))
                screen.run_worker(later(self._tell_earlier), group="earlier", exclusive=True)
            else:
                await self._change(wiring.reopen, name)
        except PalError as error:
            unwritten = isinstance(error, RecordUnwritable) and screen.session is None
            choice = " A message tries again; /unsaved goes on with a temporary record."
            screen.chat.add_error(str(error), error.hint + choice if unwritten else error.hint)
            if isinstance(error, SessionBusy):
                screen.commands.choose_session(f"{error}. Ctrl+F goes on with a copy of it.")
            return
        finally:
            self._busy = False
            settle_memory()
            if screen.is_attached:
                screen.status.rest()
        waiting, self._later = self._later, []
        for work in waiting:
            work()
        early, self._early = self._early, []
        if early:
            screen.turns.say("\n\n".join(early))

    async def _change(self, reopen: SessionReopener, name: str | None) -> None:
        """Open another session, and only then close the one before; meanwhile what is typed waits for the other."""
        screen = self._screen
        keep_settings(screen)
        before, screen.session = screen.session, None
        try:
            session = await reopen(screen.app.approver, name)
        except BaseException:
            screen.session = before
            if before is not None and screen.is_attached:
                self._give_back(before)
            raise
        screen.chat.clear()
        try:
            await self._adopt(session)
        finally:
            if before is not None:
                await before.close()
        if name is None:
            earlier = f"; {before.name} can be resumed with /resume" if before is not None else ""
            screen.chat.add_notice(f"This is a new session{earlier}.")

    def _give_back(self, before: Session) -> None:
        """Let go of what waits for a session that did not open, so that the one before does not get it."""
        self._later.clear()
        early, self._early = self._early, []
        self._screen.query_one(QueueBar).show_texts(before.queue)
        if early:
            self._screen.prompt.give_back("\n\n".join(early))

    async def _adopt(self, session: Session) -> None:
        screen = self._screen
        screen.session = session
        screen.show_heading()
        screen.log_pane.show_reports(session.reports, session.runs)
        screen.refresh_session()
        screen.run_worker(later(self._learn_model, session), group="learn")
        if await self._show_newest(session):
            called = f"“{session.named}” ({session.name})" if session.named else session.name
            copied = (
                f"a copy of {session.copy_of}, which stays as it is, " if session.copy_of else ""
            )
            comma = ", " if copied else " "
            screen.chat.add_notice(f"Session {called}{comma}{copied}goes on where it ended.")
        if session.unsaved:
            screen.chat.add_notice(unsaved_words(session.unsaved), warning=True)
        for notice in session.notices:
            screen.chat.add_notice(notice, warning=True)
        if screen.app.wiring.choose and not self._chosen:
            self._chosen = True
            screen.commands.choose_session()
        if not session.model:
            screen.chat.add_notice("There is a key but no model; choose one.", warning=True)
            screen.commands.run_model("")

    async def _tell_earlier(self) -> None:
        """Say in an empty chat how many earlier sessions the folder has."""
        screen, count = self._screen, 0
        shelf, session = screen.app.wiring.shelf, screen.session
        if (
            shelf is None
            or session is None
            or session.conversation.entries
            or screen.app.wiring.choose
        ):
            return
        with suppress(PalError):
            async with aclosing(shelf.cards()) as batches:
                async for batch in batches:
                    count += sum(card.name != session.name for card in batch)
                    if count >= MOST_COUNTED:
                        break
        if count and screen.session is session and not session.conversation.entries:
            more = " or more" if count >= MOST_COUNTED else ""
            screen.chat.add_notice(
                f"{plural(count, 'earlier session')}{more} in this folder; /resume lists them."
            )

    def show_again(self, said: str) -> None:
        """Show the conversation as it stands after a rewind, with a notice behind it."""
        self._screen.run_worker(later(self._show_again, said), group="older", exclusive=True)

    async def _show_again(self, said: str) -> None:
        screen, session = self._screen, self._screen.session
        if session is None:
            return
        await self._show_newest(session, instead=True)
        screen.chat.add_notice(said)

    async def _show_newest(self, session: Session, *, instead: bool = False) -> bool:
        """Show the newest page of the record, ``instead`` of what is shown; return whether there is anything."""
        entries = await session.page(None, HISTORY)
        asides = await session.asides(entries)
        if instead:
            self._screen.chat.clear()
        if entries or asides:
            more = bool(entries) and entries[0].number > 1
            self._screen.chat.prepend_history(
                entries, more=more, reports=session.reports, asides=asides
            )
            self._screen.chat.mark_cleared(session.conversation.stubs)
        return bool(entries or asides)

    async def _learn_model(self, session: Session) -> None:
        """Let the gauge know the model's window before the first message."""
        with suppress(PalError):
            await session.learn_model()
            if self._screen.session is session and not session.busy:
                self._screen.show_budget(session.budget)

    async def _show_older(self, before: int) -> None:
        try:
            await self.bring_older(before, HISTORY)
        except PalError as error:
            self._screen.chat.add_error(str(error), error.hint)

    async def bring_older(self, before: int, limit: int) -> None:
        """Put up to ``limit`` messages of the record in front of the chat, those before message number ``before``.

        Raises:
            PalError: The record cannot be read.
        """
        session = self._screen.session
        if session is None:
            return
        entries = await session.page(before, limit)
        asides = await session.asides(entries)
        chat = self._screen.chat
        if self._screen.session is session and chat.older == before:
            more = bool(entries) and entries[0].number > 1
            chat.prepend_history(entries, more=more, asides=asides)
            chat.mark_cleared(session.conversation.stubs)
