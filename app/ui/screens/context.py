"""The gauge explained: each part of the next request, marks, cache, cost, and what would free room."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from app.ui.context_text import explain
from app.ui.screens.sheet import Sheet
from app.ui.widgets.context_chart import ContextChart

if TYPE_CHECKING:
    from app.agent.session import Session


class ContextScreen(Sheet[None]):
    """The budget as it was when the sheet opened.

    Args:
        session: Whose budget it is.
        marks: What the pair screen's chart has marked.
    """

    def __init__(self, session: Session, marks: Mapping[int, str]) -> None:
        super().__init__()
        self._session = session
        self._marks = marks

    def title_text(self) -> str:
        return "context"

    def body(self) -> Iterable[Widget]:
        with VerticalScroll():
            yield Static(id="explained", markup=False)
        chart = ContextChart(self._marks)
        chart.threshold = self._session.budget.threshold if self._session.budget.auto else 0
        chart.contexts = self._session.contexts
        yield chart

    def on_resize(self) -> None:
        session = self._session
        explained = explain(
            session.budget,
            usage=session.usage,
            reports=session.reports,
            contexts=session.contexts,
            width=self.size.width - 8,
        )
        rows = [Content.assemble(*line) for line in explained.lines]
        self.query_one("#explained", Static).update(Content("\n").join(rows))
