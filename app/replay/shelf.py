"""Files as far as a recording shows them: read results put lines on the shelf, recorded edits change them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from app.core.effects import Span
from app.core.messages import ToolResult, ToolUse
from app.replay.effects import (
    PATH_KEYS,
    Hunk,
    edit_targets,
    first_text,
    hunks,
    infer_effects,
    output_of,
)

NEW_TEXT_KEYS = ("new_text", "new_string", "new_str", "replace", "newText")
WHOLE_TEXT_KEYS = ("content", "file_text", "contents")
PROCESS_KEY = "session_id"
HEADER_CHARS = 400
_RUNNING = re.compile(r"running with session ID (\d+)")
UNKNOWN = "\0"
"""Stands for a line that the recording never showed."""
SHOWN_FOR_UNKNOWN = "(this line was never shown in the recording)"
_NUMBERED = re.compile(r"^[ \t]*(\d+)(?:→|\t|\|)(.*)$")


@dataclass(slots=True)
class Shelf:
    """The lines of each file, the first one first."""

    _files: dict[str, list[str]] = field(default_factory=dict)
    _running: dict[str, ToolUse] = field(default_factory=dict)
    """By the id of its process, the call of each command whose output is fetched by later calls."""

    def asked(self, call: ToolUse, result: ToolResult) -> ToolUse:
        """Return the call that asked for what a result shows: of a fetched output, the command's own."""
        own = self._running.get(str(call.input.get(PROCESS_KEY)), call)
        if named := _RUNNING.search(result.text[:HEADER_CHARS]):
            self._running[named[1]] = own
        return own

    def note(self, call: ToolUse, result: ToolResult) -> tuple[Span, ...]:
        """Learn from a call and its result; return where it changed lines of a known file."""
        if result.is_error:
            return ()
        path = first_text(call.input, PATH_KEYS)
        whole = first_text(call.input, WHOLE_TEXT_KEYS)
        spans = infer_effects(call, result).read
        changes = hunks(call)
        if spans:
            self._show(spans[0].path, _shown(output_of(result), spans[0].first))
        elif changes:
            edited = (self._patch(hunk) for hunk in changes)
            return tuple(place for place in edited if place is not None)
        elif path and whole:
            self._files[path] = whole.split("\n")
        elif path in self._files:
            new = first_text(call.input, NEW_TEXT_KEYS)
            places = [self._replace(path, old, new) for old in edit_targets(call)]
            return tuple(place for place in places if place is not None)
        return ()

    async def read(self, path: str, first: int, last: int) -> str | None:
        """Return these lines, or None when none of the file is known."""
        lines = self._files.get(path)
        if lines is None:
            return None
        asked = lines[first - 1 : last]
        return "\n".join(SHOWN_FOR_UNKNOWN if line == UNKNOWN else line for line in asked)

    def _show(self, path: str, shown: dict[int, str]) -> None:
        lines = self._files.setdefault(path, [])
        lines.extend([UNKNOWN] * (max(shown, default=0) - len(lines)))
        for number, line in shown.items():
            lines[number - 1] = line

    def _patch(self, hunk: Hunk) -> Span | None:
        if not hunk.old.strip():  # a new file, or a mark without lines
            if hunk.new:
                self._files[hunk.path] = hunk.new.split("\n")
            return None
        return self._replace(hunk.path, hunk.old, hunk.new) if hunk.path in self._files else None

    def _replace(self, path: str, old: str, new: str) -> Span | None:
        text = "\n".join(self._files[path])
        if text.count(old) != 1:
            return None
        first = text[: text.index(old)].count("\n") + 1
        lines = text.replace(old, new).split("\n")
        self._files[path] = lines
        return Span(path, first, first + new.count("\n"), len(lines))


def _shown(text: str, first: int) -> dict[int, str]:
    lines = text.split("\n")
    matches = [_NUMBERED.match(line) for line in lines]
    if any(matches):
        return {int(match[1]): match[2] for match in matches if match and int(match[1]) > 0}
    return dict(enumerate(lines, first))
