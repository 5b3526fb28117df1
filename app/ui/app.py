"""The Textual app: theme, keys that work everywhere, palette, trust question, and one pair screen."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.driver import Driver
from textual.screen import Screen

from app.core.visible_text import one_line, visible_text
from app.errors import ConfigError
from app.settings import Level
from app.ui.approval import ScreenApprover
from app.ui.attention import Attention
from app.ui.commands import COMMANDS
from app.ui.contrast import readable_variables
from app.ui.keymap import Place, bindings, in_force
from app.ui.prompt.drafts import Drafts
from app.ui.prompt_history import PromptHistory
from app.ui.screens.pair import PairScreen
from app.ui.stylesheets import sheets
from app.ui.themes import OWN, automatic, other_side
from app.ui.used_keys import UsedKeys
from app.ui.wiring import Wiring

if TYPE_CHECKING:
    from app.agent.session import Session


class PalApp(App[None]):
    """The screen of the program.

    Args:
        wiring: What it needs from outside.
        clock: Monotonic seconds.
    """

    TITLE = "palimpsest"
    BINDINGS: ClassVar[list[BindingType]] = list(bindings(Place.EVERYWHERE))

    def __init__(self, wiring: Wiring, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(css_path=[str(path) for path in sheets()])
        self.wiring = wiring
        self.time = clock
        self.approver = ScreenApprover()
        folder = wiring.state_folder
        self.history = PromptHistory(folder / "history.jsonl" if folder else None, wiring.mask)
        self.drafts = Drafts(folder, wiring.settings.folder, mask=wiring.mask) if folder else None
        self.used_keys = UsedKeys(folder / "used_keys.json" if folder else None)
        self.attention = Attention(self.write_terminal)
        self.moved_keys: Mapping[str, str] = in_force(wiring.settings.keymap)
        """The user's keymap, as far as it is used."""
        self._leaving = False
        self.parting = ""
        """What the terminal says when the screen is gone: how to go on; "" when nothing was said."""
        for theme in OWN:
            self.register_theme(theme)
        self._begin_with_theme(wiring.settings.theme)

    def get_default_screen(self) -> Screen[Any]:
        """Begin with the pair screen itself, or with nothing while trust is asked for."""
        return Screen() if self.wiring.trust is not None else PairScreen(self.wiring.settings)

    def on_mount(self) -> None:
        self.app_resume_signal.subscribe(self, self._came_back)
        self.use_keymap(self.wiring.settings.keymap)
        if self.wiring.trust is not None:
            from app.ui.screens.trust import TrustScreen

            self.push_screen(TrustScreen(self.wiring.trust), self._trusted)

    def _came_back(self, _: object = None) -> None:
        """Draw everything again: another program has used the terminal."""
        self.attention.forget_title()
        self.refresh(layout=True)
        if self.pair is not None:
            self.pair.show_title()

    def get_driver_class(self) -> type[Driver]:
        """Read a terminal without its stray reports."""
        if sys.platform == "win32" or "TEXTUAL_DRIVER" in os.environ:
            return super().get_driver_class()
        from app.ui.terminal.driver import PalDriver

        return PalDriver

    def write_terminal(self, sequence: str) -> None:
        """Send a sequence that draws nothing to the terminal."""
        driver = self._driver
        if driver is not None and getattr(driver, "is_on", False):
            driver.write(sequence)
            driver.flush()

    def on_app_focus(self) -> None:
        self.attention.focused = True

    def on_app_blur(self) -> None:
        self.attention.focused = False

    def use_theme(self, name: str) -> None:
        """Draw with a theme; "auto" takes light or dark as the terminal is, so far as it says."""
        self.theme = self._theme_of(name)

    def _begin_with_theme(self, name: str) -> None:
        """Put a theme in force before anything is drawn; assigning it would parse and apply every sheet twice."""
        self.set_reactive(PalApp.theme, self._theme_of(name))
        self.set_class(self.current_theme.dark, "-dark-mode", update=False)
        self.set_class(not self.current_theme.dark, "-light-mode", update=False)
        self.stylesheet.set_variables(self.get_css_variables())

    def get_css_variables(self) -> dict[str, str]:
        """Return the variables of the theme; the text of those that are not our own is made readable."""
        variables = super().get_css_variables()
        if self.current_theme not in OWN:
            variables = self.theme_variables = readable_variables(variables)
        return variables

    def _theme_of(self, name: str) -> str:
        return name if name in self.available_themes else automatic(os.environ)

    def use_keymap(self, moved: Mapping[str, str]) -> None:
        """Move keys by their ids; a keymap with an unknown id is not used, and the chat says so."""
        self.moved_keys = in_force(moved)
        self.set_keymap(dict(self.moved_keys))

    def _trusted(self, level: Level | None) -> None:
        settings = self.wiring.settings
        if self.wiring.answer_trust is not None:
            try:
                settings = self.wiring.answer_trust(level or Level.NOTHING)
            except ConfigError as error:
                problem = f"{error}. This folder's files are ignored until that is mended."
                settings = replace(settings, problems=(*settings.problems, problem))
        self.push_screen(PairScreen(settings))

    @property
    def pair(self) -> PairScreen | None:
        """The pair screen, once it is there."""
        return next((s for s in self.screen_stack if isinstance(s, PairScreen)), None)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Offer the table of commands in the palette."""
        pair = self.pair
        if pair is None:
            return
        for command in COMMANDS:
            yield SystemCommand(
                f"/{command.name}", command.help, lambda name=command.name: pair.submit(f"/{name}")
            )

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text as it is seen: what hides or acts must not be pasted elsewhere."""
        text = visible_text(text, progress=False)
        super().copy_to_clipboard(text)
        from app.ui.terminal.clipboard import copy_by_tmux, is_inside_tmux, screen_sequence

        if is_inside_tmux() and not self.is_headless:
            self.run_worker(partial(copy_by_tmux, text), group="clipboard", thread=True)
        elif sequence := screen_sequence(text):
            self.write_terminal(sequence)

    def action_interrupt(self) -> None:
        """Ctrl+C: copy what is selected; else close a sheet, or let the pair screen decide."""
        screen = self.screen
        selected = screen.get_selected_text()
        area_text = getattr(screen.focused, "selected_text", "")
        if isinstance(screen, PairScreen) and selected:
            screen.chat.stop_marking()
            screen.commands.copy(selected)
            screen.clear_selection()
        elif selected or area_text:
            self.copy_to_clipboard(selected or area_text)
            if selected:
                screen.clear_selection()
        elif isinstance(screen, PairScreen):
            screen.back.interrupt()
        elif screen.is_modal:
            screen.dismiss(None)

    def _fatal_error(self) -> None:
        """Say in two lines that the program failed; the framework's own report shows the values of variables."""
        error = self._exception
        if error is None or self.wiring.crashed is None:
            super()._fatal_error()
            return
        told = self.wiring.crashed(error)
        self.panic(Text(f"pal: {told}\n     {told.hint}"))

    def action_theme(self) -> None:
        """Change to the light or dark theme that belongs to this one."""
        self.used_keys.note("app.theme")
        self.theme = other_side(self.theme, dark=self.current_theme.dark)

    def action_leave(self) -> None:
        self.leave()

    def leave(self) -> None:
        """End what runs, close the session, and go."""
        if not self._leaving:
            self._leaving = True
            self.run_worker(self._leave(), group="leave")

    async def _leave(self) -> None:
        pair = self.pair
        try:
            if pair is not None:
                await pair.prompt.keep_draft()
            if pair is not None and pair.session is not None:
                self.parting = parting_words(pair.session)
                await pair.session.close()
        finally:
            self.exit()


def parting_words(session: Session) -> str:
    """Return how a session is gone on with later; "" for one in which nothing was said."""
    if not session.conversation.entries:
        return ""
    if session.unsaved:
        return f"This session's record is in {one_line(session.unsaved)}."
    return f"pal --continue goes on with this session ({one_line(session.name)})"
