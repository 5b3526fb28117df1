"""A session for other programs and for people: one Messages-API message a line, or Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator

from app.adapters.journal_reading import SessionReader
from app.core.history import Entry
from app.core.messages import message_to_json
from app.core.session_markdown import session_markdown


def as_jsonl(reader: SessionReader) -> Iterator[str]:
    """Yield each message of the record as a line of JSON with ``role`` and ``content``, oldest first."""
    for item in reader.walk():
        if isinstance(item, Entry):
            yield json.dumps(message_to_json(item.message)) + "\n"


def as_markdown(
    reader: SessionReader, *, thinking: bool = False, result_lines: int | None = None
) -> Iterator[str]:
    """Return the whole record as Markdown, piece by piece; see `session_markdown`."""
    return session_markdown(
        reader.folder.name,
        reader.walk(),
        undone=reader.undone(),
        thinking=thinking,
        result_lines=result_lines,
    )
