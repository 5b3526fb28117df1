"""A sheet over the chat: a title, a body, and keys that close it. The other screens are made from it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget

from app.core.visible_text import one_line
from app.ui.keymap import Place, bindings
from app.ui.widgets.key_footer import Hint, KeyFooter

Result = TypeVar("Result")


WIDTHS: list[tuple[int, str]] = [(0, "-narrow"), (110, "-wide")]
"""Class of a screen from so many columns on."""


class Sheet(ModalScreen[Result], Generic[Result]):
    """A modal screen in a frame. Subclasses give `title_text`, `hint_row` and `body`."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings(Place.SHEET))
    HORIZONTAL_BREAKPOINTS = WIDTHS

    def title_text(self) -> str:
        """Return what the frame's title says."""
        raise NotImplementedError

    def hint_row(self) -> tuple[Hint, ...]:
        """Return the keys named at the foot."""
        return (Hint("Esc", "back", "close"),)

    def body(self) -> Iterable[Widget]:
        """Yield the widgets of the sheet."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        frame = Vertical(id="sheet")
        frame.border_title = Content(one_line(self.title_text()))
        with frame:
            yield from self.body()
            footer = KeyFooter()
            footer.hints = self.hint_row()
            yield footer

    def on_screen_resume(self) -> None:
        """Let no cursor blink: nothing runs while nobody types."""
        from textual.widgets import Input  # not needed before a sheet opens

        for line in self.query(Input):
            line.cursor_blink = False

    def action_close(self) -> None:
        self.dismiss(None)

    def on_key_footer_clicked(self, event: KeyFooter.Clicked) -> None:
        self.run_worker(self.run_action(event.action))
