"""A summary before it is used: read it, change it, apply it or leave it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static, TextArea

from app.compaction.summary import missing_headings
from app.core.tokens import estimate_text
from app.core.visible_text import one_line
from app.ui.format import tokens
from app.ui.keymap import Place, bindings
from app.ui.screens.sheet import Sheet
from app.ui.widgets.key_footer import Hint


class PreviewScreen(Sheet[str]):
    """Returns the text to apply, or None.

    Args:
        text: The summary as the model wrote it.
        focus: What it was asked to keep; "" for nothing special.
        factor: The model's tokens per estimated token.
        cap: Tokens that a summary of the model's own may have.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(bindings(Place.PREVIEW))

    def __init__(self, text: str, focus: str, *, factor: float, cap: int) -> None:
        super().__init__()
        self._text = text
        self._focus = focus
        self._factor = factor
        self._cap = cap

    def title_text(self) -> str:
        return "summary preview"

    def hint_row(self) -> tuple[Hint, ...]:
        return (Hint("Ctrl+S", "apply this text", "apply"), Hint("Esc", "apply nothing", "close"))

    def body(self) -> Iterable[Widget]:
        focus = f" Focus: {one_line(self._focus, 200)}." if self._focus else ""
        said = f"Nothing is applied yet. Change what you like; the facts are added by code.{focus}"
        yield Static(Content.styled(said, "$text-muted"))
        yield Static(id="measure", markup=False)
        area = TextArea(self._text, compact=True, highlight_cursor_line=False)
        area.cursor_blink = False
        yield area

    def on_mount(self) -> None:
        self._measure()

    def on_text_area_changed(self) -> None:
        self._measure()

    def _measure(self) -> None:
        """Say how long the text is, and which of a summary's headings it lacks."""
        text = self.query_one(TextArea).text
        count = round(estimate_text(text) * self._factor)
        long = count > self._cap
        size = f"~{tokens(count)} tokens; the model's own may have {tokens(self._cap)}"
        missing = missing_headings(text)
        lacks = f" · without: {', '.join(missing)}" if missing else ""
        style = "$text-warning" if long or missing else "$text-muted"
        self.query_one("#measure", Static).update(Content.styled(f"{size}{lacks}", style))

    def action_apply(self) -> None:
        text = self.query_one(TextArea).text
        self.dismiss(text if text.strip() else None)
