"""The screen a user lives in: chat, log, gauge and prompt around one session."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.events import DescendantBlur, DescendantFocus, Resize, ScreenResume
from textual.geometry import Size
from textual.screen import Screen

from app.core.permission import Mode, usable_modes
from app.ui.attention import Doing
from app.ui.commands import QUIT_WORDS, parse, unknown
from app.ui.footer_hints import CANCEL, ChatKeys, hints
from app.ui.heading import heading_of
from app.ui.keymap import Place, bindings, check, in_force
from app.ui.screens.chat_search import ChatSearch
from app.ui.screens.own_commands import SHARED, OwnCommandRunning
from app.ui.screens.pair_commands import PairCommands
from app.ui.screens.session_opening import SessionOpening
from app.ui.screens.sheet import WIDTHS
from app.ui.screens.stepping_back import SteppingBack
from app.ui.screens.turn_running import TurnRunning
from app.ui.terminal.notices import Notify
from app.ui.widgets.approval_panel import ApprovalPanel
from app.ui.widgets.budget_gauge import BudgetGauge
from app.ui.widgets.chat_pane import ChatPane
from app.ui.widgets.context_chart import ContextChart
from app.ui.widgets.event_log import EventLog, ReportList
from app.ui.widgets.header_bar import HeaderBar
from app.ui.widgets.key_footer import KeyFooter
from app.ui.widgets.prompt_area import PromptArea
from app.ui.widgets.prompt_box import PromptBox
from app.ui.widgets.queue_bar import QueueBar
from app.ui.widgets.status_rule import StatusRule
from app.ui.widgets.todo_panel import TodoLine, TodoPanel
from app.ui.widgets.words_to_prompt import WordsToPrompt

if TYPE_CHECKING:
    from app.agent.session import Session
    from app.core.budget import Budget
    from app.core.events import TodoItem
    from app.settings import Settings
    from app.ui.app import PalApp
    from app.ui.widgets.search_bar import SearchBar

HEIGHTS: list[tuple[int, str]] = [(0, "-low"), (15, "-small"), (20, "-usual"), (34, "-tall")]
"""Class of the screen from so many rows on."""
GUIDANCE = (
    "Say what you want done in this folder. / lists the commands, /tour shows the three layers.",
    "Old tool results become one line (1), a full context becomes a summary (2), /compact makes one (3).",
    "Nothing is lost: every message stays in the record, and each compaction can be opened and undone.",
)


class PairScreen(Screen[None]):
    """Chat, log, gauge and prompt. It alone holds the session; the widgets get values and send messages."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings(Place.PAIR))
    AUTO_FOCUS = "PromptArea"
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS

    app: PalApp

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.session: Session | None = None
        self.settings = settings
        self.commands = PairCommands(self)
        self.turns = TurnRunning(self)
        self.opening = SessionOpening(self)
        self.own_commands = OwnCommandRunning(self)
        self.finder = ChatSearch(self)
        self.back = SteppingBack(self)
        self._take_breakpoints(self.app.size, update=False)

    def on_resize(self, event: Resize) -> None:
        """Style for the new size before the framework lays out for it; else all is laid out and drawn twice."""
        self._take_breakpoints(event.size, update=True)

    def _take_breakpoints(self, size: Size, *, update: bool) -> None:
        classes: dict[str, bool] = {}
        for length, steps in ((size.width, WIDTHS), (size.height, HEIGHTS)):
            wanted = next(name for least, name in reversed(steps) if length >= least)
            classes |= {name: name == wanted for _, name in steps}
        self.update_classes(classes, update=update, animate=False)

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Leave the styles alone the first time: everything has just got them."""
        event.refresh_styles = event.refresh_styles and self.session is not None

    def compose(self) -> ComposeResult:
        yield HeaderBar()
        with Container(id="body"):
            yield ChatPane()
            yield TodoLine(markup=False)
            yield ApprovalPanel(self.app.time, self.settings.folder)
            with Container(id="side"):
                yield TodoPanel(markup=False)
                yield EventLog()
                yield ContextChart()
        yield BudgetGauge()
        yield QueueBar(markup=False)
        yield StatusRule(self.app.time)
        yield PromptBox(
            self.app.history, self.commands.values, self.settings.folder, self.app.drafts
        )
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
        return self.turns.is_busy

    # The session

    def on_mount(self) -> None:
        self.app.approver.listen(self._questions_changed)
        self.show_heading()
        self.show_hints()
        self.show_title()
        self._show_threshold(self.settings.policy.auto.threshold)
        if self.app.wiring.first_run:
            for line in GUIDANCE:
                self.chat.add_notice(line)
        settings = self.settings
        for problem in (*settings.problems, *map(str, settings.conflicts), *check(settings.keymap)):
            self.chat.add_notice(problem, warning=True)
        self.watch(self.chat, "new_rows", self.status.show_new_rows, init=False)
        self.opening.begin()

    def refresh_session(self) -> None:
        """Show everything that the session holds as values."""
        session = self.session
        if session is None:
            return
        self.show_budget(session.budget)
        self.show_chart()
        self.show_todo(session.todo)
        self.query_one(QueueBar).show_texts(session.queue)

    def show_budget(self, budget: Budget) -> None:
        """Move the gauge, and the threshold where it is drawn."""
        self.query_one(BudgetGauge).show(budget)
        self._show_threshold(budget.threshold if budget.auto else 0)

    def _show_threshold(self, threshold: int) -> None:
        self.log_pane.set_threshold(threshold)
        self.query_one(ContextChart).threshold = threshold

    def show_chart(self) -> None:
        """Draw the requests so far, what the layers did between them, and the runs."""
        session = self.session
        if session is not None:
            chart = self.query_one(ContextChart)
            chart.show(session.contexts, session.reports, session.runs)
            self.log_pane.show_runs(session.runs)

    def show_todo(self, items: Sequence[TodoItem]) -> None:
        """Show the task list."""
        self.query_one(TodoPanel).show_items(items)
        self.query_one(TodoLine).show_items(items)

    def show_heading(self) -> None:
        """Renew the header."""
        wiring = self.app.wiring
        self.query_one(HeaderBar).heading = heading_of(
            self.settings, self.session, wiring.sandbox()
        )

    def show_hints(self) -> None:
        """Name the keys that matter now."""
        escape = self._escape_while_busy()
        self.status.show_escape(cancels=escape == CANCEL)
        self.query_one(KeyFooter).hints = hints(
            busy=self.is_busy,
            question=self.panel.request if self.panel.has_focus_within else None,
            log_focused=isinstance(self.focused, ReportList),
            chat=self._chat_keys,
            offers=self.prompt.offers,
            held=self.log_pane.held,
            moved=in_force(self.settings.keymap),
            known=self.app.used_keys.known,
            escape=escape,
        )

    def _escape_while_busy(self) -> str:
        """Return what Esc does while something runs, see `SteppingBack.escape`."""
        if self.has_class("-log-open"):
            return "close the log"
        return "take back" if self.query_one(QueueBar).has_any else CANCEL

    @property
    def _chat_keys(self) -> ChatKeys:
        if self.finder.has_keys:
            return ChatKeys.SEARCHING
        if not self.chat.has_focus:
            return ChatKeys.ELSEWHERE
        return ChatKeys.MARKING if self.chat.is_marking else ChatKeys.READING

    def show_title(self) -> None:
        """Let the terminal's title say whether work goes on, ended or asks."""
        doing = Doing.WORKING if self.is_busy else Doing.IDLE
        doing = doing if self.panel.request is None else Doing.ASKING
        what = self.settings.folder.name or str(self.settings.folder)
        self.app.attention.show(doing, what, wanted=self.settings.title)

    def call_user(self, why: str, *, seconds: float) -> None:
        """Renew the title, and call the user who looks elsewhere."""
        self.show_title()
        self.app.attention.call(why, Notify(self.settings.notify), seconds=seconds)

    # Keys

    def action_step_back(self) -> None:
        self.back.escape()

    def _used(self, action: str) -> None:
        """Note that a key was used: its hint fades when it is known."""
        self.app.used_keys.note(action)
        self.show_hints()

    def action_help(self) -> None:
        self._used("help")
        self.commands.run_help("")

    def action_context(self) -> None:
        self._used("context")
        self.commands.run_context("")

    def action_queue(self) -> None:
        self.commands.run_queue("")

    def action_log(self) -> None:
        self._used("log")
        opened = not self.has_class("-log-open")
        self.set_class(opened, "-log-open")
        if opened:
            self.log_pane.focus_rows()
        else:
            self.prompt.area.focus()

    def action_find(self) -> None:
        self.finder.open()

    def action_chat_end(self) -> None:
        self.chat.follow()

    def _modes(self) -> tuple[Mode, ...]:
        return usable_modes(confined=bool(self.app.wiring.sandbox()))

    def action_next_mode(self) -> None:
        self._used("next_mode")
        modes = self._modes()
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
        if text.startswith(SHARED):
            self._run_own(text)
        elif typed is None:
            self.turns.say(text)
        elif typed.command is None:
            self.chat.add_error(*unknown(typed.name))
        elif refusal := typed.command.refusal(typed.argument):
            self.chat.add_notice(refusal, warning=True)
        elif self.is_busy and not typed.command.while_busy:
            self.chat.add_notice(
                f"/{typed.name} waits until the turn is over; Esc cancels it.", warning=True
            )
        elif self.session is None and not typed.command.early:
            self.opening.when_open(partial(self.commands.run_typed, typed.command, typed.argument))
        else:
            self.commands.run_typed(typed.command, typed.argument)

    def _run_own(self, text: str) -> None:
        if self.session is None:
            self.opening.when_open(partial(self.own_commands.run, text))
        else:
            self.own_commands.run(text)

    def _questions_changed(self) -> None:
        if not self.is_attached:
            return
        waiting = self.app.approver.waiting
        had = self.panel.request is not None
        self.panel.show_requests(waiting)
        if waiting:
            self.status.wait("waiting for your answer", hint="y / n / Esc")
            self.call_user("waits for your answer", seconds=self.status.elapsed)
        elif had:
            self.prompt.area.focus()
            self.status.wait("working")
        self.show_title()
        self.show_hints()

    # Messages of the widgets

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        self.show_hints()

    def on_descendant_blur(self, event: DescendantBlur) -> None:
        self.show_hints()

    def on_prompt_box_submitted(self, event: PromptBox.Submitted) -> None:
        self.submit(event.text)

    def on_prompt_box_offers_changed(self) -> None:
        self.show_hints()

    def on_prompt_box_draft_found(self) -> None:
        self.status.rest("What you had not sent is back in the prompt")

    def on_prompt_area_problem(self, event: PromptArea.Problem) -> None:
        self.chat.add_notice(event.text, warning=True)

    def on_queue_bar_changed(self) -> None:
        self.show_hints()

    def on_queue_bar_opened(self, event: QueueBar.Opened) -> None:
        self.turns.edit(event.at)

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
        if not self.finder.reading:
            self.opening.show_older(event.before)

    def on_chat_pane_divider_opened(self, event: ChatPane.DividerOpened) -> None:
        self.commands.open_report(event.report)

    def on_chat_pane_tool_opened(self, event: ChatPane.ToolOpened) -> None:
        self.commands.open_result(event.result)

    def on_chat_pane_copied(self, event: ChatPane.Copied) -> None:
        self.commands.copy(event.text)

    def on_chat_pane_marking(self) -> None:
        self.show_hints()

    def on_search_bar_changed(self, event: SearchBar.Changed) -> None:
        self.finder.search(event.text)

    def on_search_bar_step(self, event: SearchBar.Step) -> None:
        self.finder.step(backwards=event.backwards)

    def on_search_bar_closed(self, event: SearchBar.Closed) -> None:
        self.finder.close(stay=event.stay)

    def on_event_log_toggled(self) -> None:
        self.action_log()

    def on_event_log_opened(self, event: EventLog.Opened) -> None:
        self.commands.open_report(event.report)

    def on_event_log_clear_asked(self) -> None:
        self.commands.clear_now()

    def on_event_log_undo_asked(self, event: EventLog.UndoAsked) -> None:
        self.commands.ask_undo(event.report)

    def on_event_log_redo_asked(self) -> None:
        self.commands.ask_redo()

    def on_words_typed(self, event: WordsToPrompt.Typed) -> None:
        self.prompt.insert_typed(event.text)
        self.prompt.area.focus()
