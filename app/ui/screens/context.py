"""The gauge explained: each part of the next request, marks, cache, cost, and what would free room."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from app.ui.account_text import account_of
from app.ui.context_text import explain
from app.ui.screens.sheet import ROOM, Sheet
from app.ui.widgets.context_chart import ContextChart
from app.ui.widgets.key_footer import Hint

if TYPE_CHECKING:
    from app.agent.session import Session


class ContextScreen(Sheet[None]):
    """The budget as it was when the sheet opened.

    Args:
        session: Whose budget it is.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._account = account_of(session)

    def title_text(self) -> str:
        return "context"

    def hint_row(self) -> tuple[Hint, ...]:
        return (Hint("↑↓", "scroll"), Hint("Esc", "back", "close"))

    def body(self) -> Iterable[Widget]:
        with VerticalScroll():
            yield Static(id="explained", markup=False)
        session, account = self._session, self._account
        chart = ContextChart(legend=True)
        chart.threshold = account.budget.threshold if account.budget.auto else 0
        chart.show(account.contexts, account.reports, session.runs)
        yield chart

    def on_resize(self) -> None:
        explained = explain(self._account, min(140, self.size.width) - ROOM)
        rows = [Content.assemble(*line) for line in explained.lines]
        self.query_one("#explained", Static).update(Content("\n").join(rows))
