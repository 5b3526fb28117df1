"""A compaction in one line, as long as the room allows."""

from __future__ import annotations

from app.core.reports import CompactionReport, Layer, Outcome

_NAMES = {
    Layer.ENTRY: "shortened on entry",
    Layer.MICRO: "micro compact",
    Layer.AUTO: "auto compact",
    Layer.MANUAL: "manual compact",
}


def thousands(tokens: int) -> str:
    """Return a token count as people say it: ``840``, ``12.1k``, ``1.2M``."""
    if tokens < 1_000:
        return str(tokens)
    if tokens < 999_950:
        return f"{tokens / 1_000:.1f}k"
    return f"{tokens / 1_000_000:.1f}M"


def divider_text(report: CompactionReport, room: int) -> str:
    """Return what a divider says of a compaction, its last parts left out until it fits ``room`` characters."""
    name = _NAMES[report.layer]
    if report.outcome is not Outcome.APPLIED:
        name = f"{name} {report.outcome.value}"
    parts = [name, f"{thousands(report.before)} → {thousands(report.after)}"]
    if report.before > 0 and report.saved > 0:
        parts.append(f"saved {round(100 * report.saved / report.before)} %")
    hints = ("click or press enter for details", "enter for details", "")
    for hint in hints:
        text = " · ".join([*parts, hint] if hint else parts)
        if len(text) <= room:
            return text
    return " · ".join(parts[:2])
