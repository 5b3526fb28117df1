"""Files as far as a recording shows them: read results put lines on the shelf, recorded edits change them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from app.core.messages import ToolResult, ToolUse
from app.replay.effects import PATH_KEYS, edit_targets, first_text, infer_effects

NEW_TEXT_KEYS = ("new_text", "new_string", "new_str", "replace", "newText")
WHOLE_TEXT_KEYS = ("content", "file_text", "contents")
_NUMBERED = re.compile(r"^[ \t]*(\d+)(?:→|\t|\|)(.*)$")


@dataclass(slots=True)
class Shelf:
    """Known lines of each file, by number."""

    _lines: dict[str, dict[int, str]] = field(default_factory=dict)

    def note(self, call: ToolUse, result: ToolResult) -> None:
        """Learn from a call and its result."""
        if result.is_error:
            return
        path = first_text(call.input, PATH_KEYS)
        whole = first_text(call.input, WHOLE_TEXT_KEYS)
        spans = infer_effects(call, result).read
        if spans:
            self._lines.setdefault(spans[0].path, {}).update(_shown(result.text, spans[0].first))
        elif path and whole:
            self._lines[path] = dict(enumerate(whole.split("\n"), 1))
        elif path in self._lines:
            new = first_text(call.input, NEW_TEXT_KEYS)
            for old in edit_targets(call):
                self._replace(path, old, new)

    async def read(self, path: str, first: int, last: int) -> str | None:
        """Return the known ones of these lines, or None when none is known."""
        known = self._lines.get(path, {})
        found = [known[number] for number in sorted(known) if first <= number <= last]
        return "\n".join(found) if found else None

    def _replace(self, path: str, old: str, new: str) -> None:
        known = self._lines[path]
        numbers = sorted(known)
        text = "\n".join(known[number] for number in numbers)
        if text.count(old) == 1 and numbers:
            changed = text.replace(old, new)
            self._lines[path] = dict(enumerate(changed.split("\n"), numbers[0]))


def _shown(text: str, first: int) -> dict[int, str]:
    lines = text.split("\n")
    matches = [_NUMBERED.match(line) for line in lines]
    if any(matches):
        return {int(match[1]): match[2] for match in matches if match}
    return dict(enumerate(lines, first))
