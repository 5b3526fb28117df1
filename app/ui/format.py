"""Figures as people read them: tokens, seconds, money, shares, times and folders. Pure text, no widgets."""

from __future__ import annotations

from datetime import datetime
from pathlib import PurePath
from textwrap import wrap

from app.core.visible_text import one_line


def tokens(count: int) -> str:
    """Return a token count in full, ``18,240``."""
    return f"{count:,}"


def short_tokens(count: int) -> str:
    """Return a token count in at most five characters, ``940``, ``6.1k``, ``50k``, ``1.2M``."""
    if count < 1_000:
        return str(count)
    if count < 999_500:
        return _scaled(count / 1_000, "k")
    return _scaled(count / 1_000_000, "M")


def _scaled(value: float, unit: str) -> str:
    text = f"{value:.1f}" if value < 9.95 else f"{value:.0f}"
    return f"{text.removesuffix('.0')}{unit}"


def seconds(value: float) -> str:
    """Return a duration, ``0.4s``, ``12s``, ``3m 05s``, ``1h 20m``."""
    if value < 10:
        return f"{value:.1f}s"
    whole = round(value)
    if whole < 60:
        return f"{whole}s"
    if whole < 3_600:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole // 3_600}h {whole % 3_600 // 60:02d}m"


def cost(dollars: float | None) -> str:
    """Return US dollars, ``$0.12``; small sums keep their first two digits, and an unknown price is ``$?``."""
    if dollars is None:
        return "$?"
    if dollars == 0 or dollars >= 0.1:
        return f"${dollars:.2f}"
    return f"${dollars:.4f}" if dollars < 0.01 else f"${dollars:.3f}"


def percent(share: float) -> str:
    """Return a fraction of 1 as whole percent, ``36%``."""
    return f"{round(100 * share)}%"


def clock(time: str) -> str:
    """Return the local ``HH:MM`` of an ISO 8601 time; "" when it is none."""
    try:
        return datetime.fromisoformat(time).astimezone().strftime("%H:%M")
    except ValueError:
        return ""


def plural(count: int, noun: str) -> str:
    """Return ``1 result``, ``2 results``, ``1,200 results``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def hanging(name: str, text: str, *, indent: int, width: int) -> list[tuple[str, str]]:
    """Return a named text in lines, as (column of the name, line); what begins with two blanks is not wrapped."""
    lines: list[str] = []
    for line in text.split("\n"):
        lines += [line] if line.startswith("  ") else wrap(line, max(20, width - indent)) or [""]
    return [(f"{name if at == 0 else '':{indent}}", line) for at, line in enumerate(lines)]


LONGEST_PATH = 1_000


def short_path(path: PurePath, home: PurePath | None, width: int) -> str:
    """Return a folder in at most ``width`` characters: the home folder as ``~``, its front left out first."""
    text = one_line(str(path), LONGEST_PATH)
    if home is not None and path.is_relative_to(home):
        rest = path.relative_to(home).as_posix()
        text = "~" if rest == "." else one_line(f"~/{rest}", LONGEST_PATH)
    if len(text) <= width:
        return text
    return f"…{text[-(width - 1) :]}" if width > 1 else "…"
