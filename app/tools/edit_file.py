"""edit_file: replaces an exact text in a file and leaves every other byte alone."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import ClassVar

from app.core.effects import Effects, Span
from app.core.finishing import to_its_end
from app.core.messages import JsonObject
from app.core.ports import Emit, Proposal, ToolOutcome
from app.core.requests import ToolSpec
from app.errors import ToolError
from app.tools import atomic
from app.tools.checkpoints import Checkpoints
from app.tools.diff import Diff, unified
from app.tools.lines import NUMBER_MARK
from app.tools.matching import replace_exact
from app.tools.text_files import decode
from app.tools.workspace import Resolved, Workspace

MAX_BYTES = 32_000_000
MOST_PLACES = 6
"""Changed places that an edit reports; the last ones of more."""


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit that is ready to be written."""

    resolved: Resolved
    before: bytes
    after: bytes
    count: int
    diff: Diff


@dataclass(frozen=True, slots=True)
class EditFileTool:
    """Edits files."""

    workspace: Workspace
    checkpoints: Checkpoints

    read_only: ClassVar[bool] = False

    @property
    def spec(self) -> ToolSpec:
        """Name, description and input schema."""
        return ToolSpec(
            "edit_file",
            "Replace old_text by new_text in a file. old_text must stand in the file exactly as given, indentation "
            f"included and without the numbers and {NUMBER_MARK} of read_file, and exactly once: add neighbouring "
            "lines to make it unique, or set replace_all. Line ends, encoding and mode of the file are kept. "
            "A file that changed since you read it must be read again first.",
            {
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "description": "The file, relative to the project folder",
                    },
                    "old_text": {"type": "string", "description": "The exact text to replace"},
                    "new_text": {
                        "type": "string",
                        "description": "The text to put in its place; may be empty",
                    },
                    "replace_all": {"type": "boolean", "description": "Replace every occurrence"},
                },
                "required": ["path", "old_text", "new_text"],
            },
        )

    def target(self, arguments: JsonObject) -> str:
        """Return the path."""
        return str(arguments.get("path", ""))

    async def propose(self, arguments: JsonObject) -> Proposal:
        """Return the diff of the edit.

        Raises:
            ToolError: The edit cannot be made.
        """
        edit = await asyncio.to_thread(self._prepare, arguments)
        return Proposal(f"edit {edit.resolved.shown} ({edit.diff.counts})", edit.diff.text, True)

    async def run(self, arguments: JsonObject, emit: Emit) -> ToolOutcome:
        """Make the edit."""
        edit = await asyncio.to_thread(self._prepare, arguments)
        async with self.checkpoints.editing(edit.resolved):
            return await to_its_end(asyncio.to_thread(self._write, edit))

    def _write(self, edit: Edit) -> ToolOutcome:
        self.workspace.require_unchanged(edit.resolved)
        others = atomic.write(self.workspace, edit.resolved, edit.after)
        self.workspace.remember(edit.resolved, data=edit.after)
        what = "1 replacement" if edit.count == 1 else f"{edit.count:,} replacements"
        outcome = f"{what}, {edit.diff.counts}"
        path = edit.resolved.relative
        edited = tuple(
            Span(path, first, last, edit.diff.lines) for first, last in edit.diff.changed
        )
        effects = Effects(
            target=edit.resolved.shown,
            outcome=outcome,
            modified=(path,),
            edited=edited[-MOST_PLACES:],
        )
        return ToolOutcome(
            f"edited {edit.resolved.shown}: {outcome}{atomic.names_note(others)}",
            effects,
            diff=edit.diff.text,
        )

    def _prepare(self, arguments: JsonObject) -> Edit:
        resolved = self.workspace.resolve(arguments["path"], write=True)
        self.workspace.require_unchanged(resolved)
        with self.workspace.open(resolved) as opened:
            before = opened.read(MAX_BYTES + 1)
        if len(before) > MAX_BYTES:
            raise ToolError(
                f"{resolved.shown} is larger than {MAX_BYTES // 1_000_000} MB: edit it with a command"
            )
        if not self.workspace.is_seen(resolved):
            self.workspace.remember(resolved, data=before)
        file = decode(before)
        replaced = replace_exact(
            file,
            arguments["old_text"],
            arguments["new_text"],
            every=arguments.get("replace_all", False),
        )
        after = file.encode(replaced.text)
        return Edit(
            resolved,
            before,
            after,
            replaced.count,
            unified(file.text, replaced.text, resolved.shown),
        )
