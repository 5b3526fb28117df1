"""A session for other programs and for people: one Messages-API message a line, or Markdown."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

from app.adapters.journal_reading import SessionReader
from app.core.history import Entry
from app.core.messages import message_to_json
from app.core.session_markdown import session_markdown
from app.durable import replace_file
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


def export_session(folder: Path, path: Path, *, replace: bool = False) -> None:
    """Write a session to a file: Markdown, or JSON lines where its name ends in ``.jsonl``.

    Raises:
        SessionNotFound: There is no session in the folder.
        RecordUnwritable: The file exists already, unless it may be replaced, or cannot be written.
    """
    reader = SessionReader(folder)
    write_export(path, as_text(reader, path), replace=replace)


def as_text(
    reader: SessionReader, path: Path | None, *, format: str | None = None, thinking: bool = False
) -> Iterator[str]:
    """Return a session in a format, or in the one that a file's name asks for; see `as_jsonl` and `as_markdown`."""
    named = "jsonl" if path is not None and path.suffix == JSONL else "markdown"
    as_lines = (format or named) == "jsonl"
    return as_jsonl(reader) if as_lines else as_markdown(reader, thinking=thinking)


def write_export(path: Path, pieces: Iterable[str], *, replace: bool = False) -> None:
    """Write an export that only its owner can read: it holds whatever the session held.

    What fails leaves the file that was there, or none. Pipes and devices are written to as they are.

    Raises:
        RecordUnwritable: The file exists already, unless it may be replaced, or cannot be written.
    """
    data = (piece.encode() for piece in pieces)
    try:
        if not replace:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            try:
                _put(path, data)
            except BaseException:
                path.unlink(missing_ok=True)
                raise
        elif path.exists() and not path.is_file():
            with path.open("wb") as file:
                file.writelines(data)
        else:
            _put(path.resolve(), data)
    except FileExistsError:
        raise RecordUnwritable(
            f"{path} exists already",
            hint="Name another file; with pal sessions export, --force replaces it.",
        ) from None
    except OSError as error:
        raise RecordUnwritable(f"cannot write {path}: {error.strerror}") from error


def _put(path: Path, data: Iterable[bytes]) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    replace_file(str(path), str(temporary), data, mode=0o600)
