"""The sawtooth chart: tokens of each request, the threshold, and where a layer compacted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from app.ui.format import plural, short_tokens
from app.ui.sawtooth import LEGEND, chart, columns_of, marks_of

if TYPE_CHECKING:
    from app.agent.ledger import Run
    from app.core.reports import CompactionReport

STYLES = {
    ".": "",
    "#": "$primary",
    "=": "$primary 45%",
    "!": "bold $text-error",
    "-": "$text-warning",
    "v": "bold $text-accent",
    "r": "$text-muted",
}


class ContextChart(Widget):
    """Context over requests. A digit on top marks the layer that made it fall."""

    threshold: reactive[int] = reactive(0)

    def __init__(self, *, legend: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self.contexts: tuple[int, ...] = ()
        """Tokens of each request of the session, oldest first."""
        self._marks: dict[int, str] = {}
        self.border_title = "context"
        self._legend = legend

    def show(
        self,
        contexts: Sequence[int],
        reports: Sequence[CompactionReport],
        runs: Sequence[Run] = (),
    ) -> None:
        """Draw a session: billed input of its requests, what its layers did, and its runs."""
        self.contexts = tuple(contexts)
        self._marks = marks_of(reports, runs)
        self._entitle()
        self.refresh()

    def on_resize(self) -> None:
        self._entitle()

    def _entitle(self) -> None:
        """Say in the title how many requests are drawn, the largest of all, and how many share a column."""
        contexts, width = self.contexts, self.size.width
        if not contexts:
            self.border_title = "context"
            return
        peak, total = f"peak {short_tokens(max(contexts))}", plural(len(contexts), "request")
        shared = max(map(len, columns_of(len(contexts), width))) if width > 1 else 1
        older = f", older ones up to {shared:,} a column" if shared > 1 else ""
        title = f"context · {total}, {peak}"
        titles = [f"{title}{older} · {LEGEND}"] if self._legend else []
        titles += [f"{title}{older}", title, f"{total}, {peak}", peak]
        self.border_title = next((one for one in titles if len(one) <= width - 2), peak)

    def render(self) -> Content:
        width, height = self.size
        if not self.contexts:
            return Content.styled(
                f"a column a request\n╌╌╌ compacts at {short_tokens(self.threshold)}"
                if self.threshold
                else "a column a request",
                "$text-muted",
            )
        drawn = chart(
            self.contexts, self._marks, threshold=self.threshold, width=width, height=height
        )
        rows: list[Content] = []
        for text, kinds in zip(drawn.rows, drawn.kinds, strict=True):
            row = Content(text)
            start = 0
            for at in range(1, len(kinds) + 1):
                if at == len(kinds) or kinds[at] != kinds[start]:
                    if STYLES[kinds[start]]:
                        row = row.stylize(STYLES[kinds[start]], start, at)
                    start = at
            rows.append(row)
        return Content("\n").join(rows)
