"""A folder's ``.env``: read without interpolation and without touching the environment."""

from __future__ import annotations

import io
import stat
from pathlib import Path

LARGEST = 1_000_000
"""Bytes of a settings file that is still read."""


def read_small_text(path: Path) -> tuple[str | None, str]:
    """Return a settings file's text and what is wrong with it; (None, "") when there is no file.

    Only regular files are opened: a pipe would block for ever.
    """
    try:
        facts = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None, ""
    except OSError as error:
        return None, f"cannot be read ({error.strerror})"
    if not stat.S_ISREG(facts.st_mode):
        return None, "is not a regular file"
    if facts.st_size > LARGEST:
        return None, f"is larger than {LARGEST:,} bytes"
    try:
        return path.read_bytes().decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        return None, "is not UTF-8 text"
    except OSError as error:
        return None, f"cannot be read ({error.strerror})"


def read_dotenv(path: Path) -> tuple[dict[str, str], str]:
    """Return all values of a ``.env`` and what is wrong with it, "" when nothing is.

    A line that cannot be read is left out and named by its number.
    """
    text, problem = read_small_text(path)
    if text is None:
        return {}, problem
    if "\0" in text:
        return {}, "is not text"
    from dotenv.parser import parse_stream

    values: dict[str, str] = {}
    bad: list[int] = []
    for binding in parse_stream(io.StringIO(text)):
        if binding.error:
            bad.append(binding.original.line)
        elif binding.key is not None and binding.value is not None:
            values[binding.key] = binding.value
    if not bad:
        return values, ""
    lines = ", ".join(map(str, bad[:5])) + (", …" if len(bad) > 5 else "")
    return values, f"has lines that are not NAME=value and are left out: {lines}"
