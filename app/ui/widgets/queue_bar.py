"""Messages typed while the agent works: they wait above the prompt until it can take them."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from app.core.visible_text import one_line

SHOWN = 3


class QueueBar(Static):
    """The newest waiting messages, one line each."""

    DEFAULT_CLASSES = "-empty"

    class Opened(Message):
        """A message was clicked: it shall come back to the prompt."""

        def __init__(self, at: int) -> None:
            super().__init__()
            self.at = at

    _first = 0
    """Place of the message in the first row; below 0 by the row that counts hidden ones."""

    def show_texts(self, texts: Sequence[str]) -> None:
        """Show what waits, oldest first; nothing hides the bar."""
        self.set_class(not texts, "-empty")
        hidden = len(texts) - SHOWN
        self._first = hidden - 1 if hidden > 0 else 0
        rows = [Content.styled(f"  … {hidden} before", "$text-muted")] if hidden > 0 else []
        for at, text in enumerate(texts[-SHOWN:], start=max(0, hidden)):
            last = at == len(texts) - 1
            rows.append(
                Content.assemble(
                    ("↳ queued  ", "$text-warning"),
                    one_line(text, 200),
                    ("   Esc brings it back · Alt+↑ all" if last else "", "$text-muted"),
                )
            )
        self.update(Content("\n").join(rows))

    def on_click(self, event: Click) -> None:
        at = event.get_content_offset(self)
        if at is not None and self._first + at.y >= 0:
            self.post_message(self.Opened(self._first + at.y))
