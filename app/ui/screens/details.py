"""One event of the compaction log in full: what, why, the new head, facts, cleared results, the view's change."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static, TabbedContent, TabPane, Tabs
from textual.widgets.option_list import Option

from app.core.conversation import Conversation
from app.core.reports import CompactionReport, Layer, Outcome
from app.core.visible_text import one_line, visible_text
from app.errors import PalError
from app.ui.change_text import change_options, full_text, parts_table
from app.ui.format import clock, cost, hanging, percent, plural, seconds, tokens
from app.ui.keymap import Place, bindings
from app.ui.report_text import STYLES, taken_back_at
from app.ui.screens.sheet import ROOM, Sheet
from app.ui.view_change import ViewChange, view_change
from app.ui.widgets.key_footer import Hint
from app.ui.widgets.piece_reader import PieceReader

if TYPE_CHECKING:
    from app.agent.session import Session

FACTS_ROOM = 20_000
"""Raw tokens of facts that are shown."""


NAME = 12
"""Cells of the column with names."""


class Wish(StrEnum):
    """What the user wants done after the sheet closed."""

    UNDO = "undo"
    AGAIN = "again"
    CLEAR = "clear"


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
        self._titles: dict[str, str] = {}
        self._around: tuple[Conversation, Conversation] | None = None
        self._change: ViewChange | None = None

    def title_text(self) -> str:
        return one_line(self._report.headline, 120)

    def hint_row(self) -> tuple[Hint, ...]:
        undo = (
            (Hint("u", "undo it", "undo"), Hint("r", "make it anew", "again"))
            if self._can_undo
            else ()
        )
        one = (
            (Hint("p", "pin the result", "pin"), Hint("b", "bring it back", "bring_back"))
            if self._report.results or self._report.commit
            else ()
        )
        held = self._report.outcome is Outcome.HELD
        clear = (Hint("c", "clear now", "clear_now"),) if held else ()
        move = (Hint("←→", "tabs"), Hint("Tab", "in"))
        return (*move, *clear, *undo, *one, Hint("Esc", "back", "close"))

    def body(self) -> Iterable[Widget]:
        report = self._report
        with TabbedContent():
            with TabPane("event", id="tab-event"), VerticalScroll():
                yield Static(id="event", markup=False)
            if report.results:
                with TabPane(f"results ({len(report.results)})", id="tab-results"):
                    yield PieceReader(
                        self._options(), self._session.recall, "Enter shows a result in full."
                    )
            if report.commit:
                with TabPane("what changed", id="tab-change"), Vertical():
                    yield Static("reading the record…", id="parts", markup=False)
            if report.summary:
                with TabPane("new head", id="tab-head"), VerticalScroll():
                    yield Static(Content(visible_text(report.summary)), markup=False)
            if report.commit:
                with TabPane("facts", id="tab-facts"), VerticalScroll():
                    yield Static("reading the record…", id="facts", markup=False)

    def on_resize(self) -> None:
        self.query_one("#event", Static).update(self._event(min(140, self.size.width) - ROOM))

    def on_tabbed_content_tab_activated(self, event: TabbedContent.TabActivated) -> None:
        match event.pane.id:
            case "tab-change":
                self.run_worker(self._show_change(), group="change", exclusive=True)
            case "tab-facts":
                self.run_worker(self._show_facts(), group="facts", exclusive=True)
            case "tab-results":
                event.pane.query_one(PieceReader).focus_rows()
                self.run_worker(self._name_results(), group="names", exclusive=True)

    def action_tab(self, step: int) -> None:
        """Go to the tab on the left or right, wherever the keyboard is."""
        tabs = self.query_one(Tabs)
        self.set_focus(tabs)  # a pane that is hidden with the focus in it would come back
        if step > 0:
            tabs.action_next_tab()
        else:
            tabs.action_previous_tab()

    def action_undo(self) -> None:
        if self._can_undo:
            self.dismiss(Wish.UNDO)

    def action_again(self) -> None:
        if self._can_undo:
            self.dismiss(Wish.AGAIN)

    def action_clear_now(self) -> None:
        if self._report.outcome is Outcome.HELD:
            self.dismiss(Wish.CLEAR)

    def action_pin(self) -> None:
        if chosen := self._chosen():
            self.run_worker(self._pin(chosen), group="pin")

    def action_bring_back(self) -> None:
        if chosen := self._chosen():
            self.run_worker(self._bring_back(chosen), group="pin")

    def _chosen(self) -> str:
        """Return the id of the result under the cursor of the open tab, "" when there is none."""
        pane = self.query_one(TabbedContent).active_pane
        readers = pane.query(PieceReader) if pane is not None else ()
        chosen = next((reader.chosen for reader in readers), "")
        return chosen if chosen.startswith("r") else ""

    async def _pin(self, result: str) -> None:
        on = result not in self._session.conversation.pinned
        try:
            await self._session.pin(result, on)
        except PalError as error:
            self.notify(one_line(str(error)), severity="error", markup=False)
            return
        said = "stays whole from now on" if on else "may be cleared again"
        self.notify(f"{result} {said}", markup=False)
        if result in self._report.results:
            reader = self.query_one("#tab-results", TabPane).query_one(PieceReader)
            reader.show_row(result, self._result_row(result))

    async def _bring_back(self, result: str) -> None:
        try:
            await self._session.bring_back(result)
        except PalError as error:
            self.notify(one_line(str(error)), severity="warning", markup=False)
        else:
            self.notify(f"{result} goes to the model with your next message", markup=False)

    async def _views(self) -> tuple[Conversation, Conversation]:
        if self._around is None:
            self._around = await self._session.around(self._report.commit)
        return self._around

    async def _show_change(self) -> None:
        if self._change is not None:
            return
        parts = self.query_one("#parts", Static)
        try:
            before, after = await self._views()
        except PalError as error:
            parts.update(Content.styled(visible_text(str(error)), "$text-error"))
            return
        factor = self._session.budget.factor
        change = self._change = await asyncio.to_thread(view_change, before, after, factor)
        parts.update(parts_table(change))
        reader = PieceReader(change_options(change), self._read_piece, "Enter shows a row in full.")
        await self.query_one("#tab-change", TabPane).query_one(Vertical).mount(reader)
        if self.query_one(TabbedContent).active == "tab-change":
            reader.focus_rows()

    async def _read_piece(self, id: str) -> str:
        text = full_text(self._change, id) if self._change is not None else None
        return await self._session.recall(id) if text is None else text

    async def _show_facts(self) -> None:
        from app.compaction import facts, factsheet  # only this tab needs them

        shown = self.query_one("#facts", Static)
        try:
            _, after = await self._views()
        except PalError as error:
            shown.update(Content.styled(visible_text(str(error)), "$text-error"))
            return
        known = facts.from_json(after.facts)
        shown.update(
            Content(visible_text(factsheet.render(known, FACTS_ROOM)) or "No facts were kept.")
        )

    async def _name_results(self) -> None:
        """Read from the record what the results were that the view holds no more."""
        reader = self.query_one("#tab-results", TabPane).query_one(PieceReader)
        for result in self._report.results:
            if result in self._refs or result in self._titles:
                continue
            with suppress(PalError):
                self._titles[result] = (await self._session.original(result)).title
                reader.show_row(result, self._result_row(result))

    def _options(self) -> list[Option]:
        return [Option(self._result_row(result), id=result) for result in self._report.results]

    def _result_row(self, result: str) -> Content:
        pinned = "  pinned" if result in self._session.conversation.pinned else ""
        ref = self._refs.get(result)
        title = self._titles.get(result, "").removeprefix(result).strip()
        what = f"{ref.tool} {ref.effects.target}" if ref else f"{title} no longer in the view"
        return Content.assemble(
            (f"{result:6}", "bold"), one_line(what.strip(), 100), (pinned, "bold $text-accent")
        )

    def _event(self, width: int) -> Content:
        taken_back = taken_back_at(self._report, self._session.reports)
        rows = [
            Content.assemble((column, "$text-muted"), line)
            for name, text in facts_of(self._report, taken_back=taken_back)
            for column, line in hanging(name, text, indent=NAME, width=width)
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
    "redone": "the summary that it had before it was taken back",
    "edited": "a summary by the model, as you edited it",
    "digest": "code alone, from the facts and your words: no summary was accepted",
}


def _undone(taken_back: str | None) -> str:
    if taken_back is None:
        return ""
    return f", then taken back at {clock(taken_back)}: the view before it holds again"


def _was_paid(report: CompactionReport) -> bool:
    asked = report.layer in (Layer.AUTO, Layer.MANUAL)
    return asked and report.outcome is not Outcome.UNDONE


def facts_of(report: CompactionReport, *, taken_back: str | None = None) -> list[tuple[str, str]]:
    """Return what a report says, as (name, text) rows; what does not apply is left out.

    Args:
        report: The run of a layer.
        taken_back: When it was undone, ISO 8601; None when it was not.
    """
    before, after = tokens(report.before), tokens(report.after)
    saved = (
        f", {percent(report.saved / report.before)} saved"
        if report.before > 0 and report.saved > 0
        else ""
    )
    rows = [
        ("outcome", str(report.outcome) + _undone(taken_back)),
        ("why", visible_text(report.reason)),
        ("tokens", f"{before} → {after}{saved}"),
        ("stands", f"after request {tokens(report.requests)}" if report.requests else ""),
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
