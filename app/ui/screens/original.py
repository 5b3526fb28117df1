"""A tool result in full, as it came, whatever the view of it holds by now."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from app.core.visible_text import visible_text
from app.errors import PalError
from app.ui.screens.sheet import Sheet

if TYPE_CHECKING:
    from app.agent.session import Session


class OriginalScreen(Sheet[None]):
    """Reads the result from the record.

    Args:
        result: Its id, ``r<N>``.
        session: Where it is read.
    """

    def __init__(self, result: str, session: Session) -> None:
        super().__init__()
        self._result = result
        self._session = session

    def title_text(self) -> str:
        return f"{self._result} in full"

    def body(self) -> Iterable[Widget]:
        with VerticalScroll():
            yield Static("reading the record…", id="text", markup=False)

    async def on_mount(self) -> None:
        try:
            text = visible_text(await self._session.recall(self._result))
        except PalError as error:
            text = visible_text(str(error))
        self.query_one("#text", Static).update(Content(text))
