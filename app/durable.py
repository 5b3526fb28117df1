"""The one way to replace a file: a reader sees the old bytes or the new ones, never a part, also after a crash."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress

_OPEN = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_BINARY", 0)
)


def replace_file(
    name: str,
    temporary: str,
    pieces: Iterable[bytes],
    *,
    mode: int,
    folder: int | None = None,
    finish: Callable[[int], None] = lambda _descriptor: None,
) -> None:
    """Write a file beside the one that it replaces, wait until it is on the disk, and put it in its place.

    The caller syncs the folder where the name itself must survive a power cut.

    Args:
        name: The file; one that is there is replaced.
        temporary: The name to write under, in the same folder; nothing of that name may be there.
        pieces: What the file shall hold.
        mode: Its permission bits, before the umask.
        folder: Descriptor of the folder that both names stand in; None when they are paths.
        finish: Called with the descriptor when all is written, to set what the new file shall have besides.

    Raises:
        OSError: It cannot be written; what was there is untouched and nothing is left behind.
    """
    descriptor = os.open(temporary, _OPEN, mode, dir_fd=folder)
    try:
        try:
            for piece in pieces:
                write_all(descriptor, piece)
            finish(descriptor)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte, however many calls that takes.

    Raises:
        OSError: Some could not be written.
    """
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
