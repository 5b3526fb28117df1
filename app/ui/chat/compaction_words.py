"""A compaction in one line, as long as the room allows."""

from __future__ import annotations

from app.core.reports import CompactionReport, Outcome
from app.ui.format import percent, tokens
from app.ui.layer_names import NAMES


def divider_text(report: CompactionReport, room: int, *, taken_back: bool = False) -> str:
    """Return what a divider says of a compaction, its last parts left out until it fits ``room`` characters."""
    name = NAMES[report.layer].run
    if report.outcome is not Outcome.APPLIED:
        name = f"{name} {report.outcome.value}"
    if taken_back:
        name = f"{name} ↺ taken back"
    parts = [name, f"{tokens(report.before)} → {tokens(report.after)}"]
    if report.before > 0 and report.saved > 0:
        parts.append(f"saved {percent(report.saved / report.before)}")
    hints = ("click or press enter for details", "enter for details", "")
    for hint in hints:
        text = " · ".join([*parts, hint] if hint else parts)
        if len(text) <= room:
            return text
    return " · ".join(parts[:2])
