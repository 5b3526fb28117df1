"""Commands that run the layers, take their work back, or open what they did."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from app.core.reports import Layer, Outcome
from app.core.visible_text import one_line
from app.ui.report_text import taken_back_at
from app.ui.screens.commands.command_ground import CommandGround

if TYPE_CHECKING:
    from app.agent.session import Session
    from app.core.events import SummaryPreviewed
    from app.core.reports import CompactionReport

ASKED_SECONDS = 4.0
"""How long the status line shows what a y would do."""

# The screens below open seldom; each is imported when it opens, so that the prompt is there sooner.


class LayerCommands(CommandGround):
    """Compaction, undo, rewind, and the log's events."""

    def run_compact(self, argument: str) -> None:
        session = self._session()
        if session is None:
            return
        word, _, rest = argument.partition(" ")
        screen = self._screen
        if screen.is_busy:
            if word in ("preview", "redo", "again"):
                self._say(
                    f"/compact {word} waits until the turn is over; Esc cancels it.", warning=True
                )
            else:
                session.request_compaction(argument)
                self._say("Compacts after this step; Esc cancels the turn and drops it.")
        elif word == "preview":
            screen.turns.drive(
                session.preview(rest.strip()), "Compressing... (a preview; nothing is applied)"
            )
        elif word == "redo" and not rest.strip():
            screen.turns.drive(session.redo(), "redoing")
        elif word == "again":
            screen.turns.drive(session.again(rest.strip()), "Compressing...")
        else:
            screen.turns.drive(session.compact(argument), "Compressing...")

    def open_preview(self, preview: SummaryPreviewed) -> None:
        """Show a summary that can be changed and applied."""
        from app.ui.screens.preview import PreviewScreen

        def use(text: str | None) -> None:
            if text is not None:
                self._when_idle(
                    lambda session: session.apply_preview(preview, text), "applying the summary"
                )

        session = self._session()
        if session is None:
            return
        sheet = PreviewScreen(
            preview.text,
            preview.focus,
            factor=session.budget.factor,
            cap=session.policy.auto.summary_cap,
        )
        self._screen.app.push_screen(sheet, use)

    def run_retry(self, argument: str) -> None:
        self._when_idle(lambda session: session.go_on(), "starting")

    def run_undo(self, argument: str) -> None:
        self._when_idle(lambda session: session.undo(), "undoing")

    def run_rewind(self, argument: str) -> None:
        session = self._session()
        if session is None:
            return
        from app.ui.screens.rewind import Choice, RewindScreen

        def use(choice: Choice | None) -> None:
            if choice is not None:
                work = session.rewind(
                    choice.point,
                    conversation=choice.conversation,
                    files=choice.files,
                    folders=choice.folders,
                )
                self._screen.turns.drive(work, "going back")

        self._screen.app.push_screen(RewindScreen(session), use)

    def redo(self) -> None:
        """Put the compaction in force again that was taken back last."""
        self._when_idle(lambda session: session.redo(), "redoing")

    def ask_undo(self, report: CompactionReport | None) -> None:
        """Ask whether the compaction of a row shall be undone; say what can be undone where that one cannot."""
        session = self._session()
        if session is None:
            return
        if self._screen.is_busy or (report is not None and _is_in_force(report, session)):
            what = f"Undo {one_line(report.headline, 80)}" if report is not None else ""
            self._confirm("u", what, partial(self.run_undo, ""))
        else:
            self._say(_why_not_undone(report, session), warning=True)
            self._screen.log_pane.ask("u", None)

    def ask_redo(self) -> None:
        """Ask whether the newest undo shall be taken back."""
        self._confirm("r", "Take the newest undo back", self.redo)

    def _confirm(self, typed: str, what: str, then: Callable[[], None]) -> None:
        if self._screen.is_busy:
            then()  # it says that it has to wait
            return
        self._screen.log_pane.ask(typed, then)
        self._screen.status.rest_for(ASKED_SECONDS, f"{what}? y", "bold $text-warning")

    def clear_now(self) -> None:
        """Run layer 1 now."""
        self._when_idle(lambda session: session.clear_now(), "clearing")

    def open_report(self, report: CompactionReport) -> None:
        """Open one event of the log."""
        session = self._session()
        if session is None:
            return
        from app.ui.screens.details import DetailsScreen, Wish

        def act(wish: Wish | None) -> None:
            if wish is Wish.UNDO:
                self.run_undo("")
            elif wish is Wish.CLEAR:
                self.clear_now()
            elif wish is Wish.AGAIN:
                self._when_idle(lambda session: session.again(), "Compressing...")

        can_undo = _is_in_force(report, session)
        self._screen.app.push_screen(DetailsScreen(report, session, can_undo=can_undo), act)

    def open_result(self, result: str) -> None:
        """Open a tool result in full."""
        session = self._session()
        if session is None or not result:
            return
        from app.ui.screens.original import OriginalScreen

        self._screen.app.push_screen(OriginalScreen(result, session))

    def run_log(self, argument: str) -> None:
        self._screen.action_log()


def _is_in_force(report: CompactionReport, session: Session) -> bool:
    """Whether a report is of the compaction that made the view as it is now."""
    applied = report.outcome is Outcome.APPLIED and bool(report.commit)
    return applied and report.commit == session.conversation.base


def _why_not_undone(report: CompactionReport | None, session: Session) -> str:
    """Return why undoing does not work on a row, and on which it does."""
    newest = next((r for r in reversed(session.reports) if _is_in_force(r, session)), None)
    can = (
        f"What can be undone is the newest compaction in force: {one_line(newest.headline, 200)}"
        if newest is not None
        else "No compaction is in force that could be undone."
    )
    if report is None:
        return can
    if report.layer is Layer.MICRO:
        return (
            f"Clearing is not undone: Enter opens the row, and b brings a result of it back. {can}"
        )
    if taken_back_at(report, session.reports) is not None:
        return f"That compaction was taken back already; r takes the newest undo back. {can}"
    return f"Nothing to undo in this row. {can}"
