"""The whole conversation as Markdown, read from the record page by page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.core.history import Entry
from app.core.messages import Block, Image, Text, Thinking, ToolResult, ToolUse

if TYPE_CHECKING:
    from app.agent.session import Session

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
    entries = [entry for page in reversed(pages) for entry in page]
    head = f"# {session.name}\n\nModel {session.model}, folder {session.folder}\n"
    path.write_text("\n".join([head, *map(entry_markdown, entries)]), encoding="utf-8")
    return len(entries)


def entry_markdown(entry: Entry) -> str:
    """Return one message: what was said as it is, calls and results as fenced text."""
    spoken = entry.message.role == "user" and bool(entry.spoken)
    who = "You" if spoken else "Tools" if entry.message.role == "user" else "Palimpsest"
    parts = [f"## {who} ({entry.id}, {entry.time})"]
    parts += [part for block in entry.message.content if (part := _block(block))]
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> str:
    match block:
        case Text(text):
            return text
        case ToolUse(_, name, arguments):
            shown = "\n".join(f"{key}: {value}" for key, value in arguments.items())
            return f"**{name}**\n\n{_fenced(shown)}"
        case ToolResult():
            return _fenced(_head(block.text))
        case Thinking():
            return ""
        case Image():
            return "(image)"
        case _:
            return ""


def _head(text: str) -> str:
    lines = text.split("\n")
    if len(lines) <= SHOWN:
        return text
    return "\n".join([*lines[:SHOWN], f"… {len(lines) - SHOWN} more lines in the record"])


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
