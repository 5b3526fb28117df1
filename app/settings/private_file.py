"""Files of ours in the home: replaced as a whole, readable by their owner only."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Write a file with mode 0600 in a folder with mode 0700; a reader sees the old or the new text.

    A symbolic link is followed, so that a file kept elsewhere stays there.

    Raises:
        OSError: It cannot be written; the old file is untouched.
    """
    import tempfile

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    target = path.resolve()
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
