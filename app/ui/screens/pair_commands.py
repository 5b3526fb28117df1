"""The commands of the table on the pair screen: one method ``run_<name>`` a command."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from app.ui.commands import Command, Value
from app.ui.screens.command_arguments import CommandArguments
from app.ui.screens.commands.layer_commands import LayerCommands
from app.ui.screens.commands.looking_commands import LookingCommands
from app.ui.screens.commands.output_commands import OutputCommands
from app.ui.screens.commands.session_commands import SessionCommands

if TYPE_CHECKING:
    from app.ui.screens.pair import PairScreen


class PairCommands(LayerCommands, LookingCommands, SessionCommands, OutputCommands):
    """Runs commands for a pair screen."""

    def __init__(self, screen: PairScreen) -> None:
        super().__init__(screen)
        self._arguments = CommandArguments(screen)

    def run(self, command: Command, argument: str) -> None:
        """Run one command of the table."""
        getattr(self, f"run_{command.name}")(argument)

    def run_typed(self, command: Command, argument: str) -> None:
        """Run a command that was typed: it stands in the chat in front of what answers it there."""
        if argument or not command.sheet:
            self._screen.chat.add_command(f"/{command.name} {argument}".rstrip())
        self.run(command, argument)

    def values(self, name: str) -> Iterable[Value]:
        """Return further words for a command's argument."""
        return self._arguments.values(name)

    def run_theme(self, argument: str) -> None:
        app = self._screen.app
        if not argument:
            app.action_theme()
            self._say(f"The theme is {app.theme}; /theme NAME sets one, Tab lists them.")
        elif argument in app.available_themes:
            app.theme = argument
            self._say(f"The theme is {argument}.")
        else:
            self._say(f"There is no theme {argument!r}; Tab after /theme lists them.", warning=True)
