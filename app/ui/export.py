"""The whole conversation as Markdown, read from the record page by page."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.session_markdown import session_markdown

if TYPE_CHECKING:
    from app.agent.session import Session
    from app.core.history import Entry

PAGE = 200
SHOWN = 60
"""Lines of a tool result that are written out."""


async def write_markdown(session: Session, path: Path) -> int:
    """Write every message of the session to a new or existing file; return how many.

    Raises:
        OSError: The file cannot be written.
        PalError: The record cannot be read.
    """
    pages: list[tuple[Entry, ...]] = []
    before: int | None = None
    while page := await session.page(before, PAGE):
        pages.append(page)
        before = page[0].number
    entries = chain.from_iterable(reversed(pages))
    with path.open("w", encoding="utf-8") as file:
        file.writelines(session_markdown(session.name, entries, result_lines=SHOWN))
    return sum(map(len, pages))
