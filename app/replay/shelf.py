"""Files as far as a recording shows them: read results put lines on the shelf, recorded edits change them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from app.core.effects import Span
from app.core.messages import ToolResult, ToolUse
from app.replay.effects import PATH_KEYS, edit_targets, first_text, infer_effects

NEW_TEXT_KEYS = ("new_text", "new_string", "new_str", "replace", "newText")
WHOLE_TEXT_KEYS = ("content", "file_text", "contents")
UNKNOWN = "\0"
"""Stands for a line that the recording never showed."""
SHOWN_FOR_UNKNOWN = "(this line was never shown in the recording)"
_NUMBERED = re.compile(r"^[ \t]*(\d+)(?:→|\t|\|)(.*)$")


@dataclass(slots=True)
class Shelf:
    """The lines of each file, the first one first."""

    _files: dict[str, list[str]] = field(default_factory=dict)

    def note(self, call: ToolUse, result: ToolResult) -> tuple[Span, ...]:
        """Learn from a call and its result; return where it changed lines of a known file."""
        if result.is_error:
            return ()
        path = first_text(call.input, PATH_KEYS)
        whole = first_text(call.input, WHOLE_TEXT_KEYS)
        spans = infer_effects(call, result).read
        if spans:
            self._show(spans[0].path, _shown(result.text, spans[0].first))
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
