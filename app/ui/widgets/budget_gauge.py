"""One line that shows how full the context is and what fills it."""

from __future__ import annotations

from dataclasses import replace

from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from app.core.budget import Budget, Zone
from app.ui.gauge_line import gauge_line

STEP = 0.1
"""Seconds between two moves while text streams; the last one always comes."""


class BudgetGauge(Widget):
    """The budget as a bar of parts with marks, and its figures."""

    budget: reactive[Budget | None] = reactive(None)
    """The budget to draw, or None before the session is open."""

    class Opened(Message):
        """The user wants the gauge explained."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._told: Budget | None = None
        self._grown = 0.0
        self._shown = 0.0
        self._pause: Timer | None = None

    def show(self, budget: Budget) -> None:
        """Draw what the session says of its budget."""
        self._told, self._grown, self._shown = budget, 0.0, 0.0
        self.budget = budget

    def grow(self, raw: float) -> None:
        """Add what streams, estimated, to the budget that was told last."""
        self._grown += raw
        if self._pause is None:
            self._follow()

    def _follow(self) -> None:
        """Draw what came, and look again after a moment as long as more comes."""
        self._pause = None
        told = self._told
        if told is None or self._grown == self._shown:
            return
        self._shown = self._grown
        more = round(self._grown * told.factor)
        self.budget = replace(
            told,
            used=told.used + more,
            measured=False,
            estimated=told.estimated + more,
            parts=replace(told.parts, conversation=told.parts.conversation + more),
        )
        self._pause = self.set_timer(STEP, self._follow)

    def watch_budget(self, budget: Budget | None) -> None:
        for zone in Zone:
            self.set_class(budget is not None and budget.zone is zone, f"-{zone}")

    def render(self) -> Content:
        if self.budget is None:
            return Content.styled("· nothing sent yet", "$text-muted")
        return Content.assemble(*gauge_line(self.budget, self.size.width))

    def on_click(self) -> None:
        self.post_message(self.Opened())
