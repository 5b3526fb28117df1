"""What the commands of every subject stand on: the screen, its session, and what is said in the chat."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from app.errors import PalError

if TYPE_CHECKING:
    from app.agent.channel import Work
    from app.agent.session import Session
    from app.ui.screens.pair import PairScreen


class CommandGround:
    """Commands of a pair screen; a subclass has one method ``run_<name>`` for each of its commands."""

    def __init__(self, screen: PairScreen) -> None:
        self._screen = screen

    def _session(self) -> Session | None:
        if self._screen.session is None:
            self._say("The session is not open yet.", warning=True)
        return self._screen.session

    def _when_idle(self, work: Callable[[Session], Work], what: str) -> None:
        session = self._session()
        if session is None:
            return
        if self._screen.is_busy:
            self._say("That waits until the turn is over; Esc cancels it.", warning=True)
        else:
            self._screen.turns.drive(work(session), what)

    def _background(self, work: Awaitable[None]) -> None:
        async def guarded() -> None:
            try:
                await work
            except PalError as error:
                self._screen.chat.add_error(str(error), error.hint)

        self._screen.run_worker(guarded(), group="command")

    def _say(self, text: str, *, warning: bool = False) -> None:
        self._screen.chat.add_notice(text, warning=warning)
