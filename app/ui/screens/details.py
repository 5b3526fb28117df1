"""One event of the compaction log in full: what, why, the new head, facts, cleared results, the view's change."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static, TabbedContent, TabPane
from textual.widgets.option_list import Option

from app.core.reports import CompactionReport, Layer, Outcome
from app.core.visible_text import one_line, visible_text
from app.errors import PalError
from app.ui.diff_text import diff_content
from app.ui.format import clock, cost, percent, plural, seconds, tokens
from app.ui.keymap import Place, bindings
from app.ui.report_text import STYLES
from app.ui.screens.sheet import Sheet
from app.ui.view_diff import view_diff
from app.ui.widgets.key_footer import Hint

if TYPE_CHECKING:
    from app.agent.session import Session

FACTS_ROOM = 20_000
"""Raw tokens of facts that are shown."""


class Wish(StrEnum):
    """What the user wants done after the sheet closed."""

    UNDO = "undo"
    REDO = "redo"


class DetailsScreen(Sheet[Wish]):
    """Shows a report; originals and views are read from the session when their tab opens.

    Args:
        report: The event.
        session: Where originals and views are read.
        can_undo: Whether it is the newest compaction in force.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Place.DETAILS)]

    def __init__(self, report: CompactionReport, session: Session, *, can_undo: bool) -> None:
        super().__init__()
        self._report = report
        self._session = session
        self._can_undo = can_undo
        self._refs = {ref.id: ref for ref in session.conversation.results}

    def title_text(self) -> str:
        return one_line(self._report.headline, 120)

    def hint_row(self) -> tuple[Hint, ...]:
        undo = (
            (Hint("u", "undo it", "undo"), Hint("r", "redo it", "redo")) if self._can_undo else ()
        )
        pin = (Hint("p", "pin the result", "pin"),) if self._report.results else ()
        return (Hint("←→", "tabs"), *undo, *pin, Hint("Esc", "back", "close"))

    def body(self) -> Iterable[Widget]:
        report = self._report
        with TabbedContent():
            with TabPane("event", id="tab-event"), VerticalScroll():
                yield Static(self._event(), markup=False)
            if report.summary:
                with TabPane("new head", id="tab-head"), VerticalScroll():
                    yield Static(Content(visible_text(report.summary)), markup=False)
            if report.commit:
                with TabPane("facts", id="tab-facts"), VerticalScroll():
                    yield Static(id="facts", markup=False)
            if report.results:
                with TabPane(f"results ({len(report.results)})", id="tab-results"), Horizontal():
                    yield OptionList(*self._options(), markup=False, compact=True)
                    with VerticalScroll(id="original"):
                        yield Static(
                            "Enter shows a result in full.", id="original-text", markup=False
                        )
            if report.commit:
                with TabPane("before / after", id="tab-diff"), VerticalScroll():
                    yield Static("reading the record…", id="view-diff", markup=False)

    def on_tabbed_content_tab_activated(self, event: TabbedContent.TabActivated) -> None:
        match event.pane.id:
            case "tab-diff":
                self.run_worker(self._show_diff(), group="diff", exclusive=True)
            case "tab-facts":
                self.query_one("#facts", Static).update(self._facts())
            case "tab-results":
                self.query_one(OptionList).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.run_worker(
            self._show_original(event.option.id or ""), group="original", exclusive=True
        )

    def action_undo(self) -> None:
        if self._can_undo:
            self.dismiss(Wish.UNDO)

    def action_redo(self) -> None:
        if self._can_undo:
            self.dismiss(Wish.REDO)

    def action_pin(self) -> None:
        if self._report.results:
            option = self.query_one(OptionList).highlighted_option
            if option is not None and option.id is not None:
                self.run_worker(self._pin(option.id), group="pin")

    async def _pin(self, result: str) -> None:
        on = result not in self._session.conversation.pinned
        try:
            await self._session.pin(result, on)
        except PalError as error:
            self.notify(one_line(str(error)), severity="error", markup=False)
            return
        self.query_one(OptionList).replace_option_prompt(result, self._result_row(result))

    async def _show_original(self, result: str) -> None:
        try:
            text = visible_text(await self._session.recall(result))
        except PalError as error:
            text = visible_text(str(error))
        self.query_one("#original-text", Static).update(Content(text))
        self.query_one("#original").scroll_home(animate=False)

    async def _show_diff(self) -> None:
        commit = self._report.commit
        try:
            before = await self._session.view_before(commit)
            after = await self._session.view_after(commit)
            text = diff_content(await asyncio.to_thread(view_diff, before, after))
        except PalError as error:
            text = Content.styled(visible_text(str(error)), "$text-error")
        self.query_one("#view-diff", Static).update(text)

    def _facts(self) -> Content:
        if self._session.conversation.base != self._report.commit:
            return Content(
                "This compaction is no longer in force; its facts stand in the tab of its head."
            )
        from app.compaction import facts, factsheet  # only this tab needs them

        known = facts.from_json(self._session.conversation.facts)
        return Content(visible_text(factsheet.render(known, FACTS_ROOM)) or "No facts were kept.")

    def _options(self) -> list[Option]:
        return [Option(self._result_row(result), id=result) for result in self._report.results]

    def _result_row(self, result: str) -> Content:
        pinned = "  pinned" if result in self._session.conversation.pinned else ""
        ref = self._refs.get(result)
        what = f"{ref.tool} {ref.effects.target}" if ref else "no longer in the view"
        return Content.assemble(
            (f"{result:6}", "bold"), one_line(what, 100), (pinned, "bold $text-accent")
        )

    def _event(self) -> Content:
        rows = [
            Content.assemble((f"{name:12}", "$text-muted"), text)
            for name, text in facts_of(self._report)
        ]
        head = Content.styled(
            one_line(self._report.headline, 300), STYLES[self._report.outcome] or "bold"
        )
        return Content("\n").join([head, Content(""), *rows])


MADE_BY = {
    "summary": "a summary by the model",
    "retry": "a summary by the model, at the second try",
    "stubs": "a summary by the model, from a copy with old results left out: the first ones were not accepted",
    "half": "a summary by the model, from the newer half: the first ones were not accepted",
    "digest": "code alone, from the facts and your words: no summary was accepted",
}


def _was_paid(report: CompactionReport) -> bool:
    asked = report.layer in (Layer.AUTO, Layer.MANUAL)
    return asked and report.outcome is not Outcome.UNDONE


def facts_of(report: CompactionReport) -> list[tuple[str, str]]:
    """Return what a report says, as (name, text) rows; what does not apply is left out."""
    before, after = tokens(report.before), tokens(report.after)
    saved = (
        f", {percent(report.saved / report.before)} saved"
        if report.before > 0 and report.saved > 0
        else ""
    )
    rows = [
        ("outcome", str(report.outcome)),
        ("why", visible_text(report.reason)),
        ("tokens", f"{before} → {after}{saved}"),
        ("results", plural(len(report.results), "result") if report.results else ""),
        ("replaced", plural(report.messages, "message") if report.messages else ""),
        (
            "kept",
            f"{plural(report.kept, 'message')} verbatim" if report.kept or report.commit else "",
        ),
        ("focus", one_line(report.focus, 300)),
        ("made by", MADE_BY.get(report.method, report.method)),
        ("cost", cost(report.cost) if _was_paid(report) else ""),
        ("took", seconds(report.seconds) if report.seconds else ""),
        ("transcript", one_line(report.transcript)),
        ("time", f"{clock(report.time)}  ({report.time})" if report.time else ""),
    ]
    return [(name, text) for name, text in rows if text]
