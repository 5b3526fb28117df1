"""Layers 2 and 3: one compaction from its reason to its draft. The caller syncs the record before and commits after.

Trouble with the model is reported and never raised; a failed compaction changes nothing. What the calls cost and how
long all of it took, the caller adds to the report.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.compaction.asking import SMALL_SHARE, Asked, ask
from app.compaction.rebuild import NewView, Prepared, prepare, rebuild
from app.compaction.situation import Compaction, Situation
from app.compaction.summary import HEADINGS, told
from app.compaction.working_files import ReadLines
from app.core.arriving import Charge
from app.core.messages import Message
from app.core.ports import Model
from app.core.reports import EDITED, CompactionReport, Layer, Outcome
from app.core.requests import ModelEvent

NOTHING = "there is nothing to compact yet"
NO_GAIN = "what must stay is about all that is there: there is nothing to gain"
LEAST_GAIN = 0.05
"""Fraction of the next request that even the shortest summary must save, before a model is asked for one."""
SHORTEST = "\n\n".join(f"## {name}\nNone." for name in HEADINGS)
"""The shortest summary there can be; when not even this one helps, no model is asked."""
NO_MATCH = "nothing matches the focus, only the wording was steered"

__all__ = ["Compaction", "Situation", "Summary", "compact", "summarize", "with_summary"]


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary that was asked for and not applied yet."""

    text: str
    """"" when none could be made."""
    method: str = ""
    charges: tuple[Charge, ...] = ()
    problem: str = ""
    """Why there is none."""


async def compact(
    situation: Situation,
    *,
    layer: Layer,
    reason: str,
    focus: str,
    model: Model,
    read_file: ReadLines,
    tell: Callable[[ModelEvent], None],
) -> Compaction:
    """Make the compaction of a conversation.

    Args:
        situation: What is compacted.
        layer: AUTO or MANUAL.
        reason: Why, for the report.
        focus: What to keep exactly; "" for nothing special.
        model: Who writes the summary.
        read_file: Reads lines of a file from disk, for the working files.
        tell: Is told what streams, for progress and retries.
    """
    run = _Run(situation, layer, reason, focus)
    if not situation.conversation.entries:
        return run.ended(Outcome.REFUSED, NOTHING)
    prepared = await prepare(situation, layer, focus, read_file)
    if prepared.keep_from == 0:
        return run.ended(Outcome.REFUSED, NOTHING)
    least = 0.0 if situation.refused else LEAST_GAIN
    if rebuild(prepared, SHORTEST, lean=True).after >= (1 - least) * situation.before:
        return run.ended(Outcome.REFUSED, NO_GAIN)
    asked = await ask(
        situation,
        focus=focus,
        model=model,
        fits=lambda text: _unfit(situation, _best(prepared, text)),
        tell=tell,
    )
    if asked.error is not None:
        return run.ended(Outcome.FAILED, told(asked.problem), asked)
    return run.applied(prepared, asked)


async def summarize(
    situation: Situation,
    *,
    focus: str,
    model: Model,
    tell: Callable[[ModelEvent], None],
) -> Summary:
    """Ask for a summary without applying it, so that the user may read and change it."""
    asked = await ask(situation, focus=focus, model=model, fits=lambda _: "", tell=tell)
    return Summary(asked.text, asked.method, asked.charges, told(asked.problem))


async def with_summary(
    situation: Situation, text: str, *, reason: str, focus: str, read_file: ReadLines
) -> Compaction:
    """Make the compaction around a summary that the user has read and perhaps changed."""
    run = _Run(situation, Layer.MANUAL, reason, focus)
    if not situation.conversation.entries:
        return run.ended(Outcome.REFUSED, NOTHING)
    prepared = await prepare(situation, Layer.MANUAL, focus, read_file)
    if prepared.keep_from == 0:
        return run.ended(Outcome.REFUSED, NOTHING)
    if not text.strip():
        return run.ended(Outcome.REFUSED, "the summary is empty")
    view = _best(prepared, text.strip())
    if view.after >= situation.before:
        return run.ended(Outcome.REFUSED, "the view would not become smaller")
    return run.applied(prepared, Asked(text.strip(), EDITED))


def _best(prepared: Prepared, text: str | None) -> NewView:
    """Return the full view, or the lean one where the full one takes more than its share."""
    situation = prepared.situation
    view = rebuild(prepared, text)
    if view.after <= situation.policy.auto.accept_share * situation.threshold:
        return view
    return min(view, rebuild(prepared, text, lean=True), key=lambda one: one.after)


def _unfit(situation: Situation, view: NewView) -> str:
    """Return why a view is not accepted; "" when it is."""
    if view.after >= situation.before:
        return "the view would not become smaller; write much less"
    auto = situation.policy.auto
    allowance = min(auto.summary_cap, round(SMALL_SHARE * situation.threshold))
    limit = max(round(auto.accept_share * situation.threshold), view.must + allowance)
    if view.after > limit:
        return f"the view would take {view.after:,} tokens of {limit:,}; write less"
    return ""


@dataclass(frozen=True, slots=True)
class _Run:
    """One compaction on its way to a report."""

    situation: Situation
    layer: Layer
    reason: str
    focus: str

    def ended(self, outcome: Outcome, why: str, asked: Asked | None = None) -> Compaction:
        """Return a compaction that changes nothing."""
        before = self.situation.before
        charges = asked.charges if asked else ()
        report = CompactionReport(
            layer=self.layer,
            outcome=outcome,
            reason=why,
            before=before,
            after=before,
            focus=self.focus,
        )
        return Compaction(report, None, charges, asked.window if asked else None)

    def applied(self, prepared: Prepared, asked: Asked) -> Compaction:
        """Return the compaction around an accepted summary, or around a digest when there is none."""
        situation = self.situation
        view = _best(prepared, asked.text or None)
        if not asked.text and view.after >= situation.before:
            why = f"no summary ({told(asked.problem)}), and a digest by code would not be smaller"
            return self.ended(Outcome.REFUSED, why, asked)
        head: Message = view.draft.head(situation.transcript)
        report = CompactionReport(
            layer=self.layer,
            outcome=Outcome.APPLIED,
            reason=self._why(prepared, asked),
            before=situation.before,
            after=view.after,
            messages=view.messages,
            kept=len(view.draft.kept),
            results=tuple(view.draft.stubs),
            summary=head.text,
            focus=self.focus,
            transcript=situation.transcript,
            method=asked.method or "digest",
        )
        return Compaction(report, view.draft, asked.charges, asked.window)

    def _why(self, prepared: Prepared, asked: Asked) -> str:
        reasons = [self.reason]
        if self.focus and not prepared.matches:
            reasons.append(NO_MATCH)
        if not asked.text:
            reasons.append(f"no summary ({told(asked.problem)}), so a digest by code")
        return "; ".join(part for part in reasons if part)
