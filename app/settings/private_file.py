"""Files of ours in the home: replaced as a whole, readable by their owner only."""

from __future__ import annotations

import os
from pathlib import Path

from app.durable import replace_file


def write_private(path: Path, content: str | bytes) -> None:
    """Write a file with mode 0600 in a folder with mode 0700; a reader sees the old or the new content.

    A symbolic link is followed, so that a file kept elsewhere stays there.

    Raises:
        OSError: It cannot be written; the old file is untouched.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{os.urandom(4).hex()}")
    replace_file(
        str(target),
        str(temporary),
        [content.encode() if isinstance(content, str) else content],
        mode=0o600,
    )
