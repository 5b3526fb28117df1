"""compact: the model asks for layer 3; the turn does it after all results of the step are in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from app.core.effects import Effects
from app.core.messages import JsonObject
from app.core.ports import Emit, Proposal, ToolOutcome
from app.core.requests import ToolSpec

ANSWER = "Compressing..."
"""The result, always the same."""


@dataclass(frozen=True, slots=True)
class CompactTool:
    """Asks for a compaction."""

    read_only: ClassVar[bool] = True

    @property
    def spec(self) -> ToolSpec:
        """Name, description and input schema."""
        return ToolSpec(
            "compact",
            "Compress the conversation into a summary; nothing is lost, and recall brings originals back. Use it when "
            "a task is finished, when a new phase of the work begins, and before a large read. Say in focus what the "
            "next step needs: file paths, symbols and words found in it keep their exchanges verbatim. "
            "The work goes on by itself afterwards.",
            {
                "type": "object",
                "properties": {
                    "focus": {
                        "type": "string",
                        "description": "What must be kept: files, symbols, the next task",
                    }
                },
                "required": [],
            },
        )

    def target(self, arguments: JsonObject) -> str:
        """Return the focus."""
        return str(arguments.get("focus") or "")

    async def propose(self, arguments: JsonObject) -> Proposal:
        """Return what would be compressed."""
        return Proposal("compress the conversation", self.target(arguments))

    async def run(self, arguments: JsonObject, emit: Emit) -> ToolOutcome:
        """Return the constant answer."""
        return ToolOutcome(ANSWER, Effects(target=self.target(arguments), outcome="asked"))
