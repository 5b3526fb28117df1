"""One line that shows how full the context is and what fills it."""

from __future__ import annotations

from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from app.core.budget import Budget, Zone
from app.ui.gauge_line import gauge_line


class BudgetGauge(Widget):
    """The budget as a bar of parts with marks, and its figures."""

    budget: reactive[Budget | None] = reactive(None)
    """The budget to draw, or None before the session is open."""

    class Opened(Message):
        """The user wants the gauge explained."""

    def watch_budget(self, budget: Budget | None) -> None:
        for zone in Zone:
            self.set_class(budget is not None and budget.zone is zone, f"-{zone}")

    def render(self) -> Content:
        if self.budget is None:
            return Content.styled("· nothing sent yet", "$text-muted")
        return Content.assemble(*gauge_line(self.budget, self.size.width))

    def on_click(self) -> None:
        self.post_message(self.Opened())
