"""The approver of the screen: questions wait in a line, and the panel shows one after another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from app.core.visible_text import one_line

if TYPE_CHECKING:
    from app.core.permission import ApprovalAnswer, ApprovalRequest


class ScreenApprover:
    """Implements `core.ports.Approver`: each question is answered by exactly one answer of the user."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[ApprovalRequest, asyncio.Future[ApprovalAnswer]]] = {}
        self._listener: Callable[[], None] | None = None

    def listen(self, listener: Callable[[], None] | None) -> None:
        """Call ``listener`` whenever the line changes."""
        self._listener = listener

    @property
    def waiting(self) -> tuple[ApprovalRequest, ...]:
        """Open questions, oldest first."""
        return tuple(request for request, _ in self._waiting.values())

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Return the user's answer; cancelling the task withdraws the question."""
        future: asyncio.Future[ApprovalAnswer] = asyncio.get_running_loop().create_future()
        self._waiting[request.call_id] = (request, future)
        self._changed()
        try:
            return await future
        finally:
            self._waiting.pop(request.call_id, None)
            self._changed()

    def answer(self, call_id: str, answer: ApprovalAnswer) -> None:
        """Answer one question; a second answer to it, or one to a withdrawn question, does nothing."""
        found = self._waiting.get(call_id)
        if found is not None and not found[1].done():
            found[1].set_result(answer)

    def _changed(self) -> None:
        if self._listener is not None:
            self._listener()


def answer_words(answered: str, title: str, *, rule: str, edited: bool) -> str:
    """Return what the chat says about an answered question.

    Args:
        answered: Value of `core.permission.Answered`.
        title: What was asked.
        rule: The rule that “always” added.
        edited: Whether the user changed the command first.
    """
    shown = one_line(title, 200)
    match answered:
        case "no":
            return f"refused: {shown}"
        case "always":
            return f"allowed from now on: {one_line(rule, 200)}"
        case _:
            return f"allowed once: {shown}{', after you edited it' if edited else ''}"
