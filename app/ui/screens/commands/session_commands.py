"""Commands that go to another session, or change what this one is called and how it goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.permission import Mode, usable_modes
from app.ui.screens.commands.command_ground import CommandGround
from app.ui.screens.session_opening import unsaved_words

if TYPE_CHECKING:
    from app.agent.session import Session

NO_NAME = "-"
"""Typed instead of a session's name it takes the name away."""


class SessionCommands(CommandGround):
    """Which session, which model, which mode and rules."""

    def run_clear(self, argument: str) -> None:
        self._screen.opening.change(None)

    def run_resume(self, argument: str) -> None:
        if argument:
            self._background(self._resume(argument))
        else:
            self.choose_session()

    async def _resume(self, text: str) -> None:
        shelf = self._screen.app.wiring.shelf
        self._screen.opening.change(await shelf.find(text) if shelf is not None else text)

    def choose_session(self, told: str = "") -> None:
        """Let the user choose among the earlier sessions; ``told`` is said first."""
        shelf = self._screen.app.wiring.shelf
        if shelf is None:
            return
        from app.ui.screens.resume import ResumeScreen

        def use(name: str | None) -> None:
            if name:
                self._screen.opening.change(name)

        current = self._screen.session.name if self._screen.session else ""
        self._screen.app.push_screen(ResumeScreen(shelf, current, told), use)

    def run_rename(self, argument: str) -> None:
        session = self._session()
        if session is not None:
            self._background(self._rename(session, argument))

    async def _rename(self, session: Session, argument: str) -> None:
        if argument:
            title = await session.rename("" if argument == NO_NAME else argument)
            self._screen.show_heading()
            self._say(f"The session is called “{title}”." if title else "The name is gone.")
            return
        title = await session.title()
        called = f"called “{title}”; /rename {NO_NAME} takes that away" if title else "not named"
        self._say(f"The session is {called}. /rename NAME gives it another name.")

    def run_model(self, argument: str) -> None:
        session = self._session()
        if session is None:
            return
        if argument:
            self._background(self._set_model(session, argument))
            return
        from app.ui.screens.models import ModelScreen

        def use(name: str | None) -> None:
            if name and name != session.model:
                self._background(self._set_model(session, name))

        self._screen.app.push_screen(ModelScreen(session), use)

    async def _set_model(self, session: Session, name: str) -> None:
        await session.set_model(name)
        self._screen.show_heading()
        self._screen.refresh_session()
        self._say(f"From the next request on, {name} answers.")

    def run_mode(self, argument: str) -> None:
        session = self._session()
        if session is None:
            return
        modes = [mode for mode in Mode if mode.value.startswith(argument.lower())]
        if not argument:
            self._say(f"The mode is {session.mode}; Shift+Tab changes it.")
        elif len(modes) != 1:
            self._say(f"There is no mode {argument!r}; there are {', '.join(Mode)}.", warning=True)
        elif modes[0] not in usable_modes(confined=bool(self._screen.app.wiring.sandbox())):
            self._say(
                "auto runs only inside a working sandbox, and there is none here.", warning=True
            )
        else:
            session.set_mode(modes[0])
            self._screen.show_heading()

    def run_rules(self, argument: str) -> None:
        session = self._session()
        if session is not None:
            from app.ui.rules_command import answer_rules

            text, warning = answer_rules(session, argument)
            self._say(text, warning=warning)

    def run_unsaved(self, argument: str) -> None:
        session = self._screen.session
        if session is None:
            self._screen.opening.begin_unsaved()
        else:
            self._background(self._go_unsaved(session))

    async def _go_unsaved(self, session: Session) -> None:
        place = await session.go_unsaved()
        self._screen.show_heading()
        self._say(f"{unsaved_words(place)} /retry sends the request again.", warning=True)

    def run_tour(self, argument: str) -> None:
        session = self._session()
        if session is None or session.has_tour:
            self._screen.turns.say("tour")
        else:
            self._say("The tour needs the embedded model: start pal --demo.", warning=True)

    def run_quit(self, argument: str) -> None:
        self._screen.app.leave()
