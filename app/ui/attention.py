"""What the terminal's frame says, and how the user is called when they look elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from enum import StrEnum

from app.ui.terminal.notices import Notify, notice, title

LONG_SECONDS = 20.0
"""Where the terminal does not tell its focus, only the end of work that took so long calls the user."""


class Doing(StrEnum):
    """What the title says."""

    IDLE = "✓"
    WORKING = "…"
    ASKING = "?"


class Attention:
    """Writes the terminal's title, and calls the user who is not looking.

    Args:
        write: Sends a sequence to the terminal.
        environ: Tells which terminal this is.
    """

    def __init__(
        self, write: Callable[[str], None], environ: Mapping[str, str] = os.environ
    ) -> None:
        self._write = write
        self._environ = environ
        self._title = ""
        self.focused: bool | None = None
        """Whether the terminal has the focus; None as long as it has not told."""

    def show(self, doing: Doing, what: str, *, wanted: bool) -> None:
        """Set the title.

        Args:
            doing: The state.
            what: What is worked on, such as the folder's name.
            wanted: Whether the user wants titles.
        """
        text = f"{doing} {what} · pal"
        if wanted and text != self._title:
            self._title = text
            self._write(title(text))

    def forget_title(self) -> None:
        """Set the title anew next time: another program has used the terminal."""
        self._title = ""

    def call(self, text: str, how: Notify, *, seconds: float) -> None:
        """Call the user, unless they are looking.

        Args:
            text: Why, one line.
            how: The user's choice.
            seconds: How long the work took that ended or asks.
        """
        unseen = seconds >= LONG_SECONDS if self.focused is None else not self.focused
        if unseen and (sequence := notice("pal", text, how, self._environ)):
            self._write(sequence)
