"""read_file: shows a text file by pages of whole lines, or a picture."""

from __future__ import annotations

import asyncio
import io
import os
from dataclasses import dataclass
from typing import BinaryIO, ClassVar

from app.core.effects import Effects, Span
from app.core.messages import JsonObject, Text
from app.core.ports import Emit, Proposal, ToolOutcome
from app.core.requests import ToolSpec
from app.errors import ToolError
from app.tools import images
from app.tools.lines import NUMBER_MARK, Page, read_page
from app.tools.result_room import RoomNow
from app.tools.text_files import SNIFF_BYTES, byte_order_mark, decode, looks_binary
from app.tools.workspace import Resolved, Workspace

MAX_WIDE_BYTES = 32_000_000
"""Files in UTF-16 or UTF-32 are converted as a whole, up to this size."""

WORKING_TOKENS = 40_000.0
"""Most that is read of one working file, in estimated tokens; the layers take less."""


@dataclass(frozen=True, slots=True)
class ReadFileTool:
    """Reads files."""

    workspace: Workspace
    room: RoomNow

    read_only: ClassVar[bool] = True

    @property
    def spec(self) -> ToolSpec:
        """Name, description and input schema."""
        return ToolSpec(
            "read_file",
            "Read a text file, or look at a picture (PNG, JPEG, GIF, WebP). "
            f"Each line comes as its number, the sign {NUMBER_MARK}, and then the line exactly as it stands in the "
            f"file: what precedes {NUMBER_MARK} is not part of the file, what follows it is, blanks and tabs included. "
            "Long files come in pages of whole lines; a note at the end says which lines these are and the next "
            "offset. Read a file before you edit it, and once is enough.",
            {
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "description": "The file, relative to the project folder",
                    },
                    "offset": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "First line, from 1",
                    },
                    "limit": {"type": "integer", "minimum": 1, "description": "Most lines to read"},
                    "column": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "Only to go on inside one very long line: its next character",
                    },
                },
                "required": ["path"],
            },
        )

    def target(self, arguments: JsonObject) -> str:
        """Return the path."""
        return str(arguments.get("path", ""))

    async def propose(self, arguments: JsonObject) -> Proposal:
        """Return which file would be read."""
        resolved = self.workspace.readable(arguments["path"])
        return Proposal(f"read {resolved.shown}", str(resolved.path))

    async def run(self, arguments: JsonObject, emit: Emit) -> ToolOutcome:
        """Read a page."""
        return await asyncio.to_thread(self._read, arguments)

    def _read(self, arguments: JsonObject) -> ToolOutcome:
        resolved = self.workspace.readable(arguments["path"])
        with self.workspace.open(resolved) as file:
            size = os.fstat(file.fileno()).st_size
            start = file.read(SNIFF_BYTES)
            file.seek(0)
            kind = images.media_type(start[:16])
            if kind is not None:
                return self._picture(resolved, file, kind)
            if looks_binary(start):
                raise ToolError(f"{resolved.shown} is a binary file ({size:,} bytes)")
            page = read_page(
                _as_utf8(file, start, size),
                offset=arguments.get("offset", 1),
                limit=arguments.get("limit"),
                tokens=self.room().page,
                column=arguments.get("column", 1),
            )
        self.workspace.remember(resolved)
        return self._outcome(resolved, page, start, arguments)

    def _outcome(
        self, resolved: Resolved, page: Page, start: bytes, arguments: JsonObject
    ) -> ToolOutcome:
        if not page.lines:
            return _nothing(resolved, page)
        notes = _notes(page, start)
        text = page.numbered
        if notes:
            text += "\n" + "\n".join(f"[{note}]" for note in notes)
        effects = Effects(
            target=resolved.shown,
            outcome=_extent(page),
            read=(Span(resolved.relative, page.first, page.last, page.total),),
        )
        return ToolOutcome(text, effects)

    def _picture(self, resolved: Resolved, file: BinaryIO, kind: str) -> ToolOutcome:
        data = file.read(images.MAX_BYTES + 1)
        if len(data) > images.MAX_BYTES:
            size = os.fstat(file.fileno()).st_size
            raise ToolError(
                f"{resolved.shown}: the picture is too large: {size / 1e6:.1f} MB, "
                f"at most {images.MAX_BYTES / 1e6:.1f} MB"
            )
        block, (width, height) = images.image_block(data, kind)
        self.workspace.remember(resolved, data=data)
        what = f"{kind.removeprefix('image/').upper()} picture, {width} x {height} pixels"
        effects = Effects(
            target=resolved.shown, outcome=what, read=(Span(resolved.relative, 1, 1, 1),)
        )
        return ToolOutcome((Text(f"{resolved.shown}: {what}"), block), effects)


async def read_lines(workspace: Workspace, path: str, first: int, last: int) -> str | None:
    """Return lines ``first`` to ``last`` of a file as it is now, or None when it is gone or no text.

    For the working files after a compaction: the file counts as seen, so that it may be edited.
    """
    return await asyncio.to_thread(_lines_now, workspace, path, first, last)


def _lines_now(workspace: Workspace, path: str, first: int, last: int) -> str | None:
    try:
        resolved = workspace.readable(path)
        with workspace.open(resolved) as file:
            size = os.fstat(file.fileno()).st_size
            start = file.read(SNIFF_BYTES)
            file.seek(0)
            if images.media_type(start[:16]) is not None or looks_binary(start):
                return None
            text = _as_utf8(file, start, size)
            limit = max(0, last - first + 1)
            page = read_page(text, offset=first, limit=limit, tokens=WORKING_TOKENS)
    except (ToolError, OSError):
        return None
    workspace.remember(resolved)
    return "\n".join(page.lines) if page.lines else None


def _as_utf8(file: BinaryIO, start: bytes, size: int) -> BinaryIO:
    mark, encoding = byte_order_mark(start)
    if encoding == "utf-8":
        return _after(file, len(mark))
    if size > MAX_WIDE_BYTES:
        raise ToolError(
            f"the file is {encoding.upper()} and larger than {MAX_WIDE_BYTES // 1_000_000} MB"
        )
    return io.BytesIO(decode(file.read()).text.encode("utf-8"))


def _after(file: BinaryIO, mark: int) -> BinaryIO:
    return _Marked(file, mark) if mark else file  # type: ignore[return-value]


class _Marked:
    """A file whose first bytes, the mark, are not there."""

    def __init__(self, file: BinaryIO, mark: int) -> None:
        self._file = file
        self._mark = mark
        file.seek(mark)

    def read(self, size: int) -> bytes:
        return self._file.read(size)

    def readline(self, size: int) -> bytes:
        return self._file.readline(size)

    def tell(self) -> int:
        return self._file.tell() - self._mark

    def seek(self, position: int, whence: int = 0) -> int:
        return self._file.seek(position + (self._mark if whence == 0 else 0), whence) - self._mark


def _nothing(resolved: Resolved, page: Page) -> ToolOutcome:
    if page.total == 0:
        note, outcome = f"[{resolved.shown} is empty]", "empty file"
    else:
        end = f"line {page.total:,}" if page.total is not None else "an earlier line"
        raise ToolError(f"{resolved.shown} ends at {end}; offset {page.first:,} is beyond that")
    span = Span(resolved.relative, 1, 0, 0)
    return ToolOutcome(note, Effects(target=resolved.shown, outcome=outcome, read=(span,)))


def _extent(page: Page) -> str:
    total = f"{page.total:,}" if page.total is not None else "more"
    if page.first == page.last:
        return f"line {page.first:,} of {total}"
    return f"lines {page.first:,}-{page.last:,} of {total}"


def _notes(page: Page, start: bytes) -> list[str]:
    notes: list[str] = []
    if page.next_column:
        last = page.column + len(page.lines[0]) - 1
        notes.append(
            f"line {page.first:,}, characters {page.column:,}-{last:,}; "
            f"the line goes on: offset {page.first}, column {page.next_column}"
        )
    elif not page.ends_file:
        notes.append(f"{_extent(page)}; next offset {page.last + 1}")
    elif page.first > 1 or page.column > 1:
        notes.append(f"{_extent(page)}; this is the end")
    if page.is_lossy:
        notes.append(
            "not valid UTF-8: other bytes are shown as Latin-1, and edit_file will refuse this file"
        )
    encoding = byte_order_mark(start)[1]
    if encoding != "utf-8":
        notes.append(f"encoded in {encoding.upper()}; edits keep that")
    if page.has_crlf:
        notes.append(
            "line ends are CRLF; edits keep them, write only LF in the texts for edit_file"
        )
    return notes
