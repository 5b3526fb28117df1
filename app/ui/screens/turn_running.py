"""Running the session's work on the pair screen: turns, compactions, what is typed ahead, cancelling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from functools import cached_property
from typing import TYPE_CHECKING

from app.errors import PalError
from app.ui.widgets.queue_bar import QueueBar

if TYPE_CHECKING:
    from app.agent.channel import Work
    from app.agent.session import Session
    from app.core.messages import Image
    from app.ui.screens.event_view import EventView
    from app.ui.screens.pair import PairScreen

BACK = "Cancelled before anything was answered: the message is back in the prompt."


class TurnRunning:
    """Reads the events of one piece of work at a time and gives them to the view."""

    def __init__(self, screen: PairScreen) -> None:
        self._screen = screen
        self._shown = 0
        """Pieces of work whose events are being shown; their last ones still come when the work has ended."""

    @property
    def is_busy(self) -> bool:
        """Whether a turn or a compaction runs, or its last events are still to be shown."""
        session = self._screen.session
        return session is not None and (session.busy or self._shown > 0)

    @cached_property
    def _view(self) -> EventView:
        """Imported with the first turn: the events of a session are many types that the first paint does not need."""
        from app.ui.screens.event_view import EventView

        return EventView(self._screen)

    def say(self, text: str) -> None:
        """Send a message: now, after the session is open, or at the next step of the running turn."""
        session = self._screen.session
        pictures = self._screen.prompt.area.folded.pictures(text)
        if session is None:
            self._screen.opening.wait_for(text)
        elif self.is_busy:
            self._screen.run_worker(self._enqueue(session, text, pictures), group="queue")
        else:
            self.drive(session.submit(text, pictures), "starting", text)

    def drive(self, events: Work, what: str, text: str = "") -> None:
        """Show the events of one piece of work; Esc cancels it.

        Args:
            events: The work.
            what: What it does, for the status line.
            text: The message that begins it; it comes back to the prompt when it did not get into the record.
        """
        self._screen.status.wait(what)
        self._screen.show_hints()
        self._screen.show_title()
        self._screen.run_worker(self._drive(events, text), group="turn", exclusive=True)

    def cancel(self) -> None:
        """Stop what runs; the session stays usable."""
        if self._screen.session is not None:
            self._screen.session.cancel()
            self._screen.status.wait("cancelling", hint="")

    def take_back(self) -> bool:
        """Bring the newest waiting message back to the prompt; return whether one waits."""
        session = self._screen.session
        if session is None:
            text = self._screen.opening.take_back()
            if text is not None:
                self._screen.prompt.give_back(text)
            return text is not None
        if session.queue:
            self._screen.run_worker(self._take_back(session), group="queue")
        return bool(session.queue)

    async def _drive(self, events: Work, text: str) -> None:
        screen = self._screen
        said, style = "", ""
        self._shown += 1
        try:
            while True:
                self._view.begin()
                try:
                    async with aclosing(events):
                        async for event in events:
                            self._view.show(event)
                except PalError as error:
                    self._view.close_answer()
                    screen.chat.add_error(str(error), error.hint)
                    said, style = "✗ failed", "$text-error"
                    break
                finally:
                    if text and self._view.came_to_nothing:
                        if self._view.said:
                            screen.chat.add_notice(BACK)
                        screen.prompt.give_back(text)
                    text = ""
                said, style = self._view.verdict
                if screen.session is None or not self._goes_on(screen.session):
                    break
                events = screen.session.go_on()
        finally:
            self._shown -= 1
            if screen.is_attached:
                took = screen.status.elapsed
                screen.status.rest(said, style)
                screen.refresh_session()
                screen.show_hints()
                screen.call_user(said or "done", seconds=took)

    def _goes_on(self, session: Session) -> bool:
        """Whether something typed ahead still waits after a normal end: then it begins the next turn."""
        from app.core.events import TurnEnd

        return bool(session.queue) and self._view.end in (TurnEnd.DONE, None)

    async def _enqueue(self, session: Session, text: str, pictures: Sequence[Image]) -> None:
        try:
            await session.enqueue(text, pictures)
        except PalError as error:
            self._screen.prompt.give_back(text)
            self._screen.chat.add_error(str(error), error.hint)
        self._screen.query_one(QueueBar).show_texts(session.queue)
        if self._screen.session is session and not self.is_busy and self._goes_on(session):
            self.drive(session.go_on(), "starting")  # the turn ended while it was written

    def remove(self, at: int, done: Callable[[], None]) -> None:
        """Take the waiting message at a place out of the queue."""

        async def remove(session: Session) -> None:
            try:
                await session.take_back(at)
            except PalError as error:
                self._screen.chat.add_error(str(error), error.hint)
            self._screen.query_one(QueueBar).show_texts(session.queue)
            done()

        if self._screen.session is not None:
            self._screen.run_worker(remove(self._screen.session), group="queue")

    def edit(self, at: int) -> None:
        """Bring the waiting message at a place back to the prompt."""
        if self._screen.session is not None:
            self._screen.run_worker(self._take_back(self._screen.session, at), group="queue")

    async def _take_back(self, session: Session, at: int = -1) -> None:
        try:
            typed = await session.take_back(at)
        except PalError as error:
            self._screen.chat.add_error(str(error), error.hint)
            return
        self._screen.query_one(QueueBar).show_texts(session.queue)
        if typed is not None:
            folded = self._screen.prompt.area.folded
            self._screen.prompt.give_back(folded.with_pictures(typed.text, typed.pictures))
