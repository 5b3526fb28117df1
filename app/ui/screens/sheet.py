"""A sheet over the chat: a title, a body, and keys that close it. The other screens are made from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget

from app.core.visible_text import one_line
from app.ui.keymap import NOT_MOVED, Place, bindings, shown_key
from app.ui.widgets.key_footer import Hint, KeyFooter

Result = TypeVar("Result")
ROOM = 12
"""Cells beside a sheet's text: margin, frame, padding and scrollbar."""

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
            footer.hints = self.as_moved(self.hint_row())
            yield footer

    def on_screen_resume(self) -> None:
        """Let no cursor blink: nothing runs while nobody types."""
        from textual.widgets import Input  # not needed before a sheet opens

        for line in self.query(Input):
            line.cursor_blink = False

    def as_moved(self, hints: Iterable[Hint]) -> tuple[Hint, ...]:
        """Return hints with the keys that the user's keymap gives to the actions of this sheet."""
        moved: Mapping[str, str] = getattr(self.app, "moved_keys", NOT_MOVED)
        ids = {
            binding.action: binding.id
            for kind in reversed(type(self).__mro__)
            for binding in vars(kind).get("BINDINGS", ())
            if isinstance(binding, Binding) and binding.id in moved
        }
        return tuple(
            replace(hint, key=shown_key(id_, moved)) if (id_ := ids.get(hint.action)) else hint
            for hint in hints
        )

    def action_close(self) -> None:
        self.dismiss(None)

    def on_key_footer_clicked(self, event: KeyFooter.Clicked) -> None:
        self.run_worker(self.run_action(event.action))
