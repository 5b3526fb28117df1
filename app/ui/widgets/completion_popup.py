"""Offers above the prompt while a command is typed; the prompt keeps the keyboard."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widget import Widget

from app.core.visible_text import one_line
from app.ui.commands import Completion

ROWS = 8


class CompletionPopup(Widget):
    """A short list with one offer chosen."""

    DEFAULT_CLASSES = "-empty"

    class Chosen(Message):
        """An offer was clicked."""

        def __init__(self, completion: Completion) -> None:
            super().__init__()
            self.completion = completion

    class Toggled(Message):
        """There are offers now, or none any more."""

    def __init__(self) -> None:
        super().__init__()
        self._offers: tuple[Completion, ...] = ()
        self._at = 0
        self._note = ""
        self.was_moved = False
        """Whether the user chose an offer other than the first."""

    @property
    def is_open(self) -> bool:
        """Whether offers are shown."""
        return bool(self._offers)

    @property
    def chosen(self) -> Completion | None:
        """The offer that Tab or Enter takes."""
        return self._offers[self._at] if self._offers else None

    def offer(self, offers: Sequence[Completion], note: str = "") -> None:
        """Show these, and a note under few of them; nothing at all closes the popup."""
        if bool(offers) is not self.is_open:
            self.post_message(self.Toggled())
        if tuple(offers) != self._offers:
            kept = self._offers[self._at].text if self.was_moved and self._offers else None
            self._offers, self.was_moved = tuple(offers), False
            self._at = next((n for n, offer in enumerate(offers) if offer.text == kept), 0)
            self.was_moved = self._at > 0
        self._note = note if len(offers) < ROWS else ""
        self.set_class(not offers and not note, "-empty")
        self.refresh(layout=True)

    def move(self, step: int) -> None:
        """Choose the next or previous offer."""
        if self._offers:
            self._at = (self._at + step) % len(self._offers)
            self.was_moved = True
            self.refresh()

    def render(self) -> Content:
        width = max((cell_len(one_line(offer.label)) for offer in self._offers), default=0)
        if any(offer.help for offer in self._offers):
            width = min(width, self.size.width * 2 // 5)
        rows: list[Content] = []
        for at, offer in self._window():
            label = Content(one_line(offer.label)).truncate(width, ellipsis=True)
            gap = " " * (width - label.cell_length + 2)
            mark = "❯ " if at == self._at else "  "
            line = Content.assemble(mark, label, gap, (one_line(offer.help), "$text-muted"))
            line = line.truncate(self.size.width, ellipsis=True)
            rows.append(
                line.stylize("bold $text-primary", 0, 2 + width) if at == self._at else line
            )
        if self._note:
            rows.append(Content.styled(f"  {self._note}", "$text-muted"))
        return Content("\n").join(rows)

    def on_click(self, event: Click) -> None:
        at = event.get_content_offset(self)
        window = self._window()
        if at is not None and at.y < len(window):
            self.post_message(self.Chosen(window[at.y][1]))

    def _window(self) -> list[tuple[int, Completion]]:
        first = max(0, min(self._at - ROWS // 2, len(self._offers) - ROWS))
        return list(enumerate(self._offers))[first : first + ROWS]
