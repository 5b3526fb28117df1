"""Ten compactions in a row with a model that answers badly on purpose, in every way there is.

After each, the view names every file that was modified and holds the user's words and the latest request; everything
else comes back by recall; and undoing all of them brings back the exact messages of before each.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from app.core.effects import Effects
from app.core.events import Compacted
from app.core.permission import Rule, Verdict
from app.core.policy import AutoPolicy, CompactionPolicy, ManualPolicy, MicroPolicy, MicroRule
from app.core.ports import ToolOutcome
from app.core.reports import CompactionReport, Outcome
from tests.laws.answers import FAULTS, SUMMARIES, answer_summary, fail
from tests.laws.checks import check_all, check_reach, sent, text_of_the_user
from tests.laws.stage import Job, Stage

ROUNDS = 10
WINDOW = 200_000
POLICY = CompactionPolicy(
    micro=MicroPolicy(MicroRule.OFF),
    auto=AutoPolicy(threshold=90_000, tail_share=0.03),
    manual=ManualPolicy(notes_at=()),
)
ALLOWED = (Rule(Verdict.ALLOW, "bash"), Rule(Verdict.ALLOW, "edit_file"))
LATEST = "# The latest request, word for word"
WAYS = (*SUMMARIES, *FAULTS, "cut off inside", "fails, then good")


@dataclass
class Story:
    """Work in rounds: each changes files, says something, and ends with a compaction."""

    stage: Stage
    modified: list[str] = field(default_factory=list)
    applied: list[tuple[CompactionReport, list[Any]]] = field(default_factory=list)
    """Each compaction that was applied, and the messages before it."""

    def work(self, round_: int) -> None:
        """One turn of reads, an edit, a command that makes a file, and an answer."""
        stage = self.stage
        said = f"{stage.token('wish')}: make part {round_}. " + "Mind the details of it. " * 20
        turn = stage.begin(lambda session: session.submit(said), is_turn=True)
        stage.settle()
        for calls in (self._reads, self._changes):
            number = stage.endpoint.number()
            self._answer([f"answer-{number} looks", *calls(round_)], "tool_use")
            self._let_commands_end(round_)
        number = stage.endpoint.number()
        exchange = stage.endpoint.open[0]
        thinking = stage.endpoint.think(exchange, f"hm {number}")
        self._answer([thinking, f"answer-{number} did part {round_}"], "end_turn")
        assert turn.work.over
        check_all(stage)

    def compact(self, way: str) -> CompactionReport:
        """Compact with a model that answers in this way, however often it is asked."""
        before = sent(self.stage.session)[2]
        job = self.stage.begin(lambda session: session.compact())
        self.stage.settle()
        self._mislead(job, way)
        (report,) = [event.report for event in job.events if isinstance(event, Compacted)]
        if report.outcome is Outcome.APPLIED:
            self.applied.append((report, before))
        else:
            assert sent(self.stage.session)[2] == before, "what failed changes nothing"
        return report

    def undo(self) -> None:
        job = self.stage.begin(lambda session: session.undo())
        self.stage.settle()
        (report,) = [event.report for event in job.events if isinstance(event, Compacted)]
        assert report.outcome is Outcome.UNDONE

    def check(self) -> None:
        """What must be there after each compaction, whatever the model did."""
        shown = text_of_the_user(self.stage.session)
        whole = json.dumps(sent(self.stage.session)[2], ensure_ascii=False)
        for path in self.modified:
            assert path in whole
        for said in self.stage.said:
            assert said in shown
        headings = shown.split("\n").count(LATEST) + shown.split("\n").count(
            f"{LATEST} (answered below)"
        )
        assert headings <= 1, "a summary cannot pass for the user"
        check_all(self.stage)
        check_reach(self.stage)

    # Inside

    def _answer(self, blocks: list[Any], stop: str) -> None:
        exchange = self.stage.endpoint.open[0]
        self.stage.endpoint.begin(exchange, blocks, stop, 1_000_000)
        self.stage.endpoint.send(exchange)
        self.stage.settle()

    def _call(self, name: str, text: str, **arguments: str) -> dict[str, Any]:
        token = self.stage.token("call")
        self.stage.texts[token] = f"{token}\n{text}"
        id_ = f"toolu_answer-{self.stage.endpoint.answers}_{token}"
        return {"type": "tool_use", "id": id_, "name": name, "input": {"token": token, **arguments}}

    def _reads(self, round_: int) -> list[Any]:
        text = f"def part_{round_}(): return {round_}\n" * 200
        paths = (f"app/part_{round_}.py", f"docs/part {round_} 说明.md")
        return [self._call("read_file", text, path=path) for path in paths]

    def _changes(self, round_: int) -> list[Any]:
        path = f"app/part_{round_}.py"
        self.modified += [path, f"build/made_{round_}.txt"]
        return [
            self._call("edit_file", "1 replacement", path=path),
            self._call("bash", "", command=f"make part-{round_}"),
        ]

    def _let_commands_end(self, round_: int) -> None:
        for running in list(self.stage.running):
            made = Effects("make", "exit 1", modified=(f"build/made_{round_}.txt",), exit_code=1)
            text = f"{running.token} error: build/made_{round_}.txt\n" * 40
            running.end.set_result(ToolOutcome(text, made, ok=False))
            self.stage.settle()

    def _mislead(self, job: Job, way: str) -> None:
        """Answer every request for the summary badly, and let every wait pass."""
        stage, asked = self.stage, 0
        while not job.work.over:
            if stage.sleeping:
                stage.sleeping[0].set_result(None)
                stage.settle()
                continue
            exchange = stage.endpoint.open[0]
            asked += 1
            assert exchange.is_summary and asked < 40
            kind = way
            if way == "fails, then good":
                kind = "bad gateway" if asked < 3 else "good"
            if kind in FAULTS:
                fail(stage.endpoint, exchange, kind)
            else:
                inside = kind == "cut off inside"
                blocks, stop = answer_summary(stage, exchange, "good" if inside else kind)
                stage.endpoint.begin(exchange, blocks, stop, 200)
                stage.endpoint.send(exchange, 3 if inside else None)
                stage.settle()
                if inside:
                    fail(stage.endpoint, exchange, "reset")
            stage.settle()


def tell(story: Story, ways: list[str]) -> None:
    """Ten rounds, each with a compaction of its own kind, and the way back through all of them."""
    for round_, way in enumerate(ways):
        story.work(round_)
        story.compact(way)
        story.check()
    story.stage.do(
        story.stage.session._dialogue.learn_window(WINDOW)
    )  # what refusals taught is less than what was
    entries = story.stage.session.conversation.entries
    for _, before in reversed(story.applied):
        story.undo()
        now = sent(story.stage.session)[2]
        assert now[: len(before) - 1] == before[:-1], "the messages of before, byte for byte"
        check_all(story.stage)
        check_reach(story.stage)
    if story.applied:
        whole = json.dumps(sent(story.stage.session)[2], ensure_ascii=False)
        for entry in entries:
            for block in entry.message.tool_uses:
                assert block.id in whole
    assert story.stage.session.conversation.base == 0


@pytest.fixture
def story() -> Iterator[Story]:
    stage = Stage(POLICY, window=WINDOW, rules=ALLOWED)
    yield Story(stage)
    stage.end()


@pytest.mark.parametrize("first", range(0, len(WAYS), ROUNDS))
def test_ten_compactions_by_a_model_that_answers_badly_lose_nothing(
    story: Story, first: int
) -> None:
    tell(story, [WAYS[at % len(WAYS)] for at in range(first, first + ROUNDS)])


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_ten_times_the_same_bad_answer_loses_nothing(story: Story, way: str) -> None:
    tell(story, [way] * ROUNDS)
