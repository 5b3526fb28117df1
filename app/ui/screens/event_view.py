"""From the agent's events to the widgets that show them: the one match of the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

from app.core.events import (
    AnswerFinished,
    ApprovalAsked,
    ApprovalGiven,
    BudgetChanged,
    CallArriving,
    Compacted,
    CompactionStarted,
    ErrorRaised,
    Event,
    Missed,
    Notice,
    QueueChanged,
    QueuedDelivered,
    RequestSent,
    RetryWaiting,
    SummaryPreviewed,
    TextArrived,
    ThinkingArrived,
    TodoChanged,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnEnd,
    TurnEnded,
    TurnStarted,
    WentBack,
)
from app.core.permission import Answered, ApprovalAnswer, ApprovalRequest
from app.core.reports import REDONE, CompactionReport, Layer, Outcome
from app.core.tokens import CODE_CHARS, PROSE_CHARS, estimate_text
from app.core.visible_text import one_line
from app.ui.approval import answer_words
from app.ui.collecting import shed_styles
from app.ui.format import cost, plural, seconds
from app.ui.layer_names import NAMES, SUMMARISING
from app.ui.report_text import announcement
from app.ui.widgets.budget_gauge import BudgetGauge
from app.ui.widgets.queue_bar import QueueBar

if TYPE_CHECKING:
    from app.ui.screens.pair import PairScreen

CALL_CHARS = (PROSE_CHARS + CODE_CHARS) / 2
"""Characters a token in the arguments of a call, which are half words and half signs."""
ENDS = {
    TurnEnd.DONE: ("✓ done", "$text-success"),
    TurnEnd.CANCELLED: ("■ cancelled", "$text-warning"),
    TurnEnd.FAILED: ("✗ failed; /retry tries again", "$text-error"),
    TurnEnd.REFUSED: ("✗ the model refused", "$text-error"),
    TurnEnd.CUT: ("… cut at the output limit; say “go on”", "$text-warning"),
    TurnEnd.WAITING: ("■ compacted; waits for you", "$text-warning"),
}
FILES_NAMED = 10
ANSWERING = (
    TextArrived,
    ThinkingArrived,
    CallArriving,
    AnswerFinished,
    ToolStarted,
    ToolFinished,
    QueuedDelivered,
    ErrorRaised,
)
"""Events after which a message does not stand there as if it had not been sent."""


class EventView:
    """Shows events on a pair screen, one after another."""

    def __init__(self, screen: PairScreen) -> None:
        self._screen = screen
        self._answering = False
        self._writing: dict[str, int] = {}
        """Characters that have come of each call that is being written."""
        self.said = False
        """Whether the message that begins the turn is in the record."""
        self.answered = False
        """Whether anything came of an answer, or anything else happened to the conversation."""
        self.end: TurnEnd | None = None
        """How the last turn ended; None when the work shown last was no turn."""
        self.verdict: tuple[str, str] = ("", "")
        """What the rule says about the last turn, and its style."""

    def begin(self) -> None:
        """Forget how the work before ended."""
        self.said, self.answered, self.end, self.verdict = False, False, None, ("", "")

    @property
    def came_to_nothing(self) -> bool:
        """Whether the message that begins the turn was not kept, or cancelled before anything answered it."""
        return not self.said or (self.end is TurnEnd.CANCELLED and not self.answered)

    def show(self, event: Event) -> None:  # noqa: PLR0915 - one case an event
        """Give one event to the widget that shows it."""
        screen = self._screen
        chat, status = screen.chat, screen.status
        self.answered = self.answered or isinstance(event, ANSWERING)
        match event:
            case TurnStarted(text, message):
                self.said = True
                chat.add_user(text, message)
                status.wait("asking the model")
            case RequestSent(_, tokens):
                self._writing.clear()
                self._open_answer()
                status.wait(f"waiting for the model, {tokens:,} tokens sent")
            case TextArrived(text):
                self._open_answer()
                chat.append_text(text)
                self._arrived(text)
                status.wait("writing")
            case ThinkingArrived(text):
                self._open_answer()
                chat.append_thinking(text, shown=self._screen.settings.show_thinking)
                self._arrived(text)
                status.wait("thinking")
            case CallArriving(call_id, tool, chars):
                chat.tool_arriving(call_id, tool, chars)
                self._arrived_of_call(call_id, chars)
                status.wait(f"writing a call of {one_line(tool, 40)}, {chars:,} characters")
            case AnswerFinished(message):
                self.close_answer(message)
                screen.show_chart()
            case ToolStarted(call_id, tool, target):
                self.close_answer()
                chat.tool_started(call_id, tool, target)
                status.wait(f"running {one_line(f'{tool} {target}', 60)}")
            case ToolOutput(call_id, text):
                chat.tool_output(call_id, text)
            case ToolFinished():
                self._show_finished(event)
                status.wait("working")
            case ApprovalAsked():
                pass  # the approver's own line of questions drives the panel
            case ApprovalGiven(request, answer):
                self._show_answer(request, answer)
            case BudgetChanged(budget):
                screen.show_budget(budget)
            case CompactionStarted(layer, reason):
                self.close_answer()
                status.wait(f"Compressing... ({NAMES[layer].numbered}: {one_line(reason, 80)})")
            case Compacted(report):
                self._show_report(report)
            case SummaryPreviewed():
                screen.commands.open_preview(event)
            case Missed(result, how):
                chat.add_notice(
                    f"The model needed {result} again ({how}); it is pinned from now on."
                )
            case RetryWaiting(attempt, attempts, pause, reason):
                chat.void_answer()
                self._answering = False
                status.wait(
                    f"Attempt {attempt} of {attempts} failed, next",
                    seconds_left=pause,
                    why=reason,
                )
            case TodoChanged():
                screen.show_todo(event.items)
            case QueueChanged(texts):
                screen.query_one(QueueBar).show_texts(texts)
            case QueuedDelivered(text, message):
                self.close_answer()
                chat.add_user(text, message, queued=True)
            case Notice(text, warning):
                chat.add_notice(text, warning=warning)
            case WentBack():
                self._show_rewind(event)
            case ErrorRaised(message, hint, unwritten):
                self.close_answer()
                choice = " /retry tries again; /unsaved goes on with a temporary record."
                chat.add_error(message, hint + choice if unwritten else hint)
            case TurnEnded():
                self.close_answer()
                shed_styles()
                self._show_end(event)
            case _:
                assert_never(event)

    def close_answer(self, message: str = "") -> None:
        """Finish the answer that is open, if one is; ``message`` is its id when it is in the record."""
        if self._answering:
            self._answering = False
            self._screen.chat.finish_answer(message)

    def _open_answer(self) -> None:
        if not self._answering:
            self._answering = True
            self._screen.chat.begin_answer()

    def _arrived(self, text: str) -> None:
        """Let the gauge follow the stream, with an estimate until the answer's own figure comes."""
        self._grow(estimate_text(text))

    def _arrived_of_call(self, call_id: str, chars: int) -> None:
        """The same for a call's arguments, of which only the number of characters is told."""
        more = chars - self._writing.get(call_id, 0)
        self._writing[call_id] = chars
        if more > 0:
            self._grow(more / CALL_CHARS)

    def _grow(self, raw: float) -> None:
        self._screen.status.arrived(raw)
        self._screen.query_one(BudgetGauge).grow(raw)

    def _show_finished(self, event: ToolFinished) -> None:
        self._screen.chat.tool_finished(
            event.call_id,
            ok=event.ok,
            text=event.text,
            outcome=event.outcome,
            seconds=event.seconds,
            diff=event.diff,
            result_id=event.result,
            tool=event.tool,
            target=event.target,
        )

    def _show_answer(self, request: ApprovalRequest, answer: ApprovalAnswer) -> None:
        said = answer_words(
            answer.answered,
            request.title,
            rule=str(answer.rule or request.proposal),
            edited=answer.edited is not None,
        )
        self._screen.chat.add_approval(
            said,
            allowed=answer.answered is not Answered.NO,
            detail=answer.words or answer.edited or "",
        )

    def _show_report(self, report: CompactionReport) -> None:
        screen = self._screen
        screen.log_pane.add_report(report)
        screen.show_chart()
        if report.outcome is Outcome.APPLIED:
            if report.layer is Layer.MICRO:
                screen.chat.mark_cleared(report.results)
            elif report.layer in SUMMARISING:
                screen.chat.add_divider(report)
        elif report.outcome is Outcome.UNDONE:
            screen.chat.mark_cleared(report.results, cleared=False)
            screen.chat.mark_taken_back(report.commit)
        well = report.outcome is Outcome.UNDONE or report.method == REDONE
        if text := announcement(report):
            screen.chat.add_notice(text, warning=not well)
        screen.show_hints()

    def _show_rewind(self, event: WentBack) -> None:
        screen = self._screen
        found = (
            ("Restored", event.restored),
            ("Removed", event.removed),
            ("Kept, as something else changed it since", event.kept),
        )
        parts = [f"{what}: {_named(paths)}." for what, paths in found if paths]
        if event.conversation:
            parts.append("The conversation went back.")
        parts.append("/rewind can take that back.")
        said = " ".join(parts)
        if event.conversation:
            screen.opening.show_again(said)
            if event.words and not screen.prompt.area.text:
                screen.prompt.give_back(event.words)
        else:
            screen.chat.add_notice(said)
        for problem in event.failed:
            screen.chat.add_error(one_line(problem), "It is as it was.")

    def _show_end(self, event: TurnEnded) -> None:
        self.end = event.end
        word, style = ENDS[event.end]
        parts = [word, seconds(self._screen.status.elapsed)]
        if event.usage.output:
            parts.append(f"{event.usage.prompt:,} in, {event.usage.output:,} out")
        if event.cost:
            parts.append(cost(event.cost))
        if event.compactions:
            parts.append(plural(event.compactions, "compaction"))
        self.verdict = (" · ".join(parts), style)


def _named(paths: Sequence[str]) -> str:
    names = ", ".join(one_line(path, 80) for path in paths[:FILES_NAMED])
    more = len(paths) - FILES_NAMED
    return f"{names} and {more} more" if more > 0 else names
