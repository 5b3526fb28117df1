"""Messages typed while the agent works: they wait above the prompt until it can take them."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from app.core.visible_text import one_line

SHOWN = 3
MARK = "↳ queued  "
HINT = "   Esc brings it back · Alt+↑ all"


class QueueBar(Static):
    """The newest waiting messages, one line each."""

    DEFAULT_CLASSES = "-empty"

    class Opened(Message):
        """A message was clicked: it shall come back to the prompt."""

        def __init__(self, at: int) -> None:
            super().__init__()
            self.at = at

    class Changed(Message):
        """Messages wait now, or none does any more."""

    _texts: tuple[str, ...] = ()
    _first = 0
    """Place of the message in the first row; below 0 by the row that counts hidden ones."""

    def show_texts(self, texts: Sequence[str]) -> None:
        """Show what waits, oldest first; nothing hides the bar."""
        if bool(texts) is not bool(self._texts):
            self.post_message(self.Changed())
        self.set_class(not texts, "-empty")
        self._texts = tuple(texts)
        hidden = len(texts) - SHOWN
        self._first = hidden - 1 if hidden > 0 else 0
        self._draw()

    @property
    def has_any(self) -> bool:
        """Whether a message waits."""
        return bool(self._texts)

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        hidden = len(self._texts) - SHOWN
        rows = [Content.styled(f"  … {hidden} before", "$text-muted")] if hidden > 0 else []
        rows += [self._row(text, last=text is self._texts[-1]) for text in self._texts[-SHOWN:]]
        self.update(Content("\n").join(rows))

    def _row(self, text: str, *, last: bool) -> Content:
        hint = HINT if last else ""
        room = self.size.width - len(MARK) - len(hint) - 2
        shown = Content(one_line(text, 400)).truncate(max(10, room), ellipsis=True)
        return Content.assemble((MARK, "$text-warning"), shown, (hint, "$text-muted"))

    def on_click(self, event: Click) -> None:
        at = event.get_content_offset(self)
        if at is not None and self._first + at.y >= 0:
            self.post_message(self.Opened(self._first + at.y))
