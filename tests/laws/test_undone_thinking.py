"""Thinking comes back with an undo only where everything in front of it is as it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from app.core.policy import AutoPolicy, CompactionPolicy, ManualPolicy, MicroPolicy, MicroRule
from tests.laws.answers import play_on
from tests.laws.checks import check_all, next_request
from tests.laws.stage import Stage

POLICY = CompactionPolicy(
    micro=MicroPolicy(MicroRule.OFF, keep_recent=0, min_chars=0, preserve_tools=frozenset()),
    auto=AutoPolicy(threshold=20_000, tail_share=0.0),
    manual=ManualPolicy(notes_at=()),
)


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage(POLICY, window=200_000)
    yield made
    made.end()


def say(stage: Stage, *kinds: str, path: str = "app/a.py") -> None:
    stage.begin(lambda session: session.submit(stage.token("said")), is_turn=True)
    stage.settle()
    play_on(stage, kinds, "good", path=path, size=400)


def work(stage: Stage, what: str, *arguments: str) -> None:
    stage.begin(lambda session: getattr(session, what)(*arguments))
    stage.settle()
    play_on(stage, (), "good")


def thinking(stage: Stage) -> int:
    """Blocks of thinking in the next request, all of which the endpoint takes."""
    check_all(stage)
    return next_request(stage.session).count(b'"type":"thinking"')


def new_instructions(stage: Stage) -> None:
    (stage.project / "AGENTS.md").write_text("Answer in rhyme.", encoding="utf-8")


def another_model(stage: Stage) -> None:
    stage.do(stage.session.set_model("claude-sonnet-5-5"))


def test_thinking_comes_back_when_nothing_changed(stage: Stage) -> None:
    say(stage, "thinking and text")
    say(stage, "thinking and calls")
    before = thinking(stage)
    work(stage, "compact")
    assert stage.session.conversation.base == 1
    work(stage, "undo")
    assert thinking(stage) == before > 0


@pytest.mark.parametrize("change", [new_instructions, another_model])
def test_thinking_made_under_another_prompt_or_by_another_model_stays_away(
    stage: Stage, change: Callable[[Stage], None]
) -> None:
    say(stage, "thinking and text")
    say(stage, "thinking and calls")
    change(stage)
    work(stage, "compact")
    change(stage)
    assert stage.session.conversation.base == 1
    work(stage, "undo")
    assert thinking(stage) == 0


def test_thinking_behind_a_result_that_was_cleared_since_stays_away(stage: Stage) -> None:
    say(stage, "one call", "one call", "one call", path="app/kept.py")
    say(stage, "thinking and calls")
    say(stage, "text")
    work(stage, "compact", "app/kept.py")
    work(stage, "clear_now")
    assert stage.session.conversation.stubs, "a kept result was cleared"
    work(stage, "undo")
    assert stage.session.conversation.base == 0
    whole = json.loads(next_request(stage.session))
    assert stage.endpoint.thinking_faults(whole) == []
    check_all(stage)
