"""What each command of the table does on the pair screen: one method ``run_<name>`` a command."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.permission import Mode, usable_modes
from app.errors import PalError
from app.ui.commands import Command, Value
from app.ui.format import plural, short_path, tokens
from app.ui.gauge_line import used_text, zone_name
from app.ui.keymap import in_force
from app.ui.screens.command_arguments import CommandArguments
from app.ui.screens.session_opening import unsaved_words

if TYPE_CHECKING:
    from app.agent.channel import Work
    from app.agent.session import Session
    from app.core.events import SummaryPreviewed
    from app.core.reports import CompactionReport
    from app.ui.screens.pair import PairScreen

NO_NAME = "-"
"""Typed instead of a session's name it takes the name away."""

# The screens below open seldom; each is imported when it opens, so that the prompt is there sooner.


class PairCommands:
    """Runs commands for a pair screen."""

    def __init__(self, screen: PairScreen) -> None:
        self._screen = screen
        self._arguments = CommandArguments(screen)

    def run(self, command: Command, argument: str) -> None:
        """Run one command of the table."""
        getattr(self, f"run_{command.name}")(argument)

    def values(self, name: str) -> Iterable[Value]:
        """Return further words for a command's argument."""
        return self._arguments.values(name)

    # Layers

    def run_compact(self, argument: str) -> None:
        session = self._session()
        if session is None:
            return
        word, _, rest = argument.partition(" ")
        screen = self._screen
        if screen.is_busy:
            if word in ("preview", "redo"):
                self._say(
                    f"/compact {word} waits until the turn is over; Esc cancels it.", warning=True
                )
            else:
                session.request_compaction(argument)
                self._say("Compacts after this step; Esc cancels the turn and drops it.")
        elif word == "preview":
            screen.turns.drive(
                session.preview(rest.strip()), "Compressing... (a preview; nothing is applied)"
            )
        elif word == "redo":
            screen.turns.drive(session.redo(rest.strip()), "Compressing...")
        else:
            screen.turns.drive(session.compact(argument), "Compressing...")

    def open_preview(self, preview: SummaryPreviewed) -> None:
        """Show a summary that can be changed and applied."""
        from app.ui.screens.preview import PreviewScreen

        def use(text: str | None) -> None:
            if text is not None:
                self._when_idle(
                    lambda session: session.apply_preview(preview, text), "applying the summary"
                )

        session = self._session()
        if session is None:
            return
        sheet = PreviewScreen(
            preview.text,
            preview.focus,
            factor=session.budget.factor,
            cap=session.policy.auto.summary_cap,
        )
        self._screen.app.push_screen(sheet, use)

    def run_retry(self, argument: str) -> None:
        self._when_idle(lambda session: session.go_on(), "starting")

    def run_undo(self, argument: str) -> None:
        self._when_idle(lambda session: session.undo(), "undoing")

    def run_rewind(self, argument: str) -> None:
        session = self._session()
        if session is None:
            return
        from app.ui.screens.rewind import Choice, RewindScreen

        def use(choice: Choice | None) -> None:
            if choice is not None:
                work = session.rewind(
                    choice.point,
                    conversation=choice.conversation,
                    files=choice.files,
                    folders=choice.folders,
                )
                self._screen.turns.drive(work, "going back")

        self._screen.app.push_screen(RewindScreen(session), use)

    def redo(self) -> None:
        """Make the newest compaction again."""
        self._when_idle(lambda session: session.redo(), "Compressing...")

    def clear_now(self) -> None:
        """Run layer 1 now."""
        self._when_idle(lambda session: session.clear_now(), "clearing")

    def open_report(self, report: CompactionReport) -> None:
        """Open one event of the log."""
        session = self._session()
        if session is None:
            return
        from app.ui.screens.details import DetailsScreen, Wish

        def act(wish: Wish | None) -> None:
            if wish is Wish.UNDO:
                self.run_undo("")
            elif wish is Wish.REDO:
                self.redo()

        newest = next((r for r in reversed(session.reports) if r.commit), None)
        can_undo = (
            newest == report and bool(report.commit) and session.conversation.base == report.commit
        )
        self._screen.app.push_screen(DetailsScreen(report, session, can_undo=can_undo), act)

    def open_result(self, result: str) -> None:
        """Open a tool result in full."""
        session = self._session()
        if session is None or not result:
            return
        from app.ui.screens.original import OriginalScreen

        self._screen.app.push_screen(OriginalScreen(result, session))

    def run_log(self, argument: str) -> None:
        self._screen.action_log()

    # Looking

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
            f"session     {session.name}",
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

    # Session

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

    # Screen, clipboard, files

    def run_theme(self, argument: str) -> None:
        app = self._screen.app
        if not argument:
            app.action_theme()
        elif argument in app.available_themes:
            app.theme = argument
        else:
            self._say(f"There is no theme {argument!r}; Tab after /theme lists them.", warning=True)

    def run_copy(self, argument: str) -> None:
        chat = self._screen.chat
        text = chat.last_code_block() if argument == "code" else chat.last_answer_markdown()
        if not text:
            self._say("There is nothing to copy yet.", warning=True)
            return
        self.copy(text)

    def copy(self, text: str) -> None:
        """Put a text into the clipboard, and into a file for terminals that do not take it, and say so."""
        if not text:
            return
        self._screen.app.copy_to_clipboard(text)
        where = self._keep_copy(text)
        also = f"; also in {short_path(where, Path.home(), 60)}" if where else ""
        self._screen.status.rest(f"copied {plural(len(text), 'character')}{also}", "$text-success")

    def run_export(self, argument: str) -> None:
        session = self._session()
        if session is not None:
            self._background(self._export(session, argument))

    async def _export(self, session: Session, argument: str) -> None:
        from app.ui.export import export_path, write_session

        path = export_path(session, argument)
        try:
            count = await write_session(session, path)
        except OSError as error:
            self._screen.chat.add_error(f"{path} cannot be written: {error.strerror}", "")
            return
        self._say(f"Wrote {plural(count, 'message')} to {path}")

    def write_in_editor(self) -> None:
        """Let the user write the prompt in ``$VISUAL`` or ``$EDITOR``."""
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
        if not editor:
            self._say("Set VISUAL or EDITOR to write in your editor.", warning=True)
            return
        import subprocess

        from textual.app import SuspendNotSupported

        area = self._screen.prompt.area
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "message.md"
            file.write_text(area.whole_text, encoding="utf-8")
            try:
                with self._screen.app.suspend():
                    subprocess.run([*shlex.split(editor), str(file)], check=False)
            except (OSError, ValueError, SuspendNotSupported) as error:
                self._screen.chat.add_error(f"{editor} could not be started: {error}", "")
                return
            area.set_whole_text(file.read_text(encoding="utf-8", errors="replace").rstrip("\n"))

    def _keep_copy(self, text: str) -> Path | None:
        """Write what was copied to a file too: not every terminal takes the clipboard sequence."""
        folder = self._screen.app.wiring.state_folder
        if folder is None:
            return None
        path = folder / "copied.md"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(mode=0o600)
            path.write_text(text, encoding="utf-8")
        except OSError:
            return None
        return path

    # Inside

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
