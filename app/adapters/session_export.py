"""A session for other programs and for people: one Messages-API message a line, or Markdown."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from app.adapters.journal_reading import SessionReader
from app.core.history import Entry
from app.core.messages import message_to_json
from app.core.session_markdown import session_markdown
from app.errors import RecordUnwritable

JSONL = ".jsonl"
"""A file name that ends so asks for JSON lines."""


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
        counting=reader.counting(),
        thinking=thinking,
        result_lines=result_lines,
    )


def export_session(folder: Path, path: Path) -> None:
    """Write a session to a new file: Markdown, or JSON lines where its name ends in ``.jsonl``.

    Raises:
        SessionNotFound: There is no session in the folder.
        RecordUnwritable: The file exists already or cannot be written.
    """
    reader = SessionReader(folder)
    write_export(path, as_jsonl(reader) if path.suffix == JSONL else as_markdown(reader))


def write_export(path: Path, pieces: Iterable[str], *, replace: bool = False) -> None:
    """Write an export that only its owner can read: it holds whatever the session held.

    Raises:
        RecordUnwritable: The file exists already, unless it may be replaced, or cannot be written.
    """
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if replace else os.O_EXCL)
    try:
        handle = os.open(path, flags, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(pieces)
    except FileExistsError:
        raise RecordUnwritable(
            f"{path} exists already",
            hint="Name another file; with pal sessions export, --force replaces it.",
        ) from None
    except OSError as error:
        raise RecordUnwritable(f"cannot write {path}: {error.strerror}") from error
