"""Pictures for a message: by path, as a terminal writes it when a file is dropped on it, or from the clipboard."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from app.errors import ToolError
from app.tools.images import MAX_BYTES, image_block, media_type
from app.ui.prompt.folded import Picture

CLIPBOARD_SECONDS = 3.0
"""How long a clipboard program may take."""
MOST_PATHS = 20
_MOST_CHARS = 8_192
_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp")


def dropped_pictures(text: str, folder: Path) -> list[Path]:
    """Return the picture files that a pasted text consists of; [] when it is anything else.

    Terminals write a dropped file as its path: plain, in quotes, with backslashes before blanks, or as a file address.
    """
    text = text.strip()
    if not text or len(text) > _MOST_CHARS or "\n" in text or not _names_picture(text):
        return []
    whole = _path(text, folder)
    if whole is not None:
        return [whole]
    try:
        words = shlex.split(text)
    except ValueError:
        return []
    paths = [_path(word, folder) for word in words[: MOST_PATHS + 1]]
    found = [path for path in paths if path is not None]
    return found if len(found) == len(paths) <= MOST_PATHS else []


def read_picture(path: Path) -> Picture:
    """Return the picture of a file. Blocks.

    Raises:
        ToolError: It cannot be read, or the API would refuse it.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ToolError(f"{path.name} cannot be read: {error.strerror}") from error
    return picture_of(data, path.name)


def picture_of(data: bytes, name: str) -> Picture:
    """Return the picture that bytes hold.

    Raises:
        ToolError: They hold none that the API takes.
    """
    kind = media_type(data[:16])
    if kind is None:
        raise ToolError(f"{name} is no PNG, JPEG, GIF or WebP picture")
    block, (width, height) = image_block(data, kind)
    return Picture(block, f"{name}, {width}x{height}")


def clipboard_picture(environ: Mapping[str, str] = os.environ) -> bytes | None:
    """Return the picture in the system's clipboard; None when there is none or nothing can read it. Blocks."""
    for command in _programs(environ):
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                timeout=CLIPBOARD_SECONDS,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0 and media_type(done.stdout[:16]):
            return done.stdout
    return None


def _programs(environ: Mapping[str, str]) -> list[Sequence[str]]:
    """Return the command lines that may write the clipboard's picture, those of the running desktop only."""
    found: list[Sequence[str]] = []
    if sys.platform == "darwin":
        found.append(("pngpaste", "-"))
    if environ.get("WAYLAND_DISPLAY"):
        found.append(("wl-paste", "--no-newline", "--type", "image/png"))
    if environ.get("DISPLAY"):
        found.append(("xclip", "-selection", "clipboard", "-target", "image/png", "-out"))
    return [command for command in found if shutil.which(command[0])]


def _names_picture(text: str) -> bool:
    return text.rstrip("'\" ").lower().endswith(_ENDINGS)


def _path(word: str, folder: Path) -> Path | None:
    if word.startswith("file://"):
        word = unquote(urlsplit(word).path)
    if not word.lower().endswith(_ENDINGS) or "\0" in word:
        return None
    path = folder / Path(word).expanduser()
    try:
        return path if path.is_file() else None
    except OSError:
        return None
