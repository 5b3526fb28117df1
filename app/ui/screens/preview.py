"""A summary before it is used: read it, change it, apply it or leave it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static, TextArea

from app.ui.screens.sheet import Sheet
from app.ui.widgets.key_footer import Hint


class PreviewScreen(Sheet[str]):
    """Returns the text to apply, or None.

    Args:
        text: The summary as the model wrote it.
        focus: What it was asked to keep; "" for nothing special.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "apply", "apply", show=False, id="preview.apply"),
    ]

    def __init__(self, text: str, focus: str) -> None:
        super().__init__()
        self._text = text
        self._focus = focus

    def title_text(self) -> str:
        return "summary preview"

    def hint_row(self) -> tuple[Hint, ...]:
        return (Hint("Ctrl+S", "apply this text", "apply"), Hint("Esc", "apply nothing", "close"))

    def body(self) -> Iterable[Widget]:
        focus = f" Focus: {self._focus}." if self._focus else ""
        said = f"Nothing is applied yet. Change what you like; the facts are added by code.{focus}"
        yield Static(Content.styled(said, "$text-muted"))
        area = TextArea(self._text, compact=True, highlight_cursor_line=False)
        area.cursor_blink = False
        yield area

    def action_apply(self) -> None:
        text = self.query_one(TextArea).text
        self.dismiss(text if text.strip() else None)
