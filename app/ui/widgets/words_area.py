"""A small text area under a question: Enter hands the text in, Esc goes back."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import TextArea

from app.ui.keymap import Place, bindings


class WordsArea(TextArea):
    """A small text area of the panel: Enter hands the text in, Esc goes back."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings(Place.WORDS))

    class Done(Message):
        """The text was handed in; None when the user went back."""

        def __init__(self, text: str | None) -> None:
            super().__init__()
            self.text = text

    async def _on_key(self, event: events.Key) -> None:
        """Leave Enter to the bindings; a text area would take it for itself."""
        if event.key != "enter":
            await super()._on_key(event)
        event.prevent_default()

    def action_hand_in(self) -> None:
        self.post_message(self.Done(self.text))

    def action_leave(self) -> None:
        self.post_message(self.Done(None))

    def action_newline(self) -> None:
        self.insert("\n")
