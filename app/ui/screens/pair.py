"""The screen a user lives in: chat, log, gauge and prompt around one session."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.events import DescendantBlur, DescendantFocus
from textual.screen import Screen

from app.core.events import Event, TodoItem, TurnEnd
from app.core.permission import Mode
from app.errors import PalError
from app.ui.commands import QUIT_WORDS, nearest, parse
from app.ui.footer_hints import hints
from app.ui.heading import heading_of
from app.ui.keymap import Place, bindings
from app.ui.screens.event_view import EventView
from app.ui.screens.pair_commands import PairCommands
from app.ui.widgets.approval_panel import ApprovalPanel
from app.ui.widgets.budget_gauge import BudgetGauge
from app.ui.widgets.chat_pane import ChatPane
from app.ui.widgets.context_chart import ContextChart
from app.ui.widgets.event_log import EventLog, ReportList
from app.ui.widgets.header_bar import HeaderBar
from app.ui.widgets.key_footer import KeyFooter
from app.ui.widgets.prompt_box import PromptBox
from app.ui.widgets.queue_bar import QueueBar
from app.ui.widgets.status_rule import StatusRule
from app.ui.widgets.todo_panel import TodoLine, TodoPanel

if TYPE_CHECKING:
    from app.agent.session import Session
    from app.settings import Settings
    from app.ui.app import PalApp

QUIT_SECONDS = 2.0
"""How long an announced second Ctrl+C quits."""
HISTORY = 30
"""Messages of a resumed session that are shown at first; older ones come as one scrolls."""
GUIDANCE = (
    "Say what you want done in this folder. / lists the commands, /tour shows the three layers.",
    "Old tool results become one line (1), a full context becomes a summary (2), /compact makes one (3).",
    "Nothing is lost: every message stays in the record, and each compaction can be opened and undone.",
)


class PairScreen(Screen[None]):
    """Chat, log, gauge and prompt. It alone holds the session; the widgets get values and send messages."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings(Place.PAIR))
    AUTO_FOCUS = "PromptArea"
    HORIZONTAL_BREAKPOINTS: ClassVar[list[tuple[int, str]]] = [
        (0, "-narrow"),
        (110, "-wide"),
    ]
    VERTICAL_BREAKPOINTS: ClassVar[list[tuple[int, str]]] = [
        (0, "-low"),
        (15, "-usual"),
        (34, "-tall"),
    ]

    app: PalApp

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.session: Session | None = None
        self.settings = settings
        self.commands = PairCommands(self)
        self._view = EventView(self)
        self._early: list[str] = []
        self._opening = False
        self._working = False
        self._quit_until = 0.0

    def compose(self) -> ComposeResult:
        yield HeaderBar()
        with Container(id="body"):
            yield ChatPane()
            yield TodoLine(markup=False)
            yield ApprovalPanel(self.app.time)
            with Container(id="side"):
                yield TodoPanel(markup=False)
                yield EventLog()
                yield ContextChart()
        yield BudgetGauge()
        yield QueueBar(markup=False)
        yield StatusRule(self.app.time)
        yield PromptBox(self.app.history, self.commands.values)
        yield KeyFooter()

    # What the parts are called

    @property
    def chat(self) -> ChatPane:
        return self.query_one(ChatPane)

    @property
    def status(self) -> StatusRule:
        return self.query_one(StatusRule)

    @property
    def prompt(self) -> PromptBox:
        return self.query_one(PromptBox)

    @property
    def log_pane(self) -> EventLog:
        return self.query_one(EventLog)

    @property
    def panel(self) -> ApprovalPanel:
        return self.query_one(ApprovalPanel)

    @property
    def is_busy(self) -> bool:
        """Whether a turn or a compaction runs."""
        return self._working

    # The session

    def on_mount(self) -> None:
        self.app.approver.listen(self._questions_changed)
        self.show_heading()
        self.show_hints()
        self.log_pane.set_threshold(self.settings.policy.auto.threshold)
        self.query_one(ContextChart).threshold = self.settings.policy.auto.threshold
        if self.app.wiring.first_run:
            for line in GUIDANCE:
                self.chat.add_notice(line)
        for problem in (*self.settings.problems, *map(str, self.settings.conflicts)):
            self.chat.add_notice(problem, warning=True)
        self.watch(self.chat, "new_rows", self.status.show_new_rows, init=False)
        self.open_session()

    def open_session(self) -> None:
        """Open the session to begin with, after this frame is on the screen."""
        if not self._opening:
            self._opening = True
            self.status.wait("opening the session", hint="you can type already")
            self.call_after_refresh(
                lambda: self.run_worker(self._open(None, first=True), group="open")
            )

    def change_session(self, name: str | None) -> None:
        """Go on with another session, or with a new one for None."""
        if not self._opening:
            self._opening = True
            self.status.wait("opening the session", hint="you can type already")
            self.run_worker(self._open(name, first=False), group="open")

    async def _open(self, name: str | None, *, first: bool) -> None:
        wiring = self.app.wiring
        try:
            if first:
                session = await wiring.open_session(self.app.approver)
            elif wiring.reopen is not None:
                if self.session is not None:
                    await self.session.close()
                    self.session = None
                session = await wiring.reopen(self.app.approver, name)
                self.chat.clear()
            else:
                return
            await self._adopt(session)
        except PalError as error:
            self.chat.add_error(str(error), error.hint)
            return
        finally:
            self._opening = False
            if self.is_attached and not self._working:
                self.status.rest()
        early, self._early = self._early, []
        if early:
            self.run_turn("\n\n".join(early))

    async def _adopt(self, session: Session) -> None:
        self.session = session
        self.show_heading()
        self.log_pane.show_reports(session.reports)
        chart = self.query_one(ContextChart)
        chart.forget()
        self.refresh_session()
        entries = await session.page(None, HISTORY)
        if entries:
            self.chat.prepend_history(entries, more=entries[0].number > 1)
            newest = next((r for r in reversed(session.reports) if r.commit), None)
            if newest is not None and session.conversation.base:
                self.chat.add_divider(newest)
            self.chat.add_notice(f"Session {session.name} goes on where it ended.")

    async def _show_older(self, before: int) -> None:
        if self.session is not None:
            entries = await self.session.page(before, HISTORY)
            self.chat.prepend_history(entries, more=bool(entries) and entries[0].number > 1)

    def refresh_session(self) -> None:
        """Show everything that the session holds as values."""
        session = self.session
        if session is None:
            return
        budget = session.budget
        self.query_one(BudgetGauge).budget = budget
        self.log_pane.set_threshold(budget.threshold if budget.auto else 0)
        chart = self.query_one(ContextChart)
        chart.threshold = budget.threshold if budget.auto else 0
        chart.contexts = session.contexts
        self.show_todo(session.todo)
        self.query_one(QueueBar).show_texts(session.queue)

    @property
    def session_contexts(self) -> tuple[int, ...]:
        """Tokens of each request of the session."""
        return self.session.contexts if self.session else ()

    def show_todo(self, items: Sequence[TodoItem]) -> None:
        """Show the task list."""
        self.query_one(TodoPanel).show_items(items)
        self.query_one(TodoLine).show_items(items)

    def show_heading(self) -> None:
        """Renew the header."""
        wiring = self.app.wiring
        self.query_one(HeaderBar).heading = heading_of(self.settings, self.session, wiring.sandbox)

    def show_hints(self) -> None:
        """Name the keys that matter now."""
        self.query_one(KeyFooter).hints = hints(
            busy=self._working,
            question=self.panel.request if self.panel.has_focus_within else None,
            log_focused=isinstance(self.focused, ReportList),
            held=self.log_pane.held,
        )

    def apply_settings(self, settings: Settings) -> None:
        """Put changed settings in force, as far as they can change now."""
        before, self.settings = self.settings, settings
        session = self.session
        if session is not None:
            session.set_policy(settings.policy_for(session.budget.window))
            if settings.mode is not before.mode:
                session.set_mode(settings.mode)
            if settings.model != before.model:
                self.commands.run_model(settings.model)
        if settings.theme != before.theme:
            self.commands.run_theme(settings.theme)
        self.show_heading()
        self.refresh_session()

    # Turns

    def run_turn(self, text: str) -> None:
        """Send a message: now, after the session is open, or at the next step of the running turn."""
        if self.session is None:
            self._early.append(text)
            self.query_one(QueueBar).show_texts(self._early)
            self.open_session()
        elif self._working:
            self.run_worker(self._enqueue(text), group="queue")
        else:
            self.drive(self.session.submit(text), "starting")

    def drive(self, events: AsyncIterator[Event], what: str) -> None:
        """Show the events of one piece of work; Esc cancels it."""
        self._working = True
        self.status.wait(what)
        self.show_hints()
        self.run_worker(self._drive(events), group="turn", exclusive=True)

    async def _drive(self, events: AsyncIterator[Event]) -> None:
        said, style = "", ""
        try:
            while True:
                self._view.begin()
                try:
                    async with aclosing(cast(AsyncGenerator[Event, None], events)):
                        async for event in events:
                            self._view.show(event)
                except PalError as error:
                    self._view.close_answer()
                    self.chat.add_error(str(error), error.hint)
                    said, style = "✗ failed", "$text-error"
                    break
                said, style = self._view.verdict
                following = await self._queued()
                if self.session is None or not following:
                    break
                events = self.session.submit(following)
        finally:
            self._working = False
            if self.is_attached:
                self.status.rest(said, style)
                self.refresh_session()
                self.show_hints()

    async def _queued(self) -> str:
        """Return what was typed ahead and is still waiting after a normal end, as one message."""
        session = self.session
        if session is None or self._view.end not in (TurnEnd.DONE, None):
            return ""
        texts: list[str] = []
        while (text := await session.take_back()) is not None:
            texts.insert(0, text)
        return "\n\n".join(texts)

    async def _enqueue(self, text: str) -> None:
        if self.session is not None:
            try:
                await self.session.enqueue(text)
            except PalError as error:
                self.prompt.give_back(text)
                self.chat.add_error(str(error), error.hint)
            self.query_one(QueueBar).show_texts(self.session.queue)

    async def _take_back(self) -> None:
        if self.session is None:
            return
        text = await self.session.take_back()
        self.query_one(QueueBar).show_texts(self.session.queue)
        if text is not None:
            self.prompt.give_back(text)

    # Keys

    def action_step_back(self) -> None:
        """Esc: popup, selection, question, queue, log, turn, in this order."""
        if self.prompt.close_popup():
            return
        if self.get_selected_text():
            self.clear_selection()
        elif self.panel.refuse():
            return
        elif self.session is not None and self.session.queue and not self.has_class("-log-open"):
            self.run_worker(self._take_back(), group="queue")
        elif self.has_class("-log-open"):
            self.action_log()
        elif self._working:
            self.cancel()
        else:
            self.prompt.area.focus()

    def interrupt(self) -> None:
        """Ctrl+C without a selection: popup, question, turn, draft; pressed twice it quits."""
        if self.prompt.close_popup() or self.panel.refuse():
            return
        if self._working:
            self.cancel()
        elif self.prompt.area.text:
            self.app.history.add(self.prompt.area.whole_text)
            self.prompt.area.empty()
            self.status.rest("Cleared; ↑ brings it back. Ctrl+C again quits")
            self._quit_until = 0.0
        elif self.app.time() < self._quit_until:
            self.app.leave()
        else:
            self._quit_until = self.app.time() + QUIT_SECONDS
            self.status.rest("Press Ctrl+C again to quit", "bold $text-warning")

    def cancel(self) -> None:
        """Stop what runs; the session stays usable."""
        if self.session is not None:
            self.session.cancel()
            self.status.wait("cancelling", hint="")

    def action_help(self) -> None:
        self.commands.run_help("")

    def action_context(self) -> None:
        self.commands.run_context("")

    def action_log(self) -> None:
        opened = not self.has_class("-log-open")
        self.set_class(opened, "-log-open")
        if opened:
            self.log_pane.focus_rows()
        else:
            self.prompt.area.focus()

    def action_chat_end(self) -> None:
        self.chat.follow()

    def action_next_mode(self) -> None:
        modes = list(Mode) if self.app.wiring.sandbox else [m for m in Mode if m is not Mode.AUTO]
        if self.session is not None:
            now = self.session.mode
            self.session.set_mode(
                modes[(modes.index(now) + 1) % len(modes)] if now in modes else modes[0]
            )
            self.show_heading()

    def submit(self, text: str) -> None:
        """Do what was typed: a word that quits, a command, or a message."""
        if text.strip().lower() in QUIT_WORDS:
            self.app.leave()
            return
        typed = parse(text)
        if typed is None:
            self.run_turn(text)
        elif typed.command is None:
            guess = nearest(typed.name)
            hint = f"Did you mean /{guess}?" if guess else "/help lists the commands."
            self.chat.add_error(f"There is no command /{typed.name}.", hint)
        elif self._working and not typed.command.while_busy:
            self.chat.add_notice(
                f"/{typed.name} waits until the turn is over; Esc cancels it.", warning=True
            )
        else:
            self.commands.run(typed.command, typed.argument)

    def _questions_changed(self) -> None:
        if not self.is_attached:
            return
        waiting = self.app.approver.waiting
        had = self.panel.request is not None
        self.panel.show_requests(waiting)
        if waiting:
            self.status.wait("waiting for your answer", hint="y / n / Esc")
        elif had:
            self.prompt.area.focus()
            self.status.wait("working")
        self.show_hints()

    # Messages of the widgets

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        self.show_hints()

    def on_descendant_blur(self, event: DescendantBlur) -> None:
        self.show_hints()

    def on_prompt_box_submitted(self, event: PromptBox.Submitted) -> None:
        self.submit(event.text)

    def on_prompt_box_mode_asked(self) -> None:
        self.action_next_mode()

    def on_prompt_box_quit_asked(self) -> None:
        self.app.leave()

    def on_prompt_box_page_asked(self, event: PromptBox.PageAsked) -> None:
        self.chat.scroll_relative(y=event.pages * (self.chat.size.height - 2), animate=False)

    def on_prompt_box_editor_asked(self) -> None:
        self.commands.write_in_editor()

    def on_key_footer_clicked(self, event: KeyFooter.Clicked) -> None:
        self.run_worker(self.run_action(event.action))

    def on_approval_panel_answer(self, event: ApprovalPanel.Answer) -> None:
        self.app.approver.answer(event.call_id, event.answer)

    def on_approval_panel_typed(self, event: ApprovalPanel.Typed) -> None:
        self.prompt.insert_typed(event.text)

    def on_budget_gauge_opened(self) -> None:
        self.action_context()

    def on_chat_pane_older_wanted(self, event: ChatPane.OlderWanted) -> None:
        self.run_worker(self._show_older(event.before), group="older", exclusive=True)

    def on_chat_pane_divider_opened(self, event: ChatPane.DividerOpened) -> None:
        self.commands.open_report(event.report)

    def on_chat_pane_tool_opened(self, event: ChatPane.ToolOpened) -> None:
        self.commands.open_result(event.result)

    def on_chat_pane_copied(self, event: ChatPane.Copied) -> None:
        self.commands.tell_copied(event.text)

    def on_event_log_toggled(self) -> None:
        self.action_log()

    def on_event_log_opened(self, event: EventLog.Opened) -> None:
        self.commands.open_report(event.report)

    def on_event_log_clear_asked(self) -> None:
        self.commands.clear_now()

    def on_event_log_undo_asked(self) -> None:
        self.commands.run_undo("")
