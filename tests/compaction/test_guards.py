"""When a compaction must not run."""

from __future__ import annotations

from dataclasses import replace

from app.compaction.guards import Guards, largest_source
from app.compaction.notes import due_mark, note
from app.core.policy import ManualPolicy
from app.core.reports import CompactionReport, Layer, Outcome
from tests.fakes.history import Story, bash, lines
from tests.fakes.model import says
from tests.fakes.summaries import GOOD, run, situation


def told(steps: int = 12) -> Story:
    story = Story()
    story.say("go")
    for n in range(steps):
        story.step(bash(f"a{n}", lines(40)))
    return story


def refusal(
    story: Story, guards: Guards | None = None, *, floor: int = 100, manual: bool = False
) -> str | None:
    return (guards or Guards()).refusal(
        story.conversation, used=9_000, floor_tokens=floor, threshold=5_000, manual=manual
    )


def report(
    before: int = 1_000, after: int = 300, outcome: Outcome = Outcome.APPLIED
) -> CompactionReport:
    return CompactionReport(Layer.AUTO, outcome, "", before, after)


def test_nothing_new_since_the_last_compaction_is_refused_until_something_is_new_or_it_is_undone() -> (
    None
):
    story = told()
    assert refusal(story) is None
    done, _ = run(situation(story.conversation, threshold=5_000), says(GOOD))
    commit = story.commit(done.draft)
    assert refusal(story, manual=True) == "nothing new since the last compaction"
    story.step(bash("ls"))
    assert refusal(story) is None
    story.undo(commit.number)
    assert refusal(story) is None


def test_an_empty_conversation_has_nothing_to_compact() -> None:
    assert refusal(Story()) == "there is nothing to compact yet"


def test_a_floor_above_the_threshold_is_said() -> None:
    assert "raise `threshold`" in (refusal(told(), floor=5_000) or "")


def test_two_runs_without_progress_wait_for_the_user() -> None:
    guards = Guards().after(report(after=900), 1)
    assert refusal(told(), guards) is None
    for stuck in (
        guards.after(report(after=900), 2),
        guards.after(report(outcome=Outcome.FAILED), 2),
    ):
        assert "waits for your next message" in (refusal(told(), stuck) or "")
        assert refusal(told(), stuck, manual=True) is None
        assert refusal(told(), stuck.spoken()) is None
    assert refusal(told(), guards.after(report(), 2).after(report(after=900), 3)) is None


def test_three_compactions_in_twenty_requests_give_one_notice_with_the_largest_source() -> None:
    story, guards = told(), Guards()
    for request in (10, 20):
        guards = guards.after(report(), request)
        assert guards.notice(story.conversation) is None
    guards = guards.after(report(), 29)
    said = guards.notice(story.conversation) or ""
    source, share = largest_source(story.conversation)
    assert source == "bash output"
    assert f"bash output ({share:.0%})" in said
    assert "`keep_recent`" in said
    assert guards.after(report(), 30).notice(story.conversation) is None


def test_compactions_far_apart_give_no_notice() -> None:
    guards = Guards()
    for request in (10, 30, 50, 70):
        guards = guards.after(report(), request)
        assert not guards.due


def test_compactions_that_were_asked_for_give_no_notice() -> None:
    guards = Guards()
    for request in (10, 11, 12, 13):
        guards = guards.after(replace(report(), layer=Layer.MANUAL), request)
        assert not guards.due
    assert guards.after(report(), 14).due is False


def test_each_mark_is_told_once() -> None:
    policy = ManualPolicy()
    assert due_mark(policy, used=400, threshold=1_000, given=()) is None
    assert due_mark(policy, used=500, threshold=1_000, given=()) == 0.5
    assert due_mark(policy, used=600, threshold=1_000, given=(0.5,)) is None
    assert due_mark(policy, used=800, threshold=1_000, given=(0.5,)) == 0.75
    assert due_mark(policy, used=800, threshold=1_000, given=(0.75,)) is None
    assert due_mark(ManualPolicy(enabled=False), used=800, threshold=1_000, given=()) is None
    assert note(0.5, used=25_300, threshold=50_000).startswith(
        "[Context: 25,300 of 50,000 tokens, over 50%."
    )
