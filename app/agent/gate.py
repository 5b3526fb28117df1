"""The gate before each call: what the rules allow runs, what they deny is refused, the rest is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from app.agent.channel import Tell
from app.core import remarks
from app.core.events import ApprovalAsked, ApprovalGiven
from app.core.messages import JsonObject, ToolUse
from app.core.permission import (
    Answered,
    ApprovalAnswer,
    ApprovalRequest,
    Judgement,
    Rule,
    Verdict,
)
from app.core.ports import Approver, Record, Tool

Judge = Callable[[str, JsonObject], Judgement]
"""Judges a call by tool name and arguments, under the mode and rules in force."""

Admitted = Callable[[str, JsonObject], None]
"""Called with each call that may run, before it runs: a path outside the project is readable only then."""


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether a call may run, and how."""

    arguments: JsonObject
    """What runs: the model's arguments, or the command as the user changed it."""
    refusal: str = ""
    """Why it may not run, for the model; "" when it may."""
    note: str = ""
    """What the result must say about a change by the user."""


class Gate:
    """Asks the user when the rules say so, one question at a time."""

    def __init__(
        self,
        judge: Judge,
        approver: Approver,
        record: Record,
        *,
        allow: Callable[[Rule], object],
        admitted: Admitted,
    ) -> None:
        self._judge = judge
        self._approver = approver
        self._record = record
        self._allow = allow
        self._admitted = admitted
        self._one_at_a_time = asyncio.Lock()
        self.last_asked: ApprovalRequest | None = None
        """The newest question, for "why was this asked?"."""

    async def admit(self, call: ToolUse, tool: Tool, tell: Tell) -> Admission:
        """Return whether a call may run.

        Raises:
            ToolError: The call cannot even be proposed, for example because a text to replace is not there.
        """
        admission = await self._decide(call, tool, tell)
        if not admission.refusal:
            self._admitted(call.name, admission.arguments)
        return admission

    async def _decide(self, call: ToolUse, tool: Tool, tell: Tell) -> Admission:
        judgement = self._judge(call.name, call.input)
        if judgement.verdict is Verdict.ASK:
            async with self._one_at_a_time:
                judgement = self._judge(
                    call.name, call.input
                )  # an "always" may have come meanwhile
                if judgement.verdict is Verdict.ASK:
                    return await self._ask(call, tool, judgement, tell)
        if judgement.verdict is Verdict.DENY:
            return Admission(call.input, refusal=f"Error: {judgement.reason}")
        return Admission(call.input)

    async def _ask(self, call: ToolUse, tool: Tool, judgement: Judgement, tell: Tell) -> Admission:
        proposal = await tool.propose(call.input)
        request = ApprovalRequest(
            call_id=call.id,
            tool=call.name,
            title=proposal.title,
            detail=proposal.detail,
            is_diff=proposal.is_diff,
            reason=judgement.reason,
            proposal=judgement.proposal,
            wider=judgement.wider,
            editable=isinstance(call.input.get("command"), str),
        )
        self.last_asked = request
        tell(ApprovalAsked(request))
        answer = await self._approver.ask(request)
        tell(ApprovalGiven(request, answer))
        await self._record.remark(remarks.APPROVAL, _remark(request, answer))
        return self._admission(call, request, answer)

    def _admission(
        self, call: ToolUse, request: ApprovalRequest, answer: ApprovalAnswer
    ) -> Admission:
        if answer.answered is Answered.NO:
            if not answer.by_user:
                return Admission(call.input, refusal=f"This call was not run. {answer.words}")
            words = f" The user says: {answer.words}" if answer.words else ""
            return Admission(call.input, refusal=f"The user refused this call.{words}")
        rule = _granted(request, answer)
        if rule is not None:
            self._allow(rule)
        if answer.edited is None or answer.edited == call.input.get("command"):
            return Admission(call.input)
        changed = {**call.input, "command": answer.edited}
        judgement = self._judge(call.name, changed)
        if judgement.verdict is Verdict.DENY:
            return Admission(changed, refusal=f"Error: {judgement.reason}")
        return Admission(changed, note=f"[the user changed the command to: {answer.edited}]")


def _granted(request: ApprovalRequest, answer: ApprovalAnswer) -> Rule | None:
    """Return the rule that an answer adds: only one that was offered."""
    if answer.answered is not Answered.ALWAYS:
        return None
    return answer.rule if answer.rule in request.wider else request.proposal


def _remark(request: ApprovalRequest, answer: ApprovalAnswer) -> JsonObject:
    return {
        "tool": request.tool,
        "title": request.title,
        "detail": request.detail,
        "answer": answer.answered.value,
        "words": answer.words,
        "edited": answer.edited,
        "rule": str(_granted(request, answer) or ""),
    }
