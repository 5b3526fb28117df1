"""The clipboard of the terminal, also through tmux and screen, which keep a program's own sequence to themselves."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Mapping

SCREEN_CHUNK = 240
"""Characters that screen passes on in one piece."""
TMUX_SECONDS = 2.0
_TMUX_COMMANDS = (("tmux", "load-buffer", "-w", "-"), ("tmux", "load-buffer", "-"))
"""With -w tmux hands its buffer on to the terminal; it is known from 3.2 on."""


def screen_sequence(text: str, environ: Mapping[str, str] = os.environ) -> str:
    """Return what copies a text from inside screen; "" elsewhere."""
    if not environ.get("STY"):
        return ""
    encoded = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
    sequence = f"\x1b]52;c;{encoded}\x07"
    pieces = (sequence[at : at + SCREEN_CHUNK] for at in range(0, len(sequence), SCREEN_CHUNK))
    return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)


def is_inside_tmux(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether tmux draws what is written here."""
    return bool(environ.get("TMUX"))


def copy_by_tmux(text: str) -> bool:
    """Put a text into tmux's newest buffer and, where tmux can, into the terminal's clipboard; tell whether it took it.

    Blocks for up to some seconds.
    """
    data = text.encode("utf-8", "replace")
    for command in _TMUX_COMMANDS:
        try:
            done = subprocess.run(
                command, input=data, capture_output=True, timeout=TMUX_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        if done.returncode == 0:
            return True
    return False
