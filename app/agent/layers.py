"""The layers at work in a session: when each runs, and what its decision does to the dialogue."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from app.agent.channel import Tell
from app.agent.dialogue import Dialogue
from app.agent.request_notices import mended_notice
from app.agent.upkeep import Upkeep
from app.compaction.engine import Compaction, Situation, compact, summarize, with_summary
from app.compaction.entry import ResultDraft, Shortened, shorten_results
from app.compaction.guards import Guards
from app.compaction.micro import CacheState, ClearingPlan, plan_clearing
from app.compaction.working_files import ReadLines
from app.core.conversation import View
from app.core.events import (
    BudgetChanged,
    Compacted,
    CompactionStarted,
    Notice,
    RetryWaiting,
)
from app.core.ports import Clock
from app.core.reports import CompactionReport, Layer, Outcome
from app.core.requests import Answer, FieldDropped, ModelEvent, PicturesLeftOut, Purpose, RetryWait
from app.errors import CompactionRefused


class Layers:
    """Runs the layers on one dialogue and tells what they did."""

    def __init__(
        self,
        dialogue: Dialogue,
        read_lines: ReadLines,
        clock: Clock,
        upkeep: Upkeep,
    ) -> None:
        self._dialogue = dialogue
        self._upkeep = upkeep
        self._read_lines = read_lines
        self._clock = clock
        self.guards = Guards()
        self.reads_seen = False
        """Whether the endpoint's usage ever showed cache reads."""
        self.last_request: float | None = None
        """When the last request was answered; None where its view is gone: then the cache is cold."""
        self._answered_by = ""
        """The model that answered it; another one has another cache."""
        self.frontier: str | None = None
        """The result that layer 1 would clear next."""
        self.edited: str | None = None
        """The first result cleared since the last request."""
        self.previous_end: tuple[int, int] | None = None
        """Where the last answered request ended, as (message, block)."""
        self._held = ""
        """Sort of reason of the last hold since a clearing that was told: the same one is told once."""
        self._refused = False
        """Whether a refusal of layer 2 was told since the user spoke or a view was replaced."""

    async def shorten(self, drafts: Sequence[ResultDraft], tell: Tell) -> tuple[Shortened, ...]:
        """Layer 0: shorten what a step brings in; the full texts go to the record first."""
        dialogue = self._dialogue
        factor = dialogue.meter.factor
        shortened = shorten_results(
            drafts, dialogue.policy.entry, threshold=dialogue.frame.threshold, factor=factor
        )
        cut = [(d, s) for d, s in zip(drafts, shortened, strict=True) if s.stored]
        for draft, _ in cut:
            await dialogue.record.store_output(
                f"r{draft.number}.txt", draft.text if draft.full is None else draft.full()
            )
        if cut:
            before = dialogue.used + round(sum(s.before for s in shortened) * factor)
            after = dialogue.used + round(sum(s.after for s in shortened) * factor)
            ids = tuple(f"r{draft.number}" for draft, _ in cut)
            reason = f"{', '.join(ids)} too large to enter whole; the full text is stored"
            await self._tell_report(
                CompactionReport(Layer.ENTRY, Outcome.APPLIED, reason, before, after, ids), tell
            )
        return shortened

    async def micro(self, tell: Tell, *, force: bool = False) -> None:
        """Layer 1: clear old results, or say once why not."""
        dialogue = self._dialogue
        plan = plan_clearing(
            dialogue.conversation,
            dialogue.policy.micro,
            threshold=dialogue.frame.threshold,
            factor=dialogue.meter.factor,
            cache=CacheState(self.reads_seen, cold=self._is_cold()),
            excess=self._excess(),
            force=force,
        )
        self.frontier = plan.frontier
        if plan.stubs:
            await self._apply_clearing(plan, tell)
        elif plan.held and plan.kind != self._held:
            used = dialogue.used
            await self._tell_report(
                CompactionReport(
                    Layer.MICRO, Outcome.HELD, plan.reason, used, used, plan.held_results
                ),
                tell,
            )
            self._held = plan.kind

    async def _apply_clearing(self, plan: ClearingPlan, tell: Tell) -> None:
        dialogue = self._dialogue
        before = dialogue.used
        self.edited = next(ref.id for ref in dialogue.conversation.results if ref.id in plan.stubs)
        await dialogue.clear(plan.stubs, plan.bare)
        self._held = ""
        report = CompactionReport(
            Layer.MICRO,
            Outcome.APPLIED,
            plan.reason,
            before,
            dialogue.used,
            results=tuple(plan.stubs),
            transcript=dialogue.record.transcript,
        )
        await self._tell_report(report, tell)

    async def auto(self, tell: Tell) -> None:
        """Layer 2: compact when the next request would exceed the threshold."""
        dialogue = self._dialogue
        if not self._auto_due():
            return
        if refusal := self._refusal(manual=False):
            await self._refuse(Layer.AUTO, refusal, tell)
            return
        used, reach, trigger = dialogue.used, dialogue.reach, dialogue.trigger
        size = f"would be {used:,}" if used > trigger else f"could be {reach:,}"
        reason = f"the next request {size} tokens, over the threshold of {trigger:,}"
        await self.compact(Layer.AUTO, reason, "", tell)

    async def overflow(self, tell: Tell) -> bool:
        """Compact because the endpoint refused the request's size; return whether the view became smaller.

        Where the endpoint does not say how much it takes, it takes less than this: the new view is aimed below it.
        """
        before = self._dialogue.used
        reason = "the endpoint says the request is too long"
        await self.compact(Layer.AUTO, reason, "", tell, limit=before)
        return self._dialogue.used < before

    async def manual(self, reason: str, focus: str, tell: Tell) -> bool:
        """Layer 3: compact on request; return whether it was done."""
        off = "manual compaction is switched off (setting manual.enabled)"
        refusal = self._refusal(manual=True) if self._dialogue.policy.manual.enabled else off
        if refusal:
            await self._refuse(Layer.MANUAL, refusal, tell)
            return False
        report = await self.compact(Layer.MANUAL, reason, focus, tell)
        return report.outcome is Outcome.APPLIED

    async def compact(
        self, layer: Layer, reason: str, focus: str, tell: Tell, *, limit: int | None = None
    ) -> CompactionReport:
        """Make the summary and put the new view in force; a failure changes nothing.

        Args:
            layer: Who compacts.
            reason: Why.
            focus: What to keep exactly; "" for nothing special.
            tell: Is told what happens.
            limit: Tokens that are known to be too many; None when only the threshold counts.
        """
        tell(CompactionStarted(layer, reason))
        await self._dialogue.record.sync()
        started = self._clock.monotonic()
        compaction = await compact(
            self.situation(limit),
            layer=layer,
            reason=reason,
            focus=focus,
            model=self._dialogue.model,
            read_file=self._read_lines,
            tell=_model_tell(tell),
        )
        return await self._settle(compaction, started, tell)

    async def summary(self, focus: str, tell: Tell) -> str:
        """Return the summary that a compaction would use now, and apply nothing.

        Raises:
            CompactionRefused: The model gave none that could be used.
        """
        await self._dialogue.record.sync()
        summary = await summarize(
            self.situation(), focus=focus, model=self._dialogue.model, tell=_model_tell(tell)
        )
        sent = self._dialogue.conversation.sizes.total
        for charge in summary.charges:
            await self._dialogue.charge(charge, Purpose.SUMMARY, sent=sent)
        if not summary.text:
            raise CompactionRefused(summary.problem or "the model gave no usable summary")
        return summary.text

    async def apply_summary(self, text: str, focus: str, tell: Tell) -> CompactionReport:
        """Compact with a summary that the user has edited."""
        tell(CompactionStarted(Layer.MANUAL, "with the edited summary"))
        started = self._clock.monotonic()
        compaction = await with_summary(
            self.situation(),
            text,
            reason="you edited the summary",
            focus=focus,
            read_file=self._read_lines,
        )
        return await self._settle(compaction, started, tell)

    def situation(self, limit: int | None = None) -> Situation:
        """Return what the engine works on, with a threshold of at most ``limit`` tokens."""
        dialogue = self._dialogue
        threshold = dialogue.frame.threshold
        return Situation(
            conversation=dialogue.conversation,
            request=dialogue.request((), ()),
            meter=dialogue.meter,
            policy=dialogue.policy,
            threshold=threshold if limit is None else min(limit, threshold),
            window=dialogue.frame.window,
            todo=dialogue.todo,
            transcript=dialogue.record.transcript,
            max_output=dialogue.max_output,
            refused=limit is not None,
        )

    def answered(self, view: View, answer: Answer) -> None:
        """Note that a request with this view was answered: its cache entries stand now."""
        self.last_request = self._clock.monotonic()
        self._answered_by = self._dialogue.frame.model
        self.reads_seen = self.reads_seen or bool(answer.usage and answer.usage.cache_read)
        self.previous_end = (len(view.messages) - 1, len(view.messages[-1].content) - 1)
        self.edited = None

    def spoken(self) -> None:
        """Note that the user spoke: layer 2 may try again, and say again why it does not."""
        self.guards = self.guards.spoken()
        self._refused = False

    def restarted(self) -> None:
        """Note that another view is in force: nothing of it is in the cache."""
        self.last_request = None
        self._held, self._refused = "", False
        self.frontier = self.edited = self.previous_end = None

    async def _settle(self, compaction: Compaction, started: float, tell: Tell) -> CompactionReport:
        dialogue = self._dialogue
        report, before = compaction.report, dialogue.conversation
        sent = dialogue.conversation.sizes.total
        costs = [
            await dialogue.charge(charge, Purpose.SUMMARY, sent=sent)
            for charge in compaction.charges
        ]
        if compaction.window is not None:
            await dialogue.learn_window(compaction.window)
        known = [cost for cost in costs if cost is not None]
        if compaction.draft is not None:
            number = await dialogue.commit(compaction.draft)
            self.restarted()
            report = dataclasses.replace(report, commit=number, after=dialogue.used)
            await self._upkeep.renew_prompt(
                tell
            )  # other instructions are no part of what was saved
        report = dataclasses.replace(
            report,
            cost=sum(known) if len(known) == len(costs) else None,
            seconds=self._clock.monotonic() - started,
        )
        self.guards = self.guards.after(
            report, dialogue.ledger.account.requests, min_gain=dialogue.policy.auto.min_gain
        )
        report = await self._tell_report(report, tell)
        notice = self.guards.notice(before)
        if notice:
            tell(Notice(notice, warning=True))
        return report

    def _refusal(self, *, manual: bool) -> str | None:
        dialogue = self._dialogue
        return self.guards.refusal(
            dialogue.conversation,
            used=dialogue.used,
            floor_tokens=dialogue.meter.floor_tokens,
            threshold=dialogue.trigger,
            manual=manual,
        )

    async def _refuse(self, layer: Layer, reason: str, tell: Tell) -> None:
        """Tell a refusal; layer 2 asks before each request, so it is told once."""
        used = self._dialogue.used
        if layer is Layer.MANUAL or not self._refused:
            await self._tell_report(
                CompactionReport(layer, Outcome.REFUSED, reason, used, used), tell
            )
        self._refused = self._refused or layer is Layer.AUTO

    async def _tell_report(self, report: CompactionReport, tell: Tell) -> CompactionReport:
        report = await self._dialogue.report(report)
        tell(Compacted(report))
        tell(BudgetChanged(self._dialogue.budget()))
        return report

    def _auto_due(self) -> bool:
        dialogue = self._dialogue
        return dialogue.policy.auto.enabled and dialogue.reach > dialogue.trigger

    def _excess(self) -> int | None:
        """Return what layer 1 must clear to stand in for layer 2, None where that is not due.

        A view that is soon at the threshold again would be written to the cache by both. Where layer 2 may not run,
        whatever goes helps.
        """
        if not self._auto_due():
            return None
        dialogue = self._dialogue
        if self._refusal(manual=False):
            return 0
        return dialogue.used - round(dialogue.policy.micro.due_share * dialogue.trigger)

    def _is_cold(self) -> bool:
        if self.last_request is None or self._answered_by != self._dialogue.frame.model:
            return True
        idle = self._clock.monotonic() - self.last_request
        return idle > self._dialogue.policy.micro.cache_seconds


def _model_tell(tell: Tell) -> Callable[[ModelEvent], None]:
    """Pass on what the user should see of a summary call: its waits, and what was mended."""

    def pass_on(event: ModelEvent) -> None:
        if isinstance(event, RetryWait):
            tell(RetryWaiting(event.attempt, event.attempts, event.seconds, event.reason))
        elif isinstance(event, FieldDropped | PicturesLeftOut):
            tell(mended_notice(event))

    return pass_on
