"""recall: the original of anything that was cleared or compacted, from the record."""

from __future__ import annotations

import asyncio
import io
import re
from dataclasses import dataclass
from typing import ClassVar

from app.core.effects import Effects
from app.core.messages import JsonObject, Text
from app.core.originals import Original, Originals, find_original
from app.core.ports import Emit, Proposal, ToolOutcome
from app.core.record_ids import read_id
from app.core.requests import ToolSpec
from app.core.tokens import estimate_text
from app.errors import RecordError, ToolError
from app.tools.lines import NUMBER_MARK, Page, read_page
from app.tools.regex import find, one_text, require_expression
from app.tools.result_room import RoomNow

MAX_HITS = 40
MAX_MATCHES = 1_000
PATTERN_SECONDS = 5.0
RECORD_SECONDS = 20.0
"""A record of some hundred megabytes is searched in this time."""
HIT_CHARS = 300
KINDS = {"r": "tool result", "m": "message"}
_RANGE = re.compile(r"\s*(\d{1,12})\s*(?:[-–:]\s*(\d{1,12})?\s*)?")


@dataclass(frozen=True, slots=True)
class RecallTool:
    """Brings originals back."""

    source: Originals
    room: RoomNow
    seconds: float = RECORD_SECONDS

    read_only: ClassVar[bool] = True

    @property
    def spec(self) -> ToolSpec:
        """Name, description and input schema."""
        return ToolSpec(
            "recall",
            "Bring back the original of something that was cleared, truncated or compacted. With id: r17 is the 17th "
            "tool result, m5 the 5th message; lines picks a part, pattern only the matching lines. "
            "Without id: search everything ever said in this session for pattern and get the ids. "
            f"Numbers and {NUMBER_MARK} in front of lines are not part of the text.",
            {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "description": "r<N> or m<N>"},
                    "lines": {
                        "type": "string",
                        "description": "Such as 100-180, or 100 to the end",
                    },
                    "pattern": {"type": "string", "description": "Python regular expression"},
                },
                "required": [],
            },
        )

    def target(self, arguments: JsonObject) -> str:
        """Return the id, the part and the pattern."""
        parts = (arguments.get(key) for key in ("id", "lines", "pattern"))
        return " ".join(str(part) for part in parts if part)

    async def propose(self, arguments: JsonObject) -> Proposal:
        """Return what would be recalled."""
        return Proposal(f"recall {self.target(arguments)}", self.target(arguments))

    async def run(self, arguments: JsonObject, emit: Emit) -> ToolOutcome:
        """Bring it back."""
        try:
            return await self._recall(arguments)
        except RecordError as error:  # of a read: nothing was lost, and the turn goes on
            raise ToolError(str(error)) from error

    async def _recall(self, arguments: JsonObject) -> ToolOutcome:
        pattern: str | None = arguments.get("pattern") or None
        if pattern is not None:
            require_expression(pattern)
        if not arguments.get("id"):
            return await self._search(pattern)
        original = await self._original(arguments["id"])
        room = self.room().recall
        if pattern is not None:
            text, outcome = await _matching(original, pattern, room)
        else:
            first, last = _range(arguments.get("lines"))
            text, outcome = await asyncio.to_thread(_part, original, first, last, room)
        effects = Effects(target=self.target(arguments), outcome=outcome)
        if original.images and pattern is None:
            return ToolOutcome((Text(text), *original.images), effects)
        return ToolOutcome(text, effects)

    async def _search(self, pattern: str | None) -> ToolOutcome:
        if pattern is None:
            raise ToolError("give an id such as r17 or m5, or a pattern to search the record")
        request = {"pattern": pattern, "ignore_case": True, "context": 0, "limit": MAX_HITS + 1}
        results = await find(request, self.seconds, self.source.texts())
        lines = [f"{hit.path}: {_short(hit.text)}" for hit in results.matches[:MAX_HITS]]
        more = len(results.matches) > MAX_HITS
        room = self.room().recall
        while lines and sum(map(estimate_text, lines)) > room:
            lines.pop()
            more = True
        notes = ["[more matches are older: narrow the pattern]"] if more else []
        outcome = f"{len(lines)} matches" if lines else "no matches"
        if not results.in_time:
            notes.append(f"[stopped after {self.seconds:g} s: older messages were not searched]")
            outcome += ", stopped early"
        body = "\n".join((*lines, *notes)) or "(nothing in the record matches)"
        return ToolOutcome(body, Effects(target=pattern, outcome=outcome))

    async def _original(self, text: str) -> Original:
        wanted = read_id(text)
        if wanted is None:
            raise ToolError(
                f"{text!r} is no id; ids are r<N> for tool results and m<N> for messages"
            )
        original = await find_original(self.source, *wanted)
        if original is None:
            kind, number = wanted
            raise ToolError(f"there is no {KINDS[kind]} {kind}{number}")
        return original


def _part(original: Original, first: int, last: int | None, room: float) -> tuple[str, str]:
    if not original.text:
        return f"[{original.title}: no text]", "no text"
    limit = None if last is None else last - first + 1
    stream = io.BytesIO(original.text.encode("utf-8", "replace"))
    page = read_page(stream, offset=first, limit=limit, tokens=room)
    if not page.lines:
        raise ToolError(f"{original.title} ends at line {page.total:,}")
    extent = f"lines {page.first:,}-{page.last:,} of {page.total:,}"
    body = page.numbered if page.first > 1 or not page.ends_file else "\n".join(page.lines)
    return f"[{original.title}: {extent}{_next(page, last)}]\n{body}", extent


def _next(page: Page, last: int | None) -> str:
    if page.next_column:
        return f"; line {page.first} is too long to be shown whole: use pattern"
    if page.ends_file or (last is not None and page.last >= last):
        return ""
    return f"; next lines {page.last + 1}-"


async def _matching(original: Original, pattern: str, room: float) -> tuple[str, str]:
    request = {
        "pattern": pattern,
        "ignore_case": False,
        "context": 0,
        "limit": MAX_MATCHES,
    }
    results = await find(request, PATTERN_SECONDS, one_text(original.text))
    shown: list[str] = []
    for match in results.matches:
        text = f"{match.number}{NUMBER_MARK}{match.text}"
        room -= estimate_text(text) + 1
        if room < 0:
            break
        shown.append(text)
    count = len(results.matches)
    most = "at least " if count == MAX_MATCHES or not results.in_time else ""
    outcome = "1 matching line" if count == 1 else f"{most}{count:,} matching lines"
    more = f", the first {len(shown)} shown" if len(shown) < count else ""
    return "\n".join((f"[{original.title}: {outcome}{more}]", *shown)), outcome


def _range(text: str | None) -> tuple[int, int | None]:
    if not text:
        return 1, None
    found = _RANGE.fullmatch(text)
    if found is None or int(found.group(1)) < 1:
        raise ToolError(f"lines must be like 100-180 or 100, not {text!r}")
    first = int(found.group(1))
    last = int(found.group(2)) if found.group(2) else None
    if last is not None and last < first:
        raise ToolError(f"lines {text} ends before it begins")
    return first, last


def _short(line: str) -> str:
    line = " ".join(line.splitlines())
    return line if len(line) <= HIT_CHARS else f"{line[:HIT_CHARS]}…"
