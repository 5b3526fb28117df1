"""Full texts of results that were too large for the conversation, one file each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from app.adapters.journal_reading import OUTPUTS_FOLDER
from app.adapters.journal_writing import private_folder, unwritable, write_new

OUTPUT_BYTES_MAX = 64 << 20
"""Size of one stored output; what is longer is cut there, and says so."""

NOTE_BYTES = 100
"""Room for the words that tell of a cut."""

_NAME = re.compile(r"[\w-][\w.-]{0,120}")


def output_path(folder: Path, name: str) -> Path | None:
    """Return the file of a stored output, by its name or its path as people see it; None for a name that cannot be."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return folder / OUTPUTS_FOLDER / last if _NAME.fullmatch(last) else None


def store_output(folder: Path, name: str, pieces: Iterable[str]) -> Path:
    """Write the pieces of a text whole, or up to the size limit.

    Raises:
        ValueError: The name is not a plain file name.
        RecordUnwritable: Nothing was left behind.
    """
    path = output_path(folder, name)
    if path is None or path.name != name:
        raise ValueError(f"not a plain file name: {name!r}")
    try:
        private_folder(path.parent)
    except OSError as error:
        raise unwritable(path.parent, error) from error
    encoded = (piece.encode("utf-8", "surrogatepass") for piece in pieces)
    write_new(path, _bounded(encoded, OUTPUT_BYTES_MAX))
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


def _bounded(pieces: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Yield the pieces up to a limit, and then how much was left out."""
    room = limit - NOTE_BYTES
    held = b""
    """What fits only if nothing follows, because the note needs its room."""
    lost = 0
    for piece in pieces:
        if lost:
            lost += len(piece)
            continue
        whole = held + piece
        if len(whole) <= room:
            yield whole
            room -= len(whole)
            held = b""
        elif len(whole) <= room + NOTE_BYTES:
            held = whole
        else:
            end = room
            while end and whole[end] & 0xC0 == 0x80:
                end -= 1
            yield whole[:end]
            lost = len(whole) - end
    if lost:
        yield f"\n[cut here: {lost:,} more bytes were not stored]\n".encode()
    else:
        yield held
