"""Full texts of results that were too large for the conversation, one file each."""

from __future__ import annotations

import re
from pathlib import Path

from app.adapters.journal_reading import OUTPUTS_FOLDER
from app.adapters.journal_writing import private_folder, unwritable, write_new

OUTPUT_BYTES_MAX = 64 << 20
"""Size of one stored output; what is longer is cut there, and says so."""

_NAME = re.compile(r"[\w-][\w.-]{0,120}")


def output_path(folder: Path, name: str) -> Path | None:
    """Return the file of a stored output, by its name or its path as people see it; None for a name that cannot be."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return folder / OUTPUTS_FOLDER / last if _NAME.fullmatch(last) else None


def store_output(folder: Path, name: str, text: str) -> Path:
    """Write a text whole, or up to the size limit.

    Raises:
        ValueError: The name is not a plain file name.
        RecordUnwritable: Nothing was left behind.
    """
    path = output_path(folder, name)
    if path is None or path.name != name:
        raise ValueError(f"not a plain file name: {name!r}")
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > OUTPUT_BYTES_MAX:
        data = _cut(data, OUTPUT_BYTES_MAX)
    try:
        private_folder(path.parent)
    except OSError as error:
        raise unwritable(path.parent, error) from error
    write_new(path, data)
    return path


def load_output(folder: Path, name: str) -> str | None:
    """Return a stored text, or None when there is none of that name."""
    path = output_path(folder, name)
    if path is None or not path.is_file():
        return None
    data = path.read_bytes()
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def _cut(data: bytes, limit: int) -> bytes:
    note = f"\n[cut here: {len(data) - limit:,} more bytes were not stored]\n".encode()
    end = limit - len(note)
    while end and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[:end] + note
