"""Words that are typed beside the prompt go to it: keys that do nothing where one is, and what is pasted there."""

from __future__ import annotations

from textual import events
from textual.message import Message
from textual.widget import Widget


class WordsToPrompt(Widget):
    """A part of the pair screen that has keys of its own, but no place for words."""

    class Typed(Message, namespace="words"):
        """Something was typed that belongs into the prompt."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    _typing = False
    """Whether a word has begun: what still comes here before the prompt has the keyboard belongs to it."""

    def takes_letters(self) -> bool:
        """Whether letters mean something else here now."""
        return False

    def type_on(self, text: str) -> None:
        """Send a text, and all keys that still come here, to the prompt."""
        self._typing = True
        self.post_message(self.Typed(text))

    def on_key(self, event: events.Key) -> None:
        """Send on what has no meaning here."""
        if event.character is None or not event.is_printable or self.takes_letters():
            return
        if self._typing or event.key not in self.screen.active_bindings:
            self.type_on(event.character)
            event.stop()
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Send on what was pasted."""
        event.stop()
        self.type_on(event.text)

    def on_descendant_focus(self) -> None:
        self._typing = False

    def on_focus(self) -> None:
        self._typing = False
