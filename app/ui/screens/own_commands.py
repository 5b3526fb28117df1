"""Running the user's own commands on the pair screen: ``!`` in front of the prompt's text."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from app.core.visible_text import one_line

if TYPE_CHECKING:
    from app.agent.session import Session
    from app.ui.screens.pair import PairScreen

SHARED, PRIVATE = "!", "!!"


class OwnCommandRunning:
    """Shows one command after another as cards of the chat, beside whatever turn runs."""

    def __init__(self, screen: PairScreen) -> None:
        self._screen = screen
        self._running = 0

    def run(self, text: str) -> None:
        """Run what was typed: ``!command`` is told to the model with the next message, ``!!command`` is not."""
        private = text.startswith(PRIVATE)
        command = text.removeprefix(PRIVATE if private else SHARED).strip()
        session = self._screen.session
        if session is not None and command:
            self._running += 1
            self._screen.run_worker(self._run(session, command, share=not private), group="own")

    def cancel(self) -> bool:
        """Stop the running command; return whether one ran."""
        session = self._screen.session
        if not self._running or session is None:
            return False
        session.cancel_command()
        return True

    async def _run(self, session: Session, command: str, *, share: bool) -> None:
        from app.core.events import ErrorRaised, ToolFinished, ToolOutput, ToolStarted

        chat = self._screen.chat
        self._screen.status.note(f"! {one_line(command, 60)} runs · Esc ends it")
        try:
            async with aclosing(session.run_command(command, share=share)) as events:
                async for event in events:
                    match event:
                        case ToolStarted(call_id, tool, target):
                            chat.tool_started(call_id, tool, target)
                        case ToolOutput(call_id, text):
                            chat.tool_output(call_id, text)
                        case ToolFinished():
                            chat.tool_finished(
                                event.call_id,
                                ok=event.ok,
                                text=event.text,
                                outcome=event.outcome,
                                seconds=event.seconds,
                                tool=event.tool,
                                target=event.target,
                                wanted=True,
                            )
                        case ErrorRaised(message, hint):
                            chat.add_error(message, hint)
                        case _:
                            pass
        finally:
            self._running -= 1
            if self._screen.is_attached and not self._running:
                self._screen.status.note("")
