"""write_file: creates a file or replaces all of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import ClassVar

from app.core.effects import Effects
from app.core.finishing import to_its_end
from app.core.messages import JsonObject
from app.core.ports import Emit, Proposal, ToolOutcome
from app.core.requests import ToolSpec
from app.errors import ToolError
from app.tools import atomic
from app.tools.checkpoints import Checkpoints
from app.tools.diff import Diff, unified
from app.tools.text_files import TextFile, decode
from app.tools.workspace import Resolved, Workspace

MAX_SHOWN_BYTES = 4_000_000
"""What a larger file held before is not shown in the diff."""
EMPTY = TextFile("")


@dataclass(frozen=True, slots=True)
class Writing:
    """A file that is ready to be written."""

    resolved: Resolved
    data: bytes
    exists: bool
    diff: Diff
    note: str
    """What of the old file was kept, or why its text is not in the diff; ""."""


@dataclass(frozen=True, slots=True)
class WriteFileTool:
    """Writes files."""

    workspace: Workspace
    checkpoints: Checkpoints

    read_only: ClassVar[bool] = False

    @property
    def spec(self) -> ToolSpec:
        """Name, description and input schema."""
        return ToolSpec(
            "write_file",
            "Create a file, or replace all of an existing one; missing folders are made. "
            "To change a part of a file use edit_file instead.",
            {
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "description": "The file, relative to the project folder",
                    },
                    "content": {"type": "string", "description": "Everything the file shall hold"},
                },
                "required": ["path", "content"],
            },
        )

    def target(self, arguments: JsonObject) -> str:
        """Return the path."""
        return str(arguments.get("path", ""))

    async def propose(self, arguments: JsonObject) -> Proposal:
        """Return the diff against what is there.

        Raises:
            ToolError: The file cannot be written.
        """
        writing = await asyncio.to_thread(self._prepare, arguments)
        verb = "overwrite" if writing.exists else "create"
        note = f"\n[{writing.note}]" if writing.note else ""
        title = f"{verb} {writing.resolved.shown} ({writing.diff.counts})"
        return Proposal(title, (writing.diff.text or "(no difference)") + note, True)

    async def run(self, arguments: JsonObject, emit: Emit) -> ToolOutcome:
        """Write the file."""
        writing = await asyncio.to_thread(self._prepare, arguments)
        async with self.checkpoints.editing(writing.resolved):
            return await to_its_end(asyncio.to_thread(self._write, writing))

    def _write(self, writing: Writing) -> ToolOutcome:
        resolved = writing.resolved
        self.workspace.require_unchanged(resolved)
        others = atomic.write(self.workspace, resolved, writing.data)
        self.workspace.remember(resolved, data=writing.data)
        verb = "overwritten" if writing.exists else "created"
        outcome = f"{verb}, {writing.diff.counts}, {len(writing.data):,} bytes"
        note = f"; {writing.note}" if writing.note else ""
        effects = Effects(target=resolved.shown, outcome=outcome, modified=(resolved.relative,))
        text = f"{resolved.shown}: {outcome}{note}{atomic.names_note(others)}"
        return ToolOutcome(text, effects, diff=writing.diff.text)

    def _prepare(self, arguments: JsonObject) -> Writing:
        resolved = self.workspace.resolve(arguments["path"], write=True)
        if resolved.path == self.workspace.root:
            raise ToolError("the path is the project folder itself")
        self.workspace.require_unchanged(resolved)
        content: str = arguments["content"]
        old, exists, note = self._old(resolved)
        if not self.workspace.is_seen(resolved):
            self.workspace.remember(resolved)
        if old.line_ends.name == "CRLF" and "\r\n" not in content:
            content = content.replace("\n", "\r\n")
            note = "CRLF line ends kept"
        elif old.mark:
            note = "encoding kept"
        diff = unified(old.text, content, resolved.shown, created=not exists)
        return Writing(resolved, old.encode(content.removeprefix("\ufeff")), exists, diff, note)

    def _old(self, resolved: Resolved) -> tuple[TextFile, bool, str]:
        """What the file holds now, whether it exists, and why its text is not known."""
        if not resolved.path.exists():
            return EMPTY, False, ""
        with self.workspace.open(resolved) as file:
            data = file.read(MAX_SHOWN_BYTES + 1)
        if len(data) > MAX_SHOWN_BYTES:
            return EMPTY, True, "what it held is too large to show"
        try:
            return decode(data), True, ""
        except ToolError:
            return EMPTY, True, f"what it held is no text ({len(data):,} bytes)"
