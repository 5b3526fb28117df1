"""Kinds of wrong figures: what is counted, on which scale, from the first request on."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.budget import Meter, Usage
from app.core.reports import Layer
from app.core.tokens import estimate_text
from tests.agent.rig import Rig, read, small
from tests.fakes.history import Story
from tests.fakes.model import ScriptedModel, says
from tests.fakes.summaries import GOOD, run, situation

counts = st.integers(0, 400_000)


@given(st.integers(1, 400_000), counts, counts, st.integers(0, 8_000))
def test_every_billed_token_counts_cached_or_not(
    fresh: int, read: int, write: int, out: int
) -> None:
    usage = Usage(fresh, read, write, out)
    meter = Meter(floor=1.0).measure(usage, sent=0.0, now=50.0)
    assert meter.used(50.0) == max(1, fresh + read + write + out)


async def test_the_gauge_of_a_cached_conversation_is_the_whole_of_it(tmp_path: Path) -> None:
    for fresh, cached, written in ((5, 90_000, 1_000), (1_000, 0, 90_005), (91_005, 0, 0)):
        usage = Usage(input=fresh, cache_read=cached, cache_write=written, output=0)
        rig = Rig(tmp_path, ScriptedModel([says("ok", usage=usage)]), policy=small(150_000))
        session = await rig.open()
        await read(session.submit("hi"))
        assert session.budget.used == 91_005 and session.budget.measured
        await session.close()


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("汉字在这里很多" * 6_000, 0.65),
        ("日本語の文章です。" * 4_000, 0.6),
        ("한국어 문장입니다 " * 4_000, 0.5),
        ("😀🚀🎉" * 13_000, 2.0),
        ("Привет, как дела? " * 2_500, 0.35),
        ("0123456789" * 4_000, 0.5),
        ("{}[]();:=>" * 4_000, 0.5),
        ("plain words of prose " * 2_000, 0.25),
    ],
    ids=("chinese", "japanese", "korean", "emoji", "cyrillic", "digits", "code", "english"),
)
def test_no_script_is_counted_by_the_characters_of_english(text: str, least: float) -> None:
    assert estimate_text(text) >= least * len(text)
    assert estimate_text(text) <= 4.0 * least * len(text)


async def test_what_was_pasted_between_two_answers_is_estimated_and_then_measured(
    tmp_path: Path,
) -> None:
    pasted = "汉字" * 20_000  # and the first bill holds much that the endpoint adds by itself
    bills = [Usage(input=2_000, output=5), Usage(input=31_000, output=5)]
    rig = Rig(tmp_path, ScriptedModel([says("ok", usage=u) for u in bills]), policy=small(90_000))
    session = await rig.open()
    await read(session.submit("hi"))
    before = session.budget.used
    figures = []
    async for _ in session.submit(pasted):
        figures.append((session.budget.used, session.budget.measured))
    assert any(used > before + 25_000 and not measured for used, measured in figures)
    assert session.budget.used == 31_005 and session.budget.measured
    await session.close()


@pytest.mark.parametrize(
    "text",
    ["汉字" * 3_000, "😀" * 2_000, "word " * 6_000, "0;" * 5_000],
    ids=("chinese", "emoji", "words", "code"),
)
def test_the_cut_and_the_trigger_use_one_scale_and_the_last_exchange_stays(text: str) -> None:
    story = Story()
    for turn in range(6):
        story.say(f"{turn} {text}")
        story.answer(f"answer {turn}")
    done, _ = run(situation(story.conversation, threshold=20_000), says(GOOD), layer=Layer.AUTO)
    assert done.draft is not None
    assert done.draft.kept or "answer 5" in done.draft.head("t").text


async def test_the_first_answer_adds_only_what_was_said(tmp_path: Path) -> None:
    """System prompt and tools are in the figure from the start."""
    (tmp_path / "AGENTS.md").write_text("Rules and more rules. " * 900)
    rig = Rig(tmp_path, ScriptedModel([says("ok")]), policy=small(50_000))
    session = await rig.open()
    before = session.budget
    assert before.used > 4_000 and not before.measured
    assert before.parts.floor == pytest.approx(before.used, rel=0.02)
    await read(session.submit("hi"))
    assert session.budget.used - before.used < 60
    await session.close()
