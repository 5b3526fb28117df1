"""The layers at work in a session: rows, order, undo, and what the next request carries."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from app.adapters.journal import Journal
from app.agent.layers import Layers
from app.agent.restoring import report_from_json
from app.core.budget import Usage
from app.core.events import Compacted, ErrorRaised, SummaryPreviewed, TurnEnd
from app.core.messages import Message, Text, Thinking
from app.core.policy import AfterCompact, EntryPolicy, ManualPolicy, MicroRule
from app.core.reports import CompactionReport, Layer, Outcome
from app.core.requests import Answer, ModelRequest, StopReason
from app.errors import Busy, ContextOverflow
from tests.agent.rig import Rig, all_valid, ended, of, read, small
from tests.fakes.model import ScriptedModel, calls, says

SUMMARY = "\n\n".join(
    f"## {heading}\n- noted"
    for heading in (
        "What was accomplished",
        "Current state",
        "Key decisions and why",
        "Failed approaches",
        "Open questions",
        "Next step",
    )
)
QUIET = small(50_000, rule=MicroRule.OFF)
PARAGRAPH = "words and more words about the code, "


def wants_summary(request: ModelRequest) -> bool:
    return "What was accomplished" in request.messages[-1].text


def answers(*steps: Answer, summary: str = SUMMARY):
    """Answer with the steps in turn, and every request for a summary with the summary."""
    left = list(steps)

    def answer(request: ModelRequest) -> Answer:
        if wants_summary(request):
            return says(summary)
        return left.pop(0)

    return [answer] * 60


def thought(text: str) -> Answer:
    block = Thinking({"type": "thinking", "thinking": "hm", "signature": "s"})
    return Answer(Message("assistant", (block, Text(text))), None, StopReason.END_TURN)


def looks(count: int, size: int = 40) -> list[Answer]:
    return [
        calls((f"c{n}", "look", {"text": f"{n} {PARAGRAPH}", "times": size})) for n in range(count)
    ]


async def test_the_fourth_result_clears_the_first_and_the_request_carries_the_stub(
    tmp_path: Path,
) -> None:
    policy = small(50_000, rule=MicroRule.EVERY_TURN, preserve_tools=frozenset())
    rig = Rig(tmp_path, ScriptedModel([*looks(4), says("ok")]), policy=policy)
    session = await rig.open()
    events = await read(session.submit("look around"))
    (report,) = [e.report for e in of(events, Compacted)]
    assert report.layer is Layer.MICRO and report.results == ("r1",)
    assert report.headline == f"[micro_compact] {report.before} -> {report.after} tokens"
    assert report.after < report.before
    first = rig.model.requests[-1].messages[2].tool_results[0]
    assert first.text.startswith("[Previous: used look") and "recall r1" in first.text
    all_valid(rig.model)
    await session.close()


async def test_layer_2_runs_in_the_middle_of_a_tool_loop_and_the_loop_goes_on(
    tmp_path: Path,
) -> None:
    saved: list[int] = []

    def answer(request: ModelRequest) -> Answer:
        if wants_summary(request):
            lines = (tmp_path / session.transcript).read_text().splitlines()
            saved.append(len(lines))
            return says(SUMMARY)
        return steps.pop(0)

    steps = [*looks(6), says("All seen.")]
    rig = Rig(tmp_path, ScriptedModel([answer] * 20), policy=small(3_000, rule=MicroRule.OFF))
    session = await rig.open()
    events = await read(session.submit("please look at everything"))
    assert ended(events).end is TurnEnd.DONE and ended(events).text == "All seen."
    reports = [e.report for e in of(events, Compacted) if e.report.outcome is Outcome.APPLIED]
    assert reports and all(r.layer is Layer.AUTO for r in reports)
    assert reports[0].headline.startswith("[auto_compact triggered]")
    assert reports[0].lines[1].startswith("[transcript saved: .transcripts/")
    assert saved[0] >= 4, "the transcript is on disk before the summary is asked for"
    head = rig.model.requests[-1].messages[0].text
    assert head.startswith("[Conversation compressed. Transcript: .transcripts/")
    assert "please look at everything" in head
    all_valid(rig.model)
    await session.close()


async def test_the_record_is_synced_before_a_summary_is_asked_for(tmp_path: Path) -> None:
    order: list[str] = []

    class Watched(Journal):
        async def sync(self) -> None:
            order.append("synced")
            await super().sync()

    def answer(request: ModelRequest) -> Answer:
        if wants_summary(request):
            order.append("asked")
            return says(SUMMARY)
        return steps.pop(0)

    steps = [*looks(6, size=200), says("ok")]
    policy = small(50_000, rule=MicroRule.OFF)
    rig = Rig(tmp_path, ScriptedModel([answer] * 20), policy=policy, journal=Watched)
    session = await rig.open()
    await read(session.submit("look"))
    order.clear()
    await read(session.compact())
    assert order[:2] == ["synced", "asked"]
    await session.close()


async def test_the_budget_shows_the_new_figure_at_once(tmp_path: Path) -> None:
    rig = Rig(
        tmp_path,
        ScriptedModel(answers(*looks(6, size=200), says("ok"))),
        policy=small(3_000, rule=MicroRule.OFF),
    )
    session = await rig.open()
    events = await read(session.submit("look"))
    report = next(e.report for e in of(events, Compacted) if e.report.outcome is Outcome.APPLIED)
    assert 0 < report.after < report.before
    assert report.after <= 3_000
    await session.close()


async def test_the_models_compact_tool_compacts_and_the_same_turn_goes_on(tmp_path: Path) -> None:
    steps = [
        *looks(6, size=200),
        calls(("k", "compact", {"focus": "the second feature"})),
        says("Now the second feature."),
    ]
    rig = Rig(tmp_path, ScriptedModel(answers(*steps)), policy=small(50_000, rule=MicroRule.OFF))
    session = await rig.open()
    events = await read(session.submit("the first feature is done, start the second"))
    (report,) = [e.report for e in of(events, Compacted)]
    assert report.layer is Layer.MANUAL and report.headline.startswith("[manual compact]")
    assert ended(events).text == "Now the second feature."
    all_valid(rig.model)
    await session.close()


async def test_with_wait_the_turn_ends_after_the_compact_tool(tmp_path: Path) -> None:
    policy = small(50_000, rule=MicroRule.OFF)
    policy = replace(policy, manual=ManualPolicy(after_compact=AfterCompact.WAIT))
    rig = Rig(
        tmp_path,
        ScriptedModel(answers(*looks(6, size=200), calls(("k", "compact", {})))),
        policy=policy,
    )
    session = await rig.open()
    assert ended(await read(session.submit("compact"))).end is TurnEnd.WAITING
    await session.close()


async def test_compacting_twice_in_a_row_is_refused_with_the_reason(tmp_path: Path) -> None:
    policy = small(50_000, rule=MicroRule.OFF)
    rig = Rig(tmp_path, ScriptedModel(answers(*looks(6, size=200), says("ok"))), policy=policy)
    session = await rig.open()
    await read(session.submit("look"))
    first = [e.report for e in of(await read(session.compact()), Compacted)][-1]
    asked = len(rig.model.requests)
    second = [e.report for e in of(await read(session.compact()), Compacted)][-1]
    assert first.outcome is Outcome.APPLIED
    assert second.outcome is Outcome.REFUSED and second.reason
    assert len(rig.model.requests) == asked
    await session.close()


async def test_a_refusal_of_layer_2_is_told_once_until_the_user_speaks(tmp_path: Path) -> None:
    policy = small(60, rule=MicroRule.EVERY_TURN, preserve_tools=frozenset())
    policy = replace(policy, entry=EntryPolicy(enabled=False))
    script = [*looks(6), says("ok"), *looks(2), says("ok")]
    rig = Rig(tmp_path, ScriptedModel(script), policy=policy)
    session = await rig.open()

    async def refusals(text: str) -> int:
        reports = [e.report for e in of(await read(session.submit(text)), Compacted)]
        assert Outcome.APPLIED in {r.outcome for r in reports if r.layer is Layer.MICRO}
        return sum(r.outcome is Outcome.REFUSED for r in reports)

    assert await refusals("look") == 1
    assert await refusals("again") == 1
    await session.close()


async def test_what_layer_1_holds_is_told_again_after_a_clearing(tmp_path: Path) -> None:
    policy = small(50_000, rule=MicroRule.PAYBACK, batch_tokens=1_000, preserve_tools=frozenset())
    rig = Rig(tmp_path, ScriptedModel([*looks(10), says("ok")]), policy=policy)
    session = await rig.open()
    await read(session.submit("look"))
    told = [report.reason for report in session.reports]
    cleared = [report.outcome for report in session.reports].index(Outcome.APPLIED)
    batch = "they go together from 1,000 on; press c to clear now"
    held = [reason.endswith(batch) for reason in told]
    assert sum(held[:cleared]) == 1 and sum(held[cleared:]) == 1
    await session.close()


async def test_compacting_at_idle_starts_no_turn(tmp_path: Path) -> None:
    policy = small(50_000, rule=MicroRule.OFF)
    rig = Rig(tmp_path, ScriptedModel(answers(*looks(6, size=200), says("ok"))), policy=policy)
    session = await rig.open()
    await read(session.submit("look"))
    before = sum(not wants_summary(r) for r in rig.model.requests)
    await read(session.compact("the code"))
    assert sum(not wants_summary(r) for r in rig.model.requests) == before
    await session.close()


async def test_undo_brings_the_old_view_back_and_keeps_layer_2_quiet(tmp_path: Path) -> None:
    policy = small(50_000, rule=MicroRule.OFF)
    rig = Rig(
        tmp_path,
        ScriptedModel(answers(*looks(6, size=200), says("ok"), says("more"))),
        policy=policy,
    )
    session = await rig.open()
    await read(session.submit("look"))
    old = session.conversation.view().messages
    await read(session.compact())
    assert session.conversation.view().messages != old
    report = [e.report for e in of(await read(session.undo()), Compacted)][-1]
    assert report.outcome is Outcome.UNDONE
    assert session.conversation.view().messages == old
    assert session.budget.threshold >= 50_000
    await read(session.submit("and now"))
    assert rig.model.requests[-1].messages[: len(old)] == old
    all_valid(rig.model)
    await session.close()


async def test_a_compaction_after_an_undo_ends_the_quiet_of_layer_2_also_over_a_resume(
    tmp_path: Path,
) -> None:
    rig = Rig(
        tmp_path,
        ScriptedModel(answers(*looks(6, size=200), says("ok"))),
        policy=small(50_000, rule=MicroRule.OFF),
    )
    session = await rig.open()
    await read(session.submit("look"))
    rig.policy = replace(rig.policy, auto=replace(rig.policy.auto, threshold=4_000))
    session.set_policy(rig.policy)
    await read(session.compact())
    await read(session.undo())
    assert session.budget.threshold > session.budget.used > 4_000
    await read(session.compact())
    assert session.budget.threshold == 4_000
    await session.close()
    again = await rig.open(session.name)
    assert again.budget.threshold == 4_000
    await again.close()


async def test_a_threshold_that_the_user_sets_ends_the_quiet_after_an_undo_also_over_a_resume(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, ScriptedModel(answers(*looks(6, size=200), says("ok"))), policy=QUIET)
    session = await rig.open()
    await read(session.submit("look"))
    await read(session.compact())
    report = [e.report for e in of(await read(session.undo()), Compacted)][-1]
    assert f"layer 2 waits until {session.budget.threshold:,} tokens" in report.reason
    session.set_policy(replace(QUIET, micro=replace(QUIET.micro, keep_recent=2)))
    assert session.budget.threshold >= 50_000
    rig.policy = replace(QUIET, auto=replace(QUIET.auto, threshold=4_000))
    session.set_policy(rig.policy)
    assert session.budget.threshold == 4_000
    await session.close()
    again = await rig.open(session.name)
    assert again.budget.threshold == 4_000
    await again.close()


async def test_redo_brings_an_undone_compaction_back_with_what_was_said_since(
    tmp_path: Path,
) -> None:
    steps = answers(*looks(6, size=200), says("ok"), thought("more"), says("and on"))
    rig = Rig(tmp_path, ScriptedModel(steps), policy=QUIET)
    session = await rig.open()
    await read(session.submit("look"))
    await read(session.compact())
    compacted = session.conversation.view().messages
    asked = len(rig.model.requests)
    await read(session.undo())
    await read(session.redo())
    assert session.conversation.view().messages == compacted
    await read(session.undo())
    await read(session.submit("and now"))
    await read(session.redo())
    view = session.conversation.view().messages
    assert view[0] == compacted[0] and "more" in view[-1].text
    assert not any(isinstance(block, Thinking) for m in view for block in m.content)
    assert len(rig.model.requests) == asked + 1, "no summary was asked for"
    assert session.reports[-1].outcome is Outcome.APPLIED
    assert session.reports[-1].after == session.budget.used < session.reports[-1].before
    await read(session.submit("on"))
    all_valid(rig.model)
    await session.close()
    again = await rig.open(session.name)
    assert again.conversation.view().messages[: len(view)] == view
    await again.close()


async def test_a_compaction_that_cannot_be_made_anew_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(tmp_path, ScriptedModel(answers(*looks(6, size=200), says("ok"))), policy=QUIET)
    session = await rig.open()
    await read(session.submit("look"))
    await read(session.compact())
    compacted = session.conversation.view().messages

    async def fails(*_: object) -> CompactionReport:
        return CompactionReport(Layer.MANUAL, Outcome.FAILED, "the model is away", 9, 9)

    monkeypatch.setattr(Layers, "compact", fails)
    await read(session.again())
    assert session.conversation.view().messages == compacted
    await session.close()


async def test_redo_takes_undos_back_newest_first_until_another_compaction_is_made(
    tmp_path: Path,
) -> None:
    steps = answers(*looks(6, size=200), says("ok"), *looks(6, size=200), says("ok"))
    rig = Rig(tmp_path, ScriptedModel(steps), policy=QUIET)
    session = await rig.open()
    await read(session.submit("look"))
    await read(session.compact())
    first = session.conversation.head
    await read(session.submit("look again"))
    await read(session.compact())
    second = session.conversation.view().messages
    await read(session.undo())
    await read(session.undo())
    assert session.conversation.head is None
    await read(session.redo())
    assert session.conversation.head == first
    await read(session.redo())
    assert session.conversation.view().messages == second
    assert (
        of(await read(session.redo()), ErrorRaised)[0].message == "There is no undo to take back."
    )
    await read(session.undo())
    await read(session.compact())
    made = session.conversation.view().messages
    assert of(await read(session.redo()), ErrorRaised)
    assert session.conversation.view().messages == made
    await session.close()


async def test_a_compaction_is_made_anew_unless_the_user_edited_its_summary(tmp_path: Path) -> None:
    summaries = [SUMMARY, SUMMARY.replace("noted", "anew")]
    left = [*looks(6, size=200), says("ok")]

    def answer(request: ModelRequest) -> Answer:
        if not wants_summary(request):
            return left.pop(0)
        return says(summaries.pop(0) if summaries else SUMMARY)

    rig = Rig(tmp_path, ScriptedModel([answer] * 60), policy=QUIET)
    session = await rig.open()
    await read(session.submit("look"))
    await read(session.compact())
    await read(session.again())
    assert session.conversation.head is not None and "anew" in session.conversation.head.text
    await read(session.undo())
    (preview,) = of(await read(session.preview()), SummaryPreviewed)
    await read(session.apply_preview(preview, SUMMARY.replace("noted", "my own words")))
    head = session.conversation.head
    assert head is not None and "my own words" in head.text
    (refused,) = of(await read(session.again()), ErrorRaised)
    assert "throw your words away" in refused.message and session.conversation.head == head
    await session.close()


async def test_tools_are_told_the_threshold_that_the_window_leaves(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedModel(), window=16_000)
    session = await rig.open()
    assert session.policy.auto.threshold == 50_000
    assert rig.needs.room().policy.auto.threshold == session.budget.threshold < 16_000
    await session.close()


async def test_tools_are_told_how_many_tokens_the_model_makes_of_a_text(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedModel([says("ok", usage=Usage(input=30_000, output=1))]))
    session = await rig.open()
    await read(session.submit("x " * 10_000))
    assert rig.needs.room().factor == session.budget.factor > 1
    await session.close()


async def test_undo_without_a_compaction_is_refused(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedModel())
    session = await rig.open()
    events = await read(session.undo())
    assert [e.message for e in of(events, ErrorRaised)] == ["There is no compaction to undo."]
    assert not of(events, Compacted) and not session.reports
    await session.close()


async def test_a_summary_call_that_fails_changes_nothing_or_falls_back_to_a_digest(
    tmp_path: Path,
) -> None:
    steps = looks(6, size=200)

    def answer(request: ModelRequest) -> Answer:
        if wants_summary(request):
            raise Busy("529: overloaded")
        return steps.pop(0) if steps else says("ok")

    rig = Rig(tmp_path, ScriptedModel([answer] * 30), policy=small(50_000, rule=MicroRule.OFF))
    session = await rig.open()
    await read(session.submit("look"))
    old = session.conversation.view().messages
    report = [e.report for e in of(await read(session.compact()), Compacted)][-1]
    if report.outcome is Outcome.FAILED:
        assert session.conversation.view().messages == old
    else:
        assert report.method == "digest"
    assert ended(await read(session.submit("go on"))).end is TurnEnd.DONE
    await session.close()


async def test_a_request_refused_for_its_size_is_compacted_below_that_size(tmp_path: Path) -> None:
    def small_server(request: ModelRequest) -> Answer:
        if rig.model.bill(request, says("")).input > limit:
            raise ContextOverflow("prompt is too long")
        return says(SUMMARY if wants_summary(request) else "ok")

    limit = 100_000
    rig = Rig(tmp_path, ScriptedModel([small_server] * 60))
    session = await rig.open()
    for number in range(6):
        await read(session.submit(f"{number} {PARAGRAPH * 40}"))
    limit = session.budget.used
    events = await read(session.submit(f"the last {PARAGRAPH * 40}"))
    assert ended(events).end is TurnEnd.DONE, "far below the threshold, yet too much for the server"
    (report,) = [event.report for event in of(events, Compacted)]
    assert report.after < report.before / 2
    all_valid(rig.model)
    await session.close()


async def test_a_message_too_large_for_the_server_does_not_block_the_next_one(
    tmp_path: Path,
) -> None:
    def small_server(request: ModelRequest) -> Answer:
        if rig.model.bill(request, says("")).input > 8_000:
            raise ContextOverflow("prompt is too long")
        return says(SUMMARY if wants_summary(request) else "ok")

    rig = Rig(tmp_path, ScriptedModel([small_server] * 60))
    session = await rig.open()
    assert ended(await read(session.submit(f"MARKER {PARAGRAPH * 1_000}"))).end is TurnEnd.FAILED
    assert ended(await read(session.submit("never mind"))).end is TurnEnd.DONE
    sent = "".join(message.text for message in rig.model.requests[-1].messages)
    assert "MARKER" in sent and "characters left out" in sent and "never mind" in sent
    all_valid(rig.model)
    await session.close()


async def test_a_server_that_says_how_much_was_sent_corrects_the_estimate(tmp_path: Path) -> None:
    overflow = ContextOverflow("prompt is too long", sent=5_000, window=4_000)
    rig = Rig(tmp_path, ScriptedModel([overflow]))
    session = await rig.open()
    events = await read(session.submit("hi"))
    assert ended(events).end is TurnEnd.FAILED
    assert session.budget.used == 5_000
    assert session.budget.threshold == 2_000, "a window smaller than an answer is shared"
    await session.close()


async def test_a_preview_changes_nothing_until_it_is_applied_as_edited(tmp_path: Path) -> None:
    policy = small(50_000, rule=MicroRule.OFF)
    rig = Rig(tmp_path, ScriptedModel(answers(*looks(6, size=200), says("ok"))), policy=policy)
    session = await rig.open()
    await read(session.submit("look"))
    old = session.conversation.view().messages
    (preview,) = of(await read(session.preview("the code")), SummaryPreviewed)
    assert "Next step" in preview.text and session.conversation.view().messages == old
    edited = preview.text.replace("noted", "noted by hand")
    await read(session.apply_preview(preview, edited))
    assert "noted by hand" in session.conversation.view().messages[0].text
    (refused,) = of(await read(session.apply_preview(preview, edited)), ErrorRaised)
    assert "preview" in refused.message
    await session.close()


async def test_new_instructions_at_a_compaction_are_no_part_of_what_it_saved(
    tmp_path: Path,
) -> None:
    policy = small(50_000, rule=MicroRule.OFF)
    rig = Rig(tmp_path, ScriptedModel(answers(*looks(6, size=200), says("ok"))), policy=policy)
    session = await rig.open()
    await read(session.submit("look"))
    (tmp_path / "AGENTS.md").write_text("Mind the tests. " * 2_000, encoding="utf-8")
    (report,) = [e.report for e in of(await read(session.compact()), Compacted)]
    assert report.outcome is Outcome.APPLIED and report.after < report.before
    assert session.budget.used > report.after + 5_000, "the gauge knows of them at once"
    await session.close()


async def test_a_preview_is_work_like_any_other_and_can_be_cancelled(tmp_path: Path) -> None:
    hold = asyncio.Event()
    policy = small(50_000, rule=MicroRule.OFF)
    rig = Rig(tmp_path, ScriptedModel(answers(*looks(6, size=200), says("ok"))), policy=policy)
    session = await rig.open()
    await read(session.submit("look"))
    asked = asyncio.Event()

    def answer(request: ModelRequest) -> Answer:
        asked.set()
        return says(SUMMARY)

    rig.model.hold, rig.model.script = hold, [answer]
    preview = session.preview()
    await asked.wait()
    assert session.busy
    session.cancel()
    assert of(await read(preview), SummaryPreviewed) == [] and not session.busy
    await session.close()


async def test_recalling_something_cleared_is_a_miss_and_pins_it(tmp_path: Path) -> None:
    policy = small(50_000, rule=MicroRule.EVERY_TURN, preserve_tools=frozenset())
    steps = [*looks(4), calls(("x", "recall", {"id": "r1"})), says("ok")]
    rig = Rig(tmp_path, ScriptedModel(steps), policy=policy)
    session = await rig.open()
    await read(session.submit("look"))
    assert "r1" in session.conversation.pinned
    await session.close()


async def test_the_model_is_told_once_at_each_mark_how_full_the_context_is(tmp_path: Path) -> None:
    policy = small(12_000, rule=MicroRule.OFF)
    policy = replace(policy, manual=ManualPolicy(notes_at=(0.5, 0.75)))
    rig = Rig(tmp_path, ScriptedModel(answers(*looks(16, size=60), says("ok"))), policy=policy)
    session = await rig.open()
    await read(session.submit("look"))
    notes = [m.text for m in rig.model.requests[-1].messages if m.role == "user" and "%" in m.text]
    told = [r.data["mark"] for r in await session._parts.record.remarks({"note"})]
    assert told == [0.5, 0.75], notes
    all_valid(rig.model)
    await session.close()


async def test_a_resumed_session_has_the_same_view_budget_and_totals(tmp_path: Path) -> None:
    rig = Rig(
        tmp_path,
        ScriptedModel(answers(*looks(8), says("ok"))),
        policy=small(3_000, rule=MicroRule.OFF),
    )
    session = await rig.open()
    await read(session.submit("look"))
    await session.enqueue("still waiting")
    await session.close()
    again = await rig.open(session.name)
    assert again.conversation.view().messages == session.conversation.view().messages
    assert again.budget == session.budget
    assert (again.usage, again.requests, again.contexts) == (
        session.usage,
        session.requests,
        session.contexts,
    )
    assert again.reports == session.reports
    assert again.queue == ("still waiting",)
    await again.close()


async def test_a_resumed_session_estimates_with_the_factor_it_had_learned(tmp_path: Path) -> None:
    def twice_the_estimate(request: ModelRequest) -> Answer:
        bill = rig.model.bill(request, says("ok"))
        return says("ok", usage=replace(bill, input=2 * bill.input))

    rig = Rig(tmp_path, ScriptedModel([twice_the_estimate] * 2))
    session = await rig.open()
    await read(session.submit("one"))
    await session.close()
    again = await rig.open(session.name)
    assert again._dialogue.meter.factor == session._dialogue.meter.factor
    await again.close()


async def prompts(session) -> int:
    return len(await session._parts.record.remarks({"prompt"}))


async def test_a_resume_keeps_the_prompt_and_the_thinking_made_under_it(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedModel([thought("Hello.")]))
    session = await rig.open()
    await read(session.submit("hi"))
    await session.close()
    again = await rig.open(session.name)
    assert await prompts(again) == 1
    assert again.conversation.view().messages == session.conversation.view().messages
    await again.close()


async def test_other_instructions_at_a_resume_are_an_event_and_end_the_thinking_made_before(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, ScriptedModel([thought("Hello."), says("Yes.")]))
    session = await rig.open()
    await read(session.submit("hi"))
    await session.close()
    (tmp_path / "AGENTS.md").write_text("Always answer in rhyme.", encoding="utf-8")
    again = await rig.open(session.name)
    assert await prompts(again) == 2
    await read(again.submit("and now?"))
    sent = rig.model.requests[-1]
    assert "Always answer in rhyme." in sent.system
    assert not any(isinstance(b, Thinking) for m in sent.messages for b in m.content)
    await again.close()


async def test_calls_cut_off_by_a_crash_get_results_that_say_so(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedModel([says("Welcome back.")]))
    session = await rig.open()
    record = session._parts.record
    await session._dialogue.say("do two things")
    await session._dialogue.append(calls(("a", "look", {}), ("b", "look", {})).message)
    finished = {"type": "tool_result", "tool_use_id": "a", "content": "one"}
    await record.remark(
        "result", {"tool_use_id": "a", "result": finished, "effects": {"target": "x"}}
    )
    await record.close()
    again = await rig.open(session.name)
    results = again.conversation.entries[-1].message.tool_results
    assert results[0].text == "one" and results[1].is_error
    await read(again.submit("hi"))
    all_valid(rig.model)
    await again.close()


def test_reports_survive_json() -> None:
    report = CompactionReport(
        Layer.AUTO, Outcome.APPLIED, "why", 9, 3, ("r1",), cost=0.5, commit=2, time="t"
    )
    assert report_from_json(json.loads(json.dumps(asdict(report))), "t") == report
