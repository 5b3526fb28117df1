"""The open session as a file for people or programs, read from the record page by page."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.messages import message_to_json
from app.core.session_markdown import message_markdown, title_markdown

if TYPE_CHECKING:
    from app.agent.session import Session
    from app.core.history import Entry

PAGE = 200
SHOWN = 60
"""Lines of a tool result that are written out in Markdown; JSON lines hold all of it."""
JSONL = ".jsonl"


def export_path(session: Session, argument: str) -> Path:
    """Return where an export goes: a path, relative to the project; ``jsonl`` or nothing for a name of its own."""
    name = f"palimpsest-{session.name}"
    words = {"": f"{name}.md", "markdown": f"{name}.md", "jsonl": f"{name}{JSONL}"}
    return session.folder / Path(words.get(argument.lower(), argument)).expanduser()


async def write_session(session: Session, path: Path) -> int:
    """Write every message to a new or existing file; return how many. Only its owner can read a new one.

    One Messages-API message a line for a name that ends in ``.jsonl``, else Markdown.

    Raises:
        OSError: The file cannot be written.
        PalError: The record cannot be read.
    """
    ends = await _page_ends(session)
    count = 0
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        if path.suffix != JSONL:
            file.write(title_markdown(session.name))
        for before in reversed(ends):
            entries = await session.page(before, PAGE)
            file.writelines(_written(entries, as_jsonl=path.suffix == JSONL))
            count += len(entries)
    return count


def _written(entries: Iterable[Entry], *, as_jsonl: bool) -> Iterable[str]:
    for entry in entries:
        if as_jsonl:
            yield json.dumps(message_to_json(entry.message)) + "\n"
        else:
            yield from message_markdown(entry, result_lines=SHOWN)


async def _page_ends(session: Session) -> list[int]:
    """Return before which message each page ends, the newest page first; no page is kept in memory."""
    ends: list[int] = []
    before: int | None = None
    while page := await session.page(before, PAGE):
        ends.append(page[-1].number + 1)
        before = page[0].number
    return ends
