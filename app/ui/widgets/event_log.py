"""The compaction log: the newest row of each layer always in sight, all rows when it is opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from app.core.reports import CompactionReport, Layer, Outcome
from app.core.visible_text import one_line
from app.ui.format import plural, tokens
from app.ui.keymap import Place, bindings
from app.ui.report_text import STYLES, details, row

KEPT = 1_000
"""Rows that stay in the list; older ones are in the record."""
LANES = (
    ((Layer.MICRO, Layer.ENTRY), "1 micro "),
    ((Layer.AUTO,), "2 auto  "),
    ((Layer.MANUAL,), "3 manual"),
)
FILTERS = (None, Layer.MICRO, Layer.AUTO, Layer.MANUAL)


class LayerLanes(Widget):
    """Three lines: what each layer did last, or what it waits for."""

    threshold: reactive[int] = reactive(0)

    class Clicked(Message):
        """A lane was clicked."""

        def __init__(self, report: CompactionReport | None) -> None:
            super().__init__()
            self.report = report

    def __init__(self) -> None:
        super().__init__()
        self._newest: dict[int, CompactionReport] = {}

    def show(self, report: CompactionReport) -> None:
        """Make a report the newest of its lane."""
        for at, (layers, _) in enumerate(LANES):
            if report.layer in layers:
                self._newest[at] = report
        self.refresh()

    def forget(self) -> None:
        """Empty all lanes."""
        self._newest.clear()
        self.refresh()

    def render(self) -> Content:
        waits = (
            "clears old tool results",
            f"summarises above {tokens(self.threshold)} tokens" if self.threshold else "off",
            "/compact, or the model's own compact tool",
        )
        rows: list[Content] = []
        for at, (_, label) in enumerate(LANES):
            report = self._newest.get(at)
            if report is None:
                line = Content.assemble((label, "$text-muted"), (f"  {waits[at]}", "$text-muted"))
            else:
                line = Content.styled(row(report), STYLES[report.outcome])
            rows.append(line.truncate(self.size.width, ellipsis=True))
        return Content("\n").join(rows)

    def on_click(self, event: Click) -> None:
        at = event.get_content_offset(self)
        self.post_message(self.Clicked(self._newest.get(at.y) if at else None))


class ReportList(OptionList):
    """All rows, oldest first, following the newest until the user moves up."""


class EventLog(Vertical):
    """Lanes and list; it never holds the session and only tells what was asked for."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings(Place.LOG))

    class Opened(Message):
        """A row was opened."""

        def __init__(self, report: CompactionReport) -> None:
            super().__init__()
            self.report = report

    class ClearAsked(Message):
        """Layer 1 shall clear now."""

    class UndoAsked(Message):
        """The newest compaction shall be undone."""

    class Toggled(Message):
        """The log shall be opened or closed."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._reports: list[CompactionReport] = []
        self._filter = 0
        self.border_title = "compaction log"

    def compose(self) -> ComposeResult:
        yield LayerLanes()
        yield ReportList(markup=False, compact=True)

    def set_threshold(self, threshold: int) -> None:
        """Say at which token count layer 2 runs; 0 when it is off."""
        self.query_one(LayerLanes).threshold = threshold

    def show_reports(self, reports: Sequence[CompactionReport]) -> None:
        """Show these reports, oldest first, instead of what is shown."""
        self._reports = list(reports[-KEPT:])
        lanes = self.query_one(LayerLanes)
        lanes.forget()
        for report in self._reports:
            lanes.show(report)
        self._fill()

    def add_report(self, report: CompactionReport) -> None:
        """Add the newest report."""
        self._reports.append(report)
        self.query_one(LayerLanes).show(report)
        if len(self._reports) > KEPT + 100:
            self._reports = self._reports[-KEPT:]
            self._fill()
            return
        if self._passes(report):
            rows = self.query_one(ReportList)
            following = rows.highlighted is None or rows.highlighted == rows.option_count - 1
            rows.add_option(_option(report, len(self._reports) - 1))
            if following:
                rows.highlighted = rows.option_count - 1
        self._count()

    @property
    def held(self) -> bool:
        """Whether layer 1's newest decision is to hold back."""
        micro = [r for r in self._reports if r.layer is Layer.MICRO]
        return bool(micro) and micro[-1].outcome is Outcome.HELD

    def focus_rows(self) -> None:
        """Give the keyboard to the rows."""
        self.query_one(ReportList).focus()

    def action_clear_now(self) -> None:
        self.post_message(self.ClearAsked())

    def action_undo(self) -> None:
        self.post_message(self.UndoAsked())

    def action_filter(self) -> None:
        self._filter = (self._filter + 1) % len(FILTERS)
        self._fill()

    def on_layer_lanes_clicked(self, event: LayerLanes.Clicked) -> None:
        event.stop()
        self.post_message(self.Opened(event.report) if event.report else self.Toggled())

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.Opened(self._reports[int(event.option.id or 0)]))

    def _passes(self, report: CompactionReport) -> bool:
        wanted = FILTERS[self._filter]
        if wanted is None:
            return True
        return report.layer is wanted or (wanted is Layer.MICRO and report.layer is Layer.ENTRY)

    def _fill(self) -> None:
        rows = self.query_one(ReportList)
        rows.set_options(
            _option(report, at) for at, report in enumerate(self._reports) if self._passes(report)
        )
        rows.highlighted = rows.option_count - 1 if rows.option_count else None
        self._count()

    def _count(self) -> None:
        wanted = FILTERS[self._filter]
        parts = ["compaction log"]
        if self._reports:
            parts.append(plural(len(self._reports), "event"))
        if wanted is not None:
            parts.append(f"{wanted} only")
        self.border_title = " · ".join(parts)


def _option(report: CompactionReport, at: int) -> Option:
    style = STYLES[report.outcome]
    content = Content.styled(one_line(report.headline, 300), style)
    if found := details(report):
        content = Content.assemble(content, ("\n  " + " · ".join(found), "$text-muted"))
    if report.commit:
        for line in report.lines[1:]:
            content = Content.assemble(content, ("\n  " + line, "$text-muted"))
    return Option(content, id=str(at))
