"""The tool calls of one answer: read-only ones side by side, the others in order, `compact` last."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.agent.channel import Tell
from app.agent.gate import Admission, Gate
from app.core import remarks
from app.core.conversation import NO_OUTPUT
from app.core.effects import Effects, effects_to_json
from app.core.events import ToolFinished, ToolOutput, ToolStarted
from app.core.messages import Text, ToolResult, ToolUse, block_to_json
from app.core.ports import Record, Tool, ToolOutcome
from app.errors import RecordError, ToolError

Fault = Callable[[Exception], str]
"""Takes a failure of the program inside a tool; returns what is told of it, in one line without secrets."""
COMPACT = "compact"
"""The tool that asks for layer 3; the turn acts on it after all results are in."""
PARTIAL_CHARS = 8_000
"""How much of an interrupted command's output is kept, from its end."""


def name_fault(error: Exception) -> str:
    """Say no more of a failure than its kind: its message may hold anything."""
    return f"the tool failed: {type(error).__name__}"


@dataclass(slots=True)
class CallRun:
    """The calls of one answer while they run, and what came of them."""

    calls: Sequence[ToolUse]
    tools: Mapping[str, Tool]
    gate: Gate
    record: Record
    tell: Tell
    fault: Fault = name_fault
    finished: dict[str, tuple[ToolResult, Effects]] = field(default_factory=dict)
    untold: list[ToolFinished] = field(default_factory=list)
    """Ends of calls whose results are not on disk yet: nothing is told before."""
    full: dict[str, Callable[[], Iterator[str]]] = field(default_factory=dict)
    """Gives the whole text of results that hold only a part of it."""
    partial: dict[str, str] = field(default_factory=dict)
    first_result: int = field(init=False)
    """Number that the first call's result will have in the record."""

    def __post_init__(self) -> None:
        self.first_result = self.record.next_result

    async def run(self) -> None:
        """Run all calls; `finished` holds a result for each of them afterwards."""
        for group in self._groups():
            try:
                async with asyncio.TaskGroup() as tasks:
                    for call in group:
                        tasks.create_task(self._run_one(call))
            except* RecordError as errors:
                raise errors.exceptions[0] from None

    def interrupt(self, mark: str) -> None:
        """Give the unfinished calls a result that says so and holds what they printed until then."""
        for call in self.calls:
            if call.id in self.finished:
                continue
            seen = self.partial.get(call.id, "")
            text = f"{seen}\n{mark}" if seen else mark
            result = ToolResult(call.id, text, is_error=True)
            effects = Effects(target=self._target(call), outcome="interrupted")
            self.finished[call.id] = (result, effects)
            self.untold.append(self._end(call, result, effects, seconds=0.0))

    def written(self) -> None:
        """Tell the ends of calls whose results have come to the disk with their message."""
        for event in self.untold:
            self.tell(event)
        self.untold.clear()

    def _groups(self) -> list[list[ToolUse]]:
        """Neighbouring read-only calls run together; a call that may change something runs alone."""
        groups: list[list[ToolUse]] = []
        side_by_side = False
        for call in sorted(self.calls, key=lambda call: call.name == COMPACT):
            tool = self.tools.get(call.name)
            read_only = tool is None or tool.read_only
            if read_only and side_by_side:
                groups[-1].append(call)
            else:
                groups.append([call])
            side_by_side = read_only and call.name != COMPACT
        return groups

    async def _run_one(self, call: ToolUse) -> None:
        started = time.monotonic()
        diff = ""
        try:
            outcome, note, started = await self._outcome(call)
            diff = outcome.diff
            if outcome.full is not None:
                self.full[call.id] = outcome.full
            result = _result(call, outcome, note)
            effects = outcome.effects
        except RecordError:
            raise
        except ToolError as error:
            result, effects = self._failure(call, str(error))
        except Exception as error:  # a fault of one tool ends its call, not the turn
            result, effects = self._failure(call, self.fault(error))
        self.finished[call.id] = (result, effects)
        end = self._end(call, result, effects, seconds=time.monotonic() - started, diff=diff)
        self.untold.append(end)
        if diff:
            await self.record.remark(remarks.DIFF, {"tool_use_id": call.id, "diff": diff})
        if len(self.calls) > 1:
            await self.record.remark(
                remarks.RESULT,
                {
                    "tool_use_id": call.id,
                    "result": block_to_json(result),
                    "effects": effects_to_json(effects),
                },
            )
            self.untold.remove(end)
            self.tell(end)

    async def _outcome(self, call: ToolUse) -> tuple[ToolOutcome, str, float]:
        tool = self.tools.get(call.name)
        if tool is None:
            available = ", ".join(sorted(self.tools))
            raise ToolError(f"Unknown tool: {call.name}. Available: {available}")
        admission = await self._admit(call, tool)
        if admission.refusal:
            refused = Effects(target=self._target(call), outcome="refused")
            return ToolOutcome(admission.refusal, refused, ok=False), "", time.monotonic()
        self.tell(
            ToolStarted(call.id, call.name, tool.target(admission.arguments), admission.arguments)
        )
        started = time.monotonic()

        def emit(text: str) -> None:
            self.partial[call.id] = (self.partial.get(call.id, "") + text)[-PARTIAL_CHARS:]
            self.tell(ToolOutput(call.id, text))

        outcome = await tool.run(admission.arguments, emit)
        return outcome, admission.note, started

    async def _admit(self, call: ToolUse, tool: Tool) -> Admission:
        return await self.gate.admit(call, tool, self.tell)

    def _failure(self, call: ToolUse, message: str) -> tuple[ToolResult, Effects]:
        text = message if message.startswith(("Error", "Unknown tool")) else f"Error: {message}"
        effects = Effects(target=self._target(call), outcome="error")
        return ToolResult(call.id, text, is_error=True), effects

    def _target(self, call: ToolUse) -> str:
        tool = self.tools.get(call.name)
        return tool.target(call.input) if tool else ""

    def _end(
        self,
        call: ToolUse,
        result: ToolResult,
        effects: Effects,
        *,
        seconds: float,
        diff: str = "",
    ) -> ToolFinished:
        return ToolFinished(
            call_id=call.id,
            tool=call.name,
            ok=not result.is_error,
            text=result.text,
            outcome=effects.outcome,
            seconds=seconds,
            result=f"r{self.first_result + self.calls.index(call)}",
            diff=diff,
            target=effects.target or self._target(call),
        )


def _result(call: ToolUse, outcome: ToolOutcome, note: str) -> ToolResult:
    content = outcome.content or NO_OUTPUT
    if note:
        content = f"{note}\n{content}" if isinstance(content, str) else (Text(note), *content)
    return ToolResult(call.id, content, is_error=not outcome.ok)


def with_text(result: ToolResult, text: str) -> ToolResult:
    """Return the result with other text; results of several parts are left as they are."""
    return replace(result, content=text) if isinstance(result.content, str) else result
