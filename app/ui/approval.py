"""The approver of the screen: questions wait in a line, and the panel shows one after another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

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
