"""Commands that run the layers, take their work back, or open what they did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.ui.screens.commands.command_ground import CommandGround

if TYPE_CHECKING:
    from app.core.events import SummaryPreviewed
    from app.core.reports import CompactionReport

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
            elif wish is Wish.AGAIN:
                self._when_idle(lambda session: session.again(), "Compressing...")

        newest = next((r for r in reversed(session.reports) if r.commit), None)
        can_undo = (
            newest == report and bool(report.commit) and session.conversation.base == report.commit
        )
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
