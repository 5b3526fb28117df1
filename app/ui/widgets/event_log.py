"""The compaction log: the newest row of each layer always in sight, all rows when it is opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from app.core.reports import CompactionReport, Layer, Outcome
from app.ui.format import plural
from app.ui.keymap import Place, bindings
from app.ui.layer_names import NAMES
from app.ui.report_text import entry, older_line, run_line, taken_back_at
from app.ui.widgets.layer_lanes import LayerLanes
from app.ui.widgets.words_to_prompt import WordsToPrompt

if TYPE_CHECKING:
    from app.agent.ledger import Run

PAGE = 200
"""Events that are listed at first; as many older ones come each time one goes to the top."""
SLACK = 50
"""New events that are listed beyond that before the oldest leave the list again."""
OLDER = "older"
"""Id of the row that stands for older events."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which events are listed."""

    name: str
    """"" for all."""
    passes: Callable[[CompactionReport], bool]


def _only(layer: Layer) -> Filter:
    return Filter(NAMES[layer].title, lambda report: report.layer is layer)


FILTERS = (
    Filter("", lambda report: True),
    *(_only(layer) for layer in NAMES),
    Filter("held and refused", lambda r: r.outcome in (Outcome.HELD, Outcome.REFUSED)),
)


class ReportList(OptionList):
    """All rows, oldest first, following the newest until the user moves up."""


class EventLog(Vertical, WordsToPrompt):
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
        """The compaction of a row shall be undone."""

        def __init__(self, report: CompactionReport | None) -> None:
            super().__init__()
            self.report = report
            """None when no row is chosen."""

    class RedoAsked(Message):
        """The newest undo shall be taken back."""

    class Toggled(Message):
        """The log shall be opened or closed."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._reports: list[CompactionReport] = []
        self._runs: tuple[Run, ...] = ()
        self._filter = 0
        self._asking: tuple[str, Callable[[], None] | None] | None = None
        """The key that wants something to be confirmed, and what it does."""
        self._listed = PAGE
        """Events that pass the filter and are listed, at most."""
        self.border_title = "compaction log"

    def compose(self) -> ComposeResult:
        yield LayerLanes()
        yield ReportList(markup=False, compact=True)

    def set_threshold(self, threshold: int) -> None:
        """Say at which token count layer 2 runs; 0 when it is off."""
        self.query_one(LayerLanes).threshold = threshold

    def show_reports(self, reports: Sequence[CompactionReport], runs: Sequence[Run] = ()) -> None:
        """Show these reports, oldest first, and the runs between them, instead of what is shown."""
        self._reports, self._runs, self._listed = list(reports), tuple(runs), PAGE
        lanes = self.query_one(LayerLanes)
        lanes.forget()
        for report in self._reports:
            lanes.show(report)
        self._fill()

    def show_runs(self, runs: Sequence[Run]) -> None:
        """Take the runs of the program that worked on the session."""
        if len(runs) != len(self._runs):
            self._runs = tuple(runs)
            self._fill()

    def add_report(self, report: CompactionReport) -> None:
        """Add the newest report."""
        self._reports.append(report)
        self.query_one(LayerLanes).show(report)
        if report.outcome is Outcome.UNDONE:
            self._fill()  # an earlier row is now one that was taken back
        elif FILTERS[self._filter].passes(report):
            rows = self.query_one(ReportList)
            following = rows.highlighted is None or rows.highlighted == rows.option_count - 1
            rows.add_option(self._option(report, len(self._reports) - 1))
            if following and rows.option_count > PAGE + SLACK:
                self._listed = PAGE
                self._fill()
            elif following:
                rows.highlighted = rows.option_count - 1
        self._count()

    @property
    def held(self) -> bool:
        """Whether layer 1's newest decision is to hold back."""
        micro = (r for r in reversed(self._reports) if r.layer is Layer.MICRO)
        newest = next(micro, None)
        return newest is not None and newest.outcome is Outcome.HELD

    def focus_rows(self) -> None:
        """Give the keyboard to the rows."""
        self.query_one(ReportList).focus()

    @property
    def chosen(self) -> CompactionReport | None:
        """The event of the row under the cursor."""
        option = self.query_one(ReportList).highlighted_option
        id_ = option.id if option is not None else None
        return None if id_ is None or id_ == OLDER else self._reports[int(id_)]

    def ask(self, typed: str, then: Callable[[], None] | None) -> None:
        """Wait for a y before something is done; another letter makes a word of it and of the key that asked.

        Args:
            typed: The letter that was pressed.
            then: Does it; None when there is nothing to do and only a word may follow.
        """
        self._asking = typed, then

    def on_key(self, event: events.Key) -> None:
        """Take the answer to what was asked."""
        asking, self._asking = self._asking, None
        if asking is None:
            return
        if event.key == "y" and asking[1] is not None:
            asking[1]()
        elif event.character is not None and event.is_printable:
            self.type_on(asking[0] + event.character)
        else:
            return
        event.stop()
        event.prevent_default()

    def action_clear_now(self) -> None:
        self.post_message(self.ClearAsked())

    def action_undo(self) -> None:
        self.post_message(self.UndoAsked(self.chosen))

    def action_redo(self) -> None:
        self.post_message(self.RedoAsked())

    def action_filter(self) -> None:
        """Go to the next filter that lets anything pass."""
        steps = [(self._filter + step) % len(FILTERS) for step in range(1, len(FILTERS) + 1)]
        passing = [at for at in steps if any(map(FILTERS[at].passes, self._reports))]
        self._filter, self._listed = next(iter(passing), 0), PAGE
        self._fill()

    def on_layer_lanes_clicked(self, event: LayerLanes.Clicked) -> None:
        event.stop()
        self.post_message(self.Opened(event.report) if event.report else self.Toggled())

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option.id not in (None, OLDER):
            self.post_message(self.Opened(self._reports[int(event.option.id)]))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if event.option.id == OLDER:
            self._list_older()

    def _list_older(self) -> None:
        """List another page of older events; the one that was the oldest is where one stands."""
        rows = self.query_one(ReportList)
        stood = rows.get_option_at_index(1).id if rows.option_count > 1 else None
        self._listed += PAGE
        self._fill()
        if stood is not None:
            rows.highlighted = rows.get_option_index(stood)

    def _fill(self) -> None:
        rows = self.query_one(ReportList)
        rows.set_options(self._options())
        rows.highlighted = rows.option_count - 1 if rows.option_count else None
        self._count()

    def _options(self) -> list[Option]:
        """Return the newest rows that pass; in front of the first of each further run stands a line that names it."""
        passing = [at for at, r in enumerate(self._reports) if FILTERS[self._filter].passes(r)]
        older = max(0, len(passing) - self._listed)
        runs = list(enumerate(self._runs, 1))[1:]
        options: list[Option] = []
        if older:
            begins = self._reports[passing[older]].time
            before = [run for run in runs if run[1].time <= begins]
            runs = [*before[-1:], *runs[len(before) :]]
            options.append(Option(older_line(older), id=OLDER))
        for at in passing[older:]:
            while runs and runs[0][1].time <= self._reports[at].time:
                options.append(Option(run_line(*runs.pop(0)), disabled=True))
            options.append(self._option(self._reports[at], at))
        return options + [Option(run_line(*run), disabled=True) for run in runs]

    def _option(self, report: CompactionReport, at: int) -> Option:
        taken_back = taken_back_at(report, self._reports) is not None
        return Option(entry(report, taken_back=taken_back), id=str(at))

    def _count(self) -> None:
        wanted = FILTERS[self._filter].name
        parts = ["compaction log"]
        if self._reports:
            parts.append(plural(len(self._reports), "event"))
        if wanted:
            shown = sum(map(FILTERS[self._filter].passes, self._reports))
            parts.append(f"{wanted} only: {shown}")
        self.border_title = " · ".join(parts)
