"""The task list that the agent keeps and that is carried over every compaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from app.core.visible_text import one_line

if TYPE_CHECKING:
    from app.core.events import TodoItem

SHAPES = {"pending": ("○", ""), "doing": ("▶", "bold $text-primary"), "done": ("✓", "$text-muted")}


class TodoPanel(Static):
    """One line a task: what is done, what is being done, what waits."""

    DEFAULT_CLASSES = "-empty"

    def show_items(self, items: Sequence[TodoItem]) -> None:
        """Show this list; an empty one hides the panel."""
        self.set_class(not items, "-empty")
        done = sum(item.state == "done" for item in items)
        self.border_title = f"tasks {done}/{len(items)}"
        rows = []
        for item in items:
            shape, style = SHAPES.get(item.state, SHAPES["pending"])
            rows.append(Content.styled(f"{shape} {one_line(item.text, 200)}", style))
        self.update(Content("\n").join(rows))


class TodoLine(Static):
    """The same list in one line, for narrow screens: how far it is and what is being done."""

    DEFAULT_CLASSES = "-empty"

    def show_items(self, items: Sequence[TodoItem]) -> None:
        """Show this list; an empty one hides the line."""
        self.set_class(not items, "-empty")
        done = sum(item.state == "done" for item in items)
        now = next((item.text for item in items if item.state == "doing"), "")
        waits = next((item.text for item in items if item.state == "pending"), "all done")
        self.update(
            Content.assemble(
                (f"tasks {done}/{len(items)}  ", "$text-muted"),
                ("▶ " if now else "○ ", "bold $text-primary"),
                one_line(now or waits, 200),
            )
        )
