"""Commands that only look: help, context, cost, status, settings, queue, tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.ui.format import tokens
from app.ui.gauge_line import used_text, zone_name
from app.ui.keymap import in_force
from app.ui.screens.commands.command_ground import CommandGround

if TYPE_CHECKING:
    from app.agent.session import Session


class LookingCommands(CommandGround):
    """What is in force and what it took."""

    def run_help(self, argument: str) -> None:
        from app.ui.screens.help import HelpScreen

        self._screen.app.push_screen(HelpScreen(argument, in_force(self._screen.settings.keymap)))

    def run_context(self, argument: str) -> None:
        session = self._session()
        if session is None:
            return
        from app.ui.screens.context import ContextScreen

        self._screen.app.push_screen(ContextScreen(session))

    def run_cost(self, argument: str) -> None:
        session = self._session()
        if session is None:
            return
        from app.ui.account_text import account_of, cost_text

        self._say(cost_text(account_of(session)))

    def run_status(self, argument: str) -> None:
        session = self._session()
        if session is None:
            return
        from app.ui.account_text import account_of, session_line

        settings, app = self._screen.settings, self._screen.app
        lines = (
            f"session     {session.name}{f' “{session.named}”' if session.named else ''}",
            f"folder      {session.folder}",
            f"record      {session.transcript}",
            *self._answerer(session),
            f"mode        {session.mode}, sandbox: {app.wiring.sandbox() or 'none'}",
            f"context     {used_text(session.budget).strip()} tokens, {zone_name(session.budget)}",
            f"window      {tokens(session.budget.window)} tokens ({session.budget.window_source})",
            f"took        {session_line(account_of(session))}",
            *(f"rule        {rule.verdict} {rule} ({rule.source})" for rule in session.rules),
            *(f"conflict    {conflict}" for conflict in settings.conflicts),
        )
        self._say("\n".join(lines))

    def _answerer(self, session: Session) -> tuple[str, ...]:
        """Return the lines of the status that say who answers."""
        settings = self._screen.settings
        if settings.embedded:
            return (f"model       {session.model} (embedded; nothing leaves this machine)",)
        credential = settings.credential
        key = f"{credential} from {settings.source(credential)}" if credential else "none"
        return (
            f"model       {session.model} (from {settings.source('model')})",
            f"endpoint    {settings.base_url} (from {settings.source('base_url')})",
            f"credential  {key}",
        )

    def run_settings(self, argument: str) -> None:
        from app.ui.screens.settings import SettingsScreen

        self._screen.app.push_screen(SettingsScreen(self._screen, argument))

    def run_queue(self, argument: str) -> None:
        session, turns = self._session(), self._screen.turns
        if session is None:
            return
        if not session.queue:
            self._say("Nothing waits: what you send during a turn is queued here.")
            return
        from app.ui.screens.queue import QueueScreen

        def edit(at: int | None) -> None:
            if at is not None:
                turns.edit(at)

        self._screen.app.push_screen(QueueScreen(lambda: session.queue, turns.remove), edit)

    def run_todo(self, argument: str) -> None:
        self._screen.toggle_class("-no-todo")
        if self._screen.session is not None and not self._screen.session.todo:
            self._say("There are no tasks yet; the agent writes them for longer work.")
