"""A list of messages and results, and beside it the chosen one in full, read from the record."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from app.core.visible_text import visible_text
from app.errors import PalError

Read = Callable[[str], Awaitable[str]]
"""Returns the text that an option's id stands for."""


class PieceReader(Container):
    """Enter shows the chosen row in full; side by side where there is room, else one above the other.

    Args:
        options: The rows; those without an id are headings.
        read: Where the texts are.
        hint: What stands in the place of the text at first.
    """

    def __init__(self, options: Iterable[Option], read: Read, hint: str) -> None:
        super().__init__()
        self._options = list(options)
        self._read = read
        self._hint = hint

    def compose(self) -> ComposeResult:
        yield OptionList(*self._options, markup=False, compact=True)
        with VerticalScroll():
            yield Static(Content.styled(self._hint, "$text-muted"), markup=False)

    @property
    def chosen(self) -> str:
        """Id of the row under the cursor; "" when there is none."""
        option = self.query_one(OptionList).highlighted_option
        return (option.id or "") if option is not None else ""

    def show_row(self, id: str, prompt: Content) -> None:
        """Write a row anew."""
        self.query_one(OptionList).replace_option_prompt(id, prompt)

    def focus_rows(self) -> None:
        """Give the keyboard to the rows."""
        self.query_one(OptionList).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option.id:
            self.run_worker(self._show(event.option.id), exclusive=True)

    async def _show(self, id: str) -> None:
        try:
            text = visible_text(await self._read(id))
        except PalError as error:
            text = visible_text(str(error))
        self.query_one(Static).update(Content(text))
        self.query_one(VerticalScroll).scroll_home(animate=False)
