"""The sawtooth chart: tokens of each request, the threshold, and where a layer compacted."""

from __future__ import annotations

from collections.abc import Mapping

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from app.core.reports import CompactionReport, Layer, Outcome
from app.ui.format import plural, short_tokens
from app.ui.sawtooth import chart

MARKS = {Layer.MICRO: "1", Layer.AUTO: "2", Layer.MANUAL: "3"}
STYLES = {
    ".": "",
    "#": "$primary",
    "=": "$primary 45%",
    "!": "bold $text-error",
    "-": "$text-warning",
    "v": "bold $text-accent",
}


class ContextChart(Widget):
    """Context over requests. A digit on top marks the layer that made it fall."""

    contexts: reactive[tuple[int, ...]] = reactive((), always_update=True)
    """Tokens of each request of the session, oldest first."""
    threshold: reactive[int] = reactive(0)

    def __init__(self, marks: Mapping[int, str] | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._marks = dict(marks or {})
        self.border_title = "context"

    def mark(self, report: CompactionReport) -> None:
        """Remember that a layer changed the context before the next request."""
        if report.outcome is Outcome.APPLIED and report.layer in MARKS:
            at = len(self.contexts)
            self._marks[at] = max(MARKS[report.layer], self._marks.get(at, ""))
            self.refresh()
        elif report.outcome is Outcome.UNDONE:
            self._marks[len(self.contexts)] = "↺"
            self.refresh()

    def forget(self) -> None:
        """Begin anew, for another session."""
        self._marks.clear()
        self.contexts = ()

    def watch_contexts(self, contexts: tuple[int, ...]) -> None:
        if contexts:
            peak = short_tokens(max(contexts))
            self.border_title = f"context · {plural(len(contexts), 'request')}, peak {peak}"
        else:
            self.border_title = "context"

    @property
    def marks(self) -> dict[int, str]:
        """Number of requests made when a layer ran, to the character that marks it."""
        return dict(self._marks)

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
