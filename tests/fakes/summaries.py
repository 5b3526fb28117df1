"""Summaries and situations for tests of the engine, and ways in which a model answers badly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from app.compaction.engine import Compaction, compact
from app.compaction.situation import Situation
from app.compaction.summary import HEADINGS
from app.core.budget import Meter
from app.core.conversation import Conversation
from app.core.messages import Message, Thinking
from app.core.policy import AutoPolicy, CompactionPolicy
from app.core.reports import Layer
from app.core.requests import Answer, ModelRequest, StopReason, ToolSpec
from app.errors import ContextOverflow, Rejected, StreamBroken
from tests.fakes.model import ScriptedModel, calls, says

GOOD = "\n\n".join(f"## {name}\nSomething about it." for name in HEADINGS)

MISBEHAVIOURS: dict[str, Callable[[], Any]] = {
    "says nothing": lambda: Answer(Message("assistant", ()), None, StopReason.END_TURN),
    "says only blanks": lambda: says("  \n "),
    "only thinks": lambda: Answer(
        Message("assistant", (Thinking({"type": "thinking", "thinking": "hm", "signature": "x"}),)),
        None,
        StopReason.END_TURN,
    ),
    "leaves headings out": lambda: says("We did a lot."),
    "calls a tool": lambda: calls(("toolu_x", "bash", {"command": "ls"}), text=GOOD),
    "is cut off": lambda: says(GOOD, stop=StopReason.MAX_TOKENS),
    "refuses": lambda: says("No.", stop=StopReason.REFUSAL),
    "says far too much": lambda: says(GOOD + "\nword and word again" * 4_000),
    "breaks off": lambda: StreamBroken("half"),
    "finds it too long": lambda: ContextOverflow("prompt is too long: 9 > 8", sent=9, window=8),
    "finds the body too large": lambda: Rejected("too large", status=413),
}


def situation(
    conversation: Conversation,
    *,
    threshold: int = 20_000,
    policy: CompactionPolicy | None = None,
    meter: Meter | None = None,
    **more: Any,
) -> Situation:
    tools = (ToolSpec("bash", "Runs a command.", {"type": "object"}),)
    return Situation(
        conversation=conversation,
        request=ModelRequest("scripted", "You are Pal.", tools, (), 8_000),
        meter=meter or Meter(floor=100.0),
        policy=policy or CompactionPolicy(auto=AutoPolicy(threshold=threshold)),
        threshold=threshold,
        window=200_000,
        transcript=".transcripts/s/transcript_0001.jsonl",
        **more,
    )


async def no_files(path: str, first: int, last: int) -> str | None:
    return None


def run(
    situation: Situation,
    *script: Any,
    focus: str = "",
    layer: Layer = Layer.AUTO,
    read_file: Any = no_files,
) -> tuple[Compaction, list[ModelRequest]]:
    """Compact with a model that follows the script; return the compaction and the requests that were made."""
    model = ScriptedModel(script)
    done = asyncio.run(
        compact(
            situation,
            layer=layer,
            reason="over the threshold",
            focus=focus,
            model=model,
            read_file=read_file,
            tell=lambda event: None,
        )
    )
    return done, model.requests
