"""What Esc and Ctrl+C step back from, one thing a press."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.ui.screens.pair import PairScreen

QUIT_SECONDS = 2.0
"""How long an announced second Ctrl+C quits."""
REWIND_SECONDS = 0.8
"""Two Esc within so many seconds go back, when nothing else is there to step back from."""


class SteppingBack:
    """Closes, refuses or cancels what is nearest on a pair screen."""

    def __init__(self, screen: PairScreen) -> None:
        self._screen = screen
        self._quit_until = 0.0
        self._rewind_until = 0.0

    def escape(self) -> None:
        """Esc: popup, selection, question, own command, queue, log, turn, in this order; twice when idle: rewind."""
        screen = self._screen
        if screen.prompt.step_back():
            return
        if screen.get_selected_text():
            screen.clear_selection()
        elif (
            screen.panel.refuse()
            or screen.own_commands.cancel()
            or (not screen.has_class("-log-open") and screen.turns.take_back())
        ):
            return
        elif screen.has_class("-log-open"):
            screen.action_log()
        elif screen.is_busy:
            screen.turns.cancel()
        elif screen.app.time() < self._rewind_until and not screen.prompt.area.text:
            self._rewind_until = 0.0
            screen.commands.run_rewind("")
        else:
            self._rewind_until = screen.app.time() + REWIND_SECONDS
            screen.prompt.area.focus()

    def interrupt(self) -> None:
        """Ctrl+C without a selection: popup, question, own command, turn, draft; pressed twice it quits."""
        screen = self._screen
        if screen.prompt.step_back() or screen.finder.close():
            return
        if screen.panel.refuse() or screen.own_commands.cancel():
            return
        if screen.is_busy:
            screen.turns.cancel()
        elif screen.prompt.area.text:
            screen.app.history.add(screen.prompt.area.whole_text)
            screen.prompt.area.empty()
            screen.status.rest("Cleared; ↑ brings it back. Ctrl+C again quits")
            self._quit_until = 0.0
        elif screen.app.time() < self._quit_until:
            screen.app.leave()
        else:
            self._quit_until = screen.app.time() + QUIT_SECONDS
            said = "Press Ctrl+C again to quit"
            screen.status.rest_for(QUIT_SECONDS, said, "bold $text-warning")
