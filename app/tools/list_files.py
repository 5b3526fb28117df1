"""list_files: the project's files, folded into folders where there are many."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

from app.core.effects import Effects
from app.core.messages import JsonObject
from app.core.ports import Emit, Proposal, ToolOutcome
from app.core.requests import ToolSpec
from app.core.visible_text import escaped
from app.errors import ToolError
from app.tools.tree import Found, Glob, walk
from app.tools.workspace import Workspace

MAX_FILES = 50_000
SHOWN_LINES = 300


@dataclass(frozen=True, slots=True)
class ListFilesTool:
    """Lists files."""

    workspace: Workspace

    read_only: ClassVar[bool] = True

    @property
    def spec(self) -> ToolSpec:
        """Name, description and input schema."""
        return ToolSpec(
            "list_files",
            "List the files below a folder, sorted, without what .gitignore hides. "
            "Where there are many, folders stand with the number of files in them: list such a folder by itself.",
            {
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "description": "The folder, default the project folder",
                    },
                    "glob": {
                        "type": "string",
                        "description": "Only files that match, such as *.py, src/**/*.ts or {a,b}.md",
                    },
                    "ignored": {
                        "type": "boolean",
                        "description": "Also what .gitignore hides",
                    },
                },
                "required": [],
            },
        )

    def target(self, arguments: JsonObject) -> str:
        """Return the folder and the pattern."""
        path = str(arguments.get("path") or ".")
        return f"{path} {arguments['glob']}" if arguments.get("glob") else path

    async def propose(self, arguments: JsonObject) -> Proposal:
        """Return which folder would be listed."""
        resolved = self.workspace.readable(arguments.get("path") or ".")
        return Proposal(f"list {resolved.shown}", str(resolved.path))

    async def run(self, arguments: JsonObject, emit: Emit) -> ToolOutcome:
        """List."""
        return await asyncio.to_thread(self._list, arguments)

    def _list(self, arguments: JsonObject) -> ToolOutcome:
        resolved = self.workspace.readable(arguments.get("path") or ".")
        if not resolved.path.is_dir():
            what = "is not a folder" if resolved.path.exists() else "does not exist"
            raise ToolError(f"{resolved.shown} {what}")
        root = self.workspace.root if resolved.inside else resolved.path
        start = resolved.relative if resolved.inside and resolved.relative != "." else ""
        found = walk(root, start, everything=arguments.get("ignored", False))
        files = list(islice(found, MAX_FILES + 1))
        cut = len(files) > MAX_FILES
        del files[MAX_FILES:]
        if arguments.get("glob"):
            glob = Glob(arguments["glob"])
            files = [file for file in files if glob.matches(_below(file.relative, start))]
        more = "more than " if cut else ""
        count = "1 file" if len(files) == 1 else f"{more}{len(files):,} files"
        effects = Effects(target=self.target(arguments), outcome=count if files else "no files")
        if not files:
            return ToolOutcome("(no files)", effects)
        lines = folded(files, start)
        heading = [f"[{count}; folders ending in / are folded]"] if len(lines) < len(files) else []
        return ToolOutcome("\n".join((*lines, *heading)), effects)


def folded(files: Sequence[Found], start: str = "", *, limit: int = SHOWN_LINES) -> list[str]:
    """Return one line a file; where these are more than ``limit``, deep folders become one line each.

    Args:
        files: The files, sorted.
        start: Folder that all of them are in, "" for the project.
        limit: Most lines.
    """
    if len(files) <= limit:
        return [_line(file) for file in files]
    base = start.count("/") + 1 if start else 0
    depth = max(file.relative.count("/") for file in files)
    lines: list[str] = []
    for level in range(depth, base - 1, -1):
        lines = _at_depth(files, level)
        if len(lines) <= limit:
            return lines
    left = len(lines) - limit
    return [*lines[:limit], f"… {left:,} more"]


def _at_depth(files: Sequence[Found], level: int) -> list[str]:
    """Files up to a depth by name, deeper ones as counts of their folder at that depth."""
    counts = Counter(
        "/".join(file.relative.split("/")[: level + 1])
        for file in files
        if file.relative.count("/") > level
    )
    lines = [_line(file) for file in files if file.relative.count("/") <= level]
    lines += [
        f"{escaped(folder)}/ ({n:,} file{'s' if n > 1 else ''})" for folder, n in counts.items()
    ]
    return sorted(lines)


def _line(file: Found) -> str:
    name = escaped(file.relative)
    return f"{name} -> {escaped(file.link)}" if file.link else name


def _below(relative: str, start: str) -> str:
    return relative.removeprefix(f"{start}/") if start else relative
