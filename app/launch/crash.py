"""What is said when the program itself fails: two lines, and a report in a private file; neither holds a secret."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from app import __version__
from app.errors import PalError
from app.launch.masking import STATE_FOLDER

REPORT_FILE = "crash.txt"
MESSAGE_CHARS = 300


def crash_error(error: BaseException, mask: Callable[[str], str]) -> PalError:
    """Write the report of a failure of the program; return what is told to the user.

    The report has the stack without the values of variables, which may hold keys and the user's words.
    """
    from app.core.secret_masks import KnownSecrets
    from app.core.visible_text import one_line
    from app.settings.private_file import write_private

    known = KnownSecrets(os.urandom(16))

    def clean(text: str) -> str:
        return known(mask(text))

    stack = "".join(traceback.format_exception(error))
    about = f"palimpsest {__version__}, Python {sys.version.split()[0]}, {sys.platform}\n"
    path = Path.home() / STATE_FOLDER / REPORT_FILE
    said = "A session that was open is saved: pal --continue goes on with it."
    try:
        write_private(path, about + clean(stack))
        said += f" The details are in {path}"
    except OSError:
        pass
    what = one_line(clean(f"{type(error).__name__}: {error}"), MESSAGE_CHARS)
    return PalError(f"this program failed: {what}", hint=said)


@contextmanager
def crashes_told(mask: Callable[[str], str]) -> Iterator[None]:
    """Turn a failure of the program into an error that is told to a person.

    Raises:
        PalError: Something inside failed.
    """
    try:
        yield
    except (PalError, BrokenPipeError):
        raise
    except Exception as error:
        raise crash_error(error, mask) from None


def mask_environment(text: str) -> str:
    """Mask what the environment holds for us; for failures before the settings are read."""
    from app.core.masking import hide
    from app.settings.specs import SPECS

    names = [name for spec in SPECS if spec.secret for name in spec.env]
    return hide(text, [value for name in names if (value := os.environ.get(name, "").strip())])
