"""search: lines of the project's text files that match a regular expression."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import ClassVar

from app.core.effects import Effects
from app.core.messages import JsonObject
from app.core.ports import Emit, Proposal, ToolOutcome
from app.core.requests import ToolSpec
from app.core.visible_text import escaped
from app.errors import ToolError
from app.tools.lines import NUMBER_MARK
from app.tools.regex import Match, Results, find, require_expression
from app.tools.tree import Glob, walk
from app.tools.workspace import Resolved, Workspace

MAX_FILES = 50_000
MAX_MATCHES = 200
SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class SearchTool:
    """Searches files."""

    workspace: Workspace
    seconds: float = SECONDS

    read_only: ClassVar[bool] = True

    @property
    def spec(self) -> ToolSpec:
        """Name, description and input schema."""
        return ToolSpec(
            "search",
            "Search the text files below a folder for a Python regular expression, line by line. Returns path, line "
            f"number and line, at most {MAX_MATCHES} matches. Skips what .gitignore hides, binary and very large "
            "files.",
            {
                "type": "object",
                "properties": {
                    "pattern": {"type": "string", "description": "Python regular expression"},
                    "path": {
                        "type": "string",
                        "description": "Folder or file, default the project folder",
                    },
                    "glob": {
                        "type": "string",
                        "description": "Only files that match, such as *.py or src/**/*.ts",
                    },
                    "ignore_case": {"type": "boolean"},
                    "context": {
                        "type": "integer",
                        "minimum": 0,
                        "description": "Lines to show before and after each match, at most 10",
                    },
                },
                "required": ["pattern"],
            },
        )

    def target(self, arguments: JsonObject) -> str:
        """Return the pattern and where it is searched."""
        where = " ".join(str(arguments[key]) for key in ("path", "glob") if arguments.get(key))
        pattern = str(arguments.get("pattern", ""))
        return f"{pattern} in {where}" if where else pattern

    async def propose(self, arguments: JsonObject) -> Proposal:
        """Return where would be searched."""
        resolved = self.workspace.readable(arguments.get("path") or ".")
        return Proposal(f"search {resolved.shown}", str(resolved.path))

    async def run(self, arguments: JsonObject, emit: Emit) -> ToolOutcome:
        """Search."""
        pattern: str = arguments["pattern"]
        require_expression(pattern)
        resolved = self.workspace.readable(arguments.get("path") or ".")
        if not resolved.path.exists():
            raise ToolError(f"{resolved.shown} does not exist")
        root, files = await asyncio.to_thread(self._files, resolved, arguments.get("glob"))
        request = {
            "root": str(root),
            "files": files,
            "pattern": pattern,
            "ignore_case": arguments.get("ignore_case", False),
            "context": min(arguments.get("context", 0), 10),
            "limit": MAX_MATCHES + 1,
        }
        results = await find(request, self.seconds)
        return self._outcome(results, arguments, everywhere=len(files) < MAX_FILES)

    def _files(self, resolved: Resolved, glob: str | None) -> tuple[Path, list[str]]:
        if resolved.path.is_file():
            if resolved.inside:
                return self.workspace.root, [resolved.relative]
            return resolved.path.parent, [resolved.path.name]
        root = self.workspace.root if resolved.inside else resolved.path
        start = resolved.relative if resolved.inside and resolved.relative != "." else ""
        names = (file.relative for file in walk(root, start) if not file.link)
        if glob:
            matcher = Glob(glob)
            prefix = f"{start}/" if start else ""
            names = (name for name in names if matcher.matches(name.removeprefix(prefix)))
        return root, list(islice(names, MAX_FILES))

    def _outcome(self, results: Results, arguments: JsonObject, *, everywhere: bool) -> ToolOutcome:
        matches = results.matches[:MAX_MATCHES]
        more = len(results.matches) > MAX_MATCHES
        paths = len({match.path for match in matches})
        count = _count(len(matches), paths, more=more)
        notes: list[str] = []
        if more:
            notes.append(f"more than {MAX_MATCHES} matches: narrow the pattern or the path")
        if not everywhere:
            notes.append(f"only the first {MAX_FILES:,} files were searched: narrow the path")
        if not results.in_time:
            notes.append(f"stopped after {self.seconds:g} s: not everything was searched")
            count += ", stopped early"
        lines = [_shown(list(group)) for _, group in groupby(matches, lambda match: match.path)]
        body = "\n".join(lines) or "(no matches)"
        text = "\n".join((body, *(f"[{note}]" for note in notes)))
        return ToolOutcome(text, Effects(target=self.target(arguments), outcome=count))


def _shown(matches: Sequence[Match]) -> str:
    """The matches of one file below its path; numbers of matching lines carry the mark, others a colon."""
    lines: dict[int, tuple[str, str]] = {}
    for match in matches:
        first = match.number - len(match.before)
        around = [(first + at, text) for at, text in enumerate(match.before)]
        around += [(match.number + 1 + at, text) for at, text in enumerate(match.after)]
        for number, text in around:
            lines.setdefault(number, (":", text))
        lines[match.number] = (NUMBER_MARK, match.text)
    shown = [f"{number}{mark}{text}" for number, (mark, text) in sorted(lines.items())]
    return "\n".join((escaped(matches[0].path), *shown))


def _count(matches: int, files: int, *, more: bool) -> str:
    if not matches:
        return "no matches"
    prefix = "more than " if more else ""
    noun = "match" if matches == 1 else "matches"
    return f"{prefix}{matches} {noun} in {files} {'file' if files == 1 else 'files'}"
