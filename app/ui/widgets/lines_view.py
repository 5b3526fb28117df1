"""A text in the colours and with the marks of the chat, for places outside of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.segment import Segment
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from app.ui.chat.inks import COMPONENTS, InkPot
from app.ui.chat.lines import NARROWEST, Line, Row, rows_of


class LinesView(Widget):
    """Shows logical lines; it is as high as they need."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._inks = InkPot(self)
        self._lay_out: Callable[[int], Sequence[Line]] = lambda width: ()
        self._rows: list[Row] = []
        self._width = 0

    def show(self, lay_out: Callable[[int], Sequence[Line]]) -> None:
        """Show other lines.

        Args:
            lay_out: Returns them for a number of cells.
        """
        self._lay_out = lay_out
        self._forget()
        self.refresh(layout=True)

    @property
    def text(self) -> str:
        """What is shown, one line a row."""
        return "\n".join(
            "".join(segment.text for segment in row.segments).rstrip()
            for row in self._rows_at(self._width or self.size.width)
        )

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(1, len(self._rows_at(width)))

    def render_line(self, y: int) -> Strip:
        rows = self._rows_at(self.size.width)
        if y < len(rows):
            return Strip(rows[y].segments).adjust_cell_length(self.size.width)
        return Strip([Segment(" " * self.size.width, self._inks.paint(()))])

    def notify_style_update(self) -> None:
        """Forget all colours."""
        super().notify_style_update()
        self.call_next(self._recolour)

    def _recolour(self) -> None:
        self._inks.clear()
        self._forget()
        self.refresh()

    def _forget(self) -> None:
        self._rows, self._width = [], 0

    def _rows_at(self, width: int) -> list[Row]:
        if width != self._width:
            room = max(NARROWEST, width)
            self._rows = rows_of(self._lay_out(room), room, self._inks.paint)
            self._width = width
        return self._rows
