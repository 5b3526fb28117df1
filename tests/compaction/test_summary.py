"""How a summary is asked for, and when an answer is accepted as one."""

from __future__ import annotations

import pytest

from app.compaction.summary import HEADINGS, check_text, judge, prompt, told
from app.core.messages import Message, Text, Thinking
from app.core.requests import Answer, StopReason
from tests.fakes.summaries import GOOD, MISBEHAVIOURS

BAD_ANSWERS = {name: make for name, make in MISBEHAVIOURS.items() if isinstance(make(), Answer)}


def test_the_prompt_names_each_heading_the_focus_and_the_users_wishes() -> None:
    text = prompt(aim=2_000, cap=4_000, focus="the billing", instructions="Be brief.")
    assert all(f"## {name}\n" in text for name in HEADINGS)
    assert "the billing" in text
    assert "Be brief." in text
    assert "could not be used" not in text


@pytest.mark.parametrize(
    "advice", ["write much less", "write less", "stay under 4,000", "stay under 4,000 tokens"]
)
def test_people_are_not_told_what_the_model_should_do(advice: str) -> None:
    assert told(f"it was too long; {advice}") == "it was too long"
    assert told("HTTP 500; try later") == "HTTP 500; try later"


def test_the_reminder_says_what_was_wrong() -> None:
    assert "could not be used: it called a tool." in prompt(
        aim=1, cap=2, problem="it called a tool"
    )


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_a_bad_answer_is_not_accepted(name: str) -> None:
    assert judge(BAD_ANSWERS[name](), cap=4_000, factor=1.0).problem


def test_thinking_beside_the_text_is_fine_and_not_part_of_it() -> None:
    thought = Thinking({"type": "thinking", "thinking": "secret", "signature": "x"})
    answer = Answer(Message("assistant", (thought, Text(GOOD))), None, StopReason.END_TURN)
    verdict = judge(answer, cap=4_000, factor=1.0)
    assert verdict.problem == ""
    assert verdict.text == GOOD


@pytest.mark.parametrize("form", ["## {}", "# {}:", "**{}**", "### {} "])
def test_headings_are_found_in_any_dress(form: str) -> None:
    text = "\n".join(form.format(name) + "\nx" for name in HEADINGS)
    assert check_text(text, cap=4_000, factor=1.0) == ""


def test_a_missing_heading_is_named() -> None:
    assert check_text(GOOD.replace("## Next step", "Next"), cap=4_000, factor=1.0).endswith(
        "Next step"
    )


def test_the_cap_counts_in_the_models_tokens() -> None:
    assert check_text(GOOD, cap=100, factor=1.0) == ""
    assert "stay under 100" in check_text(GOOD, cap=100, factor=2.0)


def test_the_question_itself_is_no_answer() -> None:
    problem = check_text(prompt(aim=400, cap=4_000), cap=4_000, factor=1.0)
    assert "repeated the question" in problem
