"""What is said when the program itself fails: two lines, and a report in a private file; neither holds a secret."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from app import __version__
from app.core.own_folders import STATE_FOLDER
from app.errors import PalError

REPORT_FILE = "crash.txt"
MESSAGE_CHARS = 300

REFUSED = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS})
"""What writing to a full or broken disk, or to a terminal that is gone, fails with."""

Mask = Callable[[str], str]
"""Returns a text with its secrets masked."""


def crash_error(error: BaseException, mask: Mask) -> PalError:
    """Write the report of a failure of the program; return what is told to the user."""
    what, details = _reported(error, mask)
    said = "A session that was open is saved: pal --continue goes on with it."
    return PalError(f"this program failed: {what}", hint=f"{said}{details}")


def told_error(error: Exception, mask: Mask) -> PalError:
    """Return what is told of an error that nothing inside expected.

    What a disk or a closed terminal refused is no failure of this program, and needs no report.
    """
    if isinstance(error, OSError) and error.errno in REFUSED:
        where = error.filename if isinstance(error.filename, str) else "the output"
        return PalError(f"{where} cannot be written: {error.strerror}")
    return crash_error(error, mask)


def tool_fault(error: Exception, mask: Mask) -> str:
    """Write the report of a failure inside a tool; return what its call is answered with."""
    what, details = _reported(error, mask)
    return f"the tool failed, which is a fault of this program: {what}.{details}"


def _reported(error: BaseException, mask: Mask) -> tuple[str, str]:
    """Write the report; return what failed in one line, and where the report is, if it could be written.

    The report has the stack without the values of variables, which may hold keys and the user's words.
    """
    from app.core.secret_masks import KnownSecrets
    from app.core.visible_text import one_line, visible_text
    from app.settings.private_file import write_private

    known = KnownSecrets(os.urandom(16))

    def clean(text: str) -> str:
        return known(mask(text))

    stack = "".join(traceback.format_exception(error))
    about = f"palimpsest {__version__}, Python {sys.version.split()[0]}, {sys.platform}\n"
    path = Path.home() / STATE_FOLDER / REPORT_FILE
    what = one_line(clean(f"{type(error).__name__}: {error}"), MESSAGE_CHARS)
    try:
        write_private(path, about + visible_text(clean(stack)))
    except OSError:
        return what, ""
    return what, f" The details are in {path}"


@contextmanager
def crashes_told(mask: Mask) -> Iterator[None]:
    """Turn what nothing inside expected into an error that is told to a person.

    Raises:
        PalError: Something inside failed.
    """
    try:
        yield
    except (PalError, BrokenPipeError):
        raise
    except Exception as error:
        raise told_error(error, mask) from None


def mask_environment(text: str) -> str:
    """Mask what the environment holds for us; for failures before the settings are read."""
    from app.core.masking import hide
    from app.settings.specs import SPECS

    names = [name for spec in SPECS if spec.secret for name in spec.env]
    return hide(text, [value for name in names if (value := os.environ.get(name, "").strip())])
