"""The last line: the keys that matter now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

GAP = "   "


@dataclass(frozen=True, slots=True)
class Hint:
    """A key and what it does now."""

    key: str
    what: str
    action: str = ""
    """Action of the screen that a click runs; "" for none."""

    @property
    def cells(self) -> int:
        """Cells it takes, with the gap behind it."""
        return cell_len(self.key) + 1 + cell_len(self.what) + len(GAP)


class KeyFooter(Widget):
    """Hints from left to right, as many as fit."""

    hints: reactive[tuple[Hint, ...]] = reactive(())

    class Clicked(Message):
        """A hint was clicked."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def render(self) -> Content:
        row = Content("")
        for hint in fitting(self.hints, self.size.width):
            row = Content.assemble(
                row, (hint.key, "bold $text-primary"), (f" {hint.what}{GAP}", "$text-muted")
            )
        return row

    def on_click(self, event: Click) -> None:
        at = event.get_content_offset(self)
        if at is None:
            return
        start = 0
        for hint in fitting(self.hints, self.size.width):
            start += hint.cells
            if at.x < start:
                if hint.action:
                    self.post_message(self.Clicked(hint.action))
                return


def fitting(hints: Sequence[Hint], width: int) -> Sequence[Hint]:
    """Return as many hints as ``width`` cells take.

    A sheet's way out, at the end, stays as long as any: for it ``Ctrl+F`` becomes ``^F`` where room is short.
    """
    room = width + len(GAP)
    if _cells(hints) <= room:
        return hints
    shown = list(hints)
    keeps_last = shown[-1].key == "Esc" or shown[-1].action == "close"
    if keeps_last:
        shown = [replace(hint, key=hint.key.replace("Ctrl+", "^")) for hint in shown]
    while shown and _cells(shown) > room:
        del shown[-2 if keeps_last and len(shown) > 1 else -1]
    return shown


def _cells(hints: Iterable[Hint]) -> int:
    return sum(hint.cells for hint in hints)
