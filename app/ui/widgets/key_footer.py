"""The last line: the keys that matter now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget


@dataclass(frozen=True, slots=True)
class Hint:
    """A key and what it does now."""

    key: str
    what: str
    action: str = ""
    """Action of the screen that a click runs; "" for none."""


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
        for hint in self._fitting():
            row = Content.assemble(
                row, (hint.key, "bold $text-primary"), (f" {hint.what}   ", "$text-muted")
            )
        return row

    def on_click(self, event: Click) -> None:
        at = event.get_content_offset(self)
        if at is None:
            return
        start = 0
        for hint in self._fitting():
            start += len(hint.key) + len(hint.what) + 4
            if at.x < start:
                if hint.action:
                    self.post_message(self.Clicked(hint.action))
                return

    def _fitting(self) -> Sequence[Hint]:
        fitting: list[Hint] = []
        used = 0
        for hint in self.hints:
            used += len(hint.key) + len(hint.what) + 4
            if used > self.size.width + 3:
                break
            fitting.append(hint)
        return fitting
