"""Compaction reports as people read them: rows and entries of the log, notices. Pure text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.content import Content

from app.core.figures import moment
from app.core.reports import DIGEST, REDONE, CompactionReport, Layer, Outcome
from app.core.visible_text import one_line
from app.ui.format import clock, cost, percent, plural, seconds
from app.ui.layer_names import NAMES

if TYPE_CHECKING:
    from app.agent.ledger import Run

STYLES = {
    Outcome.APPLIED: "",
    Outcome.HELD: "$text-muted",
    Outcome.REFUSED: "$text-warning",
    Outcome.FAILED: "$text-error",
    Outcome.UNDONE: "$text-accent",
}


def taken_back_at(report: CompactionReport, reports: Iterable[CompactionReport]) -> str | None:
    """Return when a compaction was undone, ISO 8601; None when it was not, or is no compaction."""
    if not report.commit or report.outcome is not Outcome.APPLIED:
        return None
    undone = (r for r in reports if r.outcome is Outcome.UNDONE and r.commit == report.commit)
    return next((r.time for r in undone), None)


def row(report: CompactionReport) -> str:
    """Return the log's row: it begins exactly with the report's headline, then what the run touched and cost."""
    return " · ".join([one_line(report.headline, 300), *details(report)])


def entry(report: CompactionReport, *, taken_back: bool = False) -> Content:
    """Return the log's entry: headline, then what the run touched and cost, then where the history is saved."""
    style = "$text-muted" if taken_back else STYLES[report.outcome]
    found = details(report)
    if taken_back:
        found.insert(0, "↺ taken back")
    content = Content.styled(one_line(report.headline, 300), style)
    if found:
        content = Content.assemble(content, ("\n  " + " · ".join(found), "$text-muted"))
    for line in report.lines[1:]:
        content = Content.assemble(content, ("\n  " + one_line(line, 300), "$text-muted"))
    return content


def run_line(number: int, run: Run) -> Content:
    """Return the line of the log from which on another run of the program worked on the session."""
    after = f", after request {run.requests:,}" if run.requests else ""
    return Content.styled(f"── run {number} · {moment(run.time)}{after} ──", "$text-muted")


def older_line(count: int) -> Content:
    """Return the row that stands for older events which are not listed yet."""
    return Content.styled(f"↑ {plural(count, 'older event')}", "$text-muted")


def details(report: CompactionReport) -> list[str]:
    """Return what a run saved, touched, cost and when it was, in short words."""
    found: list[str] = []
    if report.outcome is Outcome.APPLIED and report.before > 0:
        found.append(f"-{percent(report.saved / report.before)}")
    if report.results:
        found.append(plural(len(report.results), "result"))
    if report.messages:
        found.append(plural(report.messages, "message"))
    if report.seconds >= 0.1:
        found.append(seconds(report.seconds))
    if report.cost is not None and report.cost > 0:
        found.append(cost(report.cost))
    if report.method not in ("", "summary"):
        found.append(report.method)
    if time := clock(report.time):
        found.append(time)
    return found


def announcement(report: CompactionReport) -> str:
    """Return one sentence for the chat when the user should hear of a run; "" when the log's row is enough."""
    match report.layer, report.outcome:
        case Layer.AUTO | Layer.MANUAL, Outcome.REFUSED | Outcome.FAILED:
            verb = "was refused" if report.outcome is Outcome.REFUSED else "failed"
            return f"Compaction {verb}: {report.reason}"
        case Layer.AUTO | Layer.MANUAL, Outcome.APPLIED if report.method == DIGEST:
            return f"Compacted without a summary, by code alone: {report.reason}"
        case _, Outcome.UNDONE:
            then = report.reason.rpartition("; ")[2]
            return (
                f"The {NAMES[report.layer].run} is undone: the view before it is back, "
                f"{report.before:,} -> {report.after:,} tokens; "
                f"{then}. /compact redo takes the undo back."
            )
        case Layer.AUTO | Layer.MANUAL, Outcome.APPLIED if report.method == REDONE:
            return f"{report.reason[:1].upper()}{report.reason[1:]}; what was said since stands behind it."
        case Layer.MICRO, Outcome.FAILED:
            return f"Clearing old results failed: {report.reason}"
        case _:
            return ""
