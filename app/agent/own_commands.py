"""Commands that the user runs themselves, beside the turns: shown, recorded, and told to the model when they want."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass

from app.agent.channel import Tell
from app.agent.dialogue import Dialogue
from app.core import remarks
from app.core.events import OWN_TOOL, ToolFinished, ToolOutput, ToolStarted
from app.core.finishing import to_its_end
from app.core.history import Entry, Remark
from app.core.ports import Tool
from app.errors import PalError, ToolError

OWN = "own-"
"""Begins the ids of these calls."""
MOST_CHARS = 16_000
"""Characters of the output that are kept and told: three quarters from its head, one from its tail."""
MOST_SECONDS = 3_600
"""A user's own command may take as long; the model's may not."""


@dataclass(slots=True)
class OwnCommands:
    """Runs the user's commands with the user's rights: nobody is asked, no sandbox confines them."""

    shell: Tool | None
    dialogue: Dialogue
    begun: int = 0

    async def run(self, command: str, share: bool, tell: Tell) -> None:
        """Run a command to its end.

        Args:
            command: What the shell gets.
            share: Whether command, exit code and output go to the model with the user's next message.
            tell: Called with its beginning, its output and its end.

        Raises:
            PalError: There is no shell.
        """
        if self.shell is None:
            raise PalError("There is no shell to run that.")
        self.begun += 1
        id_ = f"{OWN}{self.begun}"
        arguments = {"command": command, "timeout": MOST_SECONDS}
        target = self.shell.target(arguments)
        tell(ToolStarted(id_, OWN_TOOL, target, arguments))
        begun, printed = time.monotonic(), _Printed()

        def emit(text: str) -> None:
            printed.add(text)
            tell(ToolOutput(id_, text))

        async def end(text: str, outcome: str, *, ok: bool) -> None:
            await self._keep(command, text, outcome, share=share, ok=ok)
            told = (
                f"{outcome} · {'goes with your next message' if share else 'not told to the model'}"
            )
            seconds = time.monotonic() - begun
            tell(ToolFinished(id_, OWN_TOOL, ok, text, told, seconds, target=target))

        try:
            done = await self.shell.run(arguments, emit)
        except ToolError as error:
            await to_its_end(end(str(error), "failed", ok=False))
        except asyncio.CancelledError:
            await to_its_end(end(printed.text, "cancelled", ok=False))
            raise
        else:
            text = done.content if isinstance(done.content, str) else ""
            await to_its_end(end(text, done.effects.outcome, ok=done.ok))

    def restore(self, kept: Iterable[Remark], entries: Iterable[Entry]) -> None:
        """Take up what was shared and not yet told when the session was left."""
        told = max((entry.seq for entry in entries if entry.spoken), default=0)
        for remark in kept:
            data = remark.data
            if remark.seq > told and data.get("share") is True:
                self.dialogue.overheard.append(
                    _note(str(data["command"]), str(data["outcome"]), str(data["text"]))
                )

    async def _keep(self, command: str, text: str, outcome: str, *, share: bool, ok: bool) -> None:
        text = shortened(text)
        data = {"command": command, "outcome": outcome, "text": text, "share": share, "ok": ok}
        await self.dialogue.record.remark(remarks.OWN_COMMAND, data)
        if share:
            self.dialogue.overheard.append(_note(command, outcome, text))


@dataclass(slots=True)
class _Printed:
    """The newest output of a running command."""

    text: str = ""

    def add(self, text: str) -> None:
        self.text = (self.text + text)[-MOST_CHARS:]


def shortened(text: str) -> str:
    """Return a text of at most about `MOST_CHARS` characters: its head, its tail and how much is missing between."""
    if len(text) <= MOST_CHARS:
        return text
    head, tail = text[: MOST_CHARS * 3 // 4], text[-MOST_CHARS // 4 :]
    return f"{head}\n[… {len(text) - len(head) - len(tail):,} characters left out …]\n{tail}"


def _note(command: str, outcome: str, text: str) -> str:
    return f"[The user ran a command of their own: {command} -> {outcome}]\n{text}"
