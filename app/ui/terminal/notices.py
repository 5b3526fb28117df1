"""The sequences that set the terminal's title and call the user back to it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from app.core.visible_text import one_line

KEEP_TITLE = "\x1b[22;0t"
GIVE_TITLE_BACK = "\x1b[23;0t"
BELL = "\x07"
MOST_CHARS = 200


class Notify(StrEnum):
    """How the user is called when the terminal has not the focus."""

    AUTO = "auto"
    """A desktop notification where the terminal is known to show them, else the bell."""
    BELL = "bell"
    DESKTOP = "desktop"
    OFF = "off"


_OSC_9 = frozenset({"iTerm.app", "WezTerm", "ghostty", "kitty"})
"""Values of TERM_PROGRAM, and words of TERM, of terminals that show ``OSC 9 ; text``."""
_OSC_777 = ("foot", "rxvt")
"""Words of TERM of those that show ``OSC 777 ; notify ; title ; text``."""


def title(text: str) -> str:
    """Return the sequence that sets the title of window and tab."""
    return f"\x1b]0;{one_line(text, MOST_CHARS)}\x07"


def notice(head: str, text: str, how: Notify, environ: Mapping[str, str]) -> str:
    """Return what calls the user: a desktop notification, a bell, both, or "".

    Args:
        head: What it is about, a few words.
        text: One line.
        how: The user's choice.
        environ: Tells which terminal this is.
    """
    if how is Notify.OFF:
        return ""
    inside_tmux = bool(environ.get("TMUX"))
    desktop = "" if how is Notify.BELL else _desktop(head, text, how, environ)
    if inside_tmux and desktop:
        desktop = f"\x1bPtmux;{desktop.replace(chr(27), chr(27) * 2)}\x1b\\"
    # tmux passes the sequence on only when it is told to, so that the bell goes with it
    return desktop + (BELL if not desktop or inside_tmux else "")


def _desktop(head: str, text: str, how: Notify, environ: Mapping[str, str]) -> str:
    head = one_line(head, 60).replace(";", ",")
    text = one_line(text, MOST_CHARS)
    names = (
        environ.get("TERM_PROGRAM", ""),
        environ.get("LC_TERMINAL", ""),
        environ.get("TERM", ""),
    )
    if any(word in name for name in names for word in _OSC_777):
        return f"\x1b]777;notify;{head};{text}\x07"
    known = "KITTY_WINDOW_ID" in environ or any(word in name for name in names for word in _OSC_9)
    return f"\x1b]9;{head}: {text}\x07" if known or how is Notify.DESKTOP else ""
