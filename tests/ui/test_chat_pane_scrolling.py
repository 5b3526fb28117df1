from __future__ import annotations

import random

import pytest
from textual.pilot import Pilot

from app.ui.widgets.chat_pane import ChatPane
from tests.ui.chat_app import screen_lines, with_chat


def fill(pane: ChatPane, dice: random.Random, sections: int = 300) -> None:
    """Add entries of many sizes, each row of them different, without laying them out."""
    for number in range(sections):
        words = " ".join(f"w{number}.{n}" for n in range(dice.choice((1, 3, 40, 200))))
        match dice.randrange(4):
            case 0:
                pane.add_notice(words)
            case 1:
                pane.append_text(f"## Head {number}\n\n{words}\n\n- {words[:90]}\n- b{number}\n")
                pane.finish_answer()
            case 2:
                pane.tool_finished(
                    f"c{number}", ok=True, text=words, outcome=f"n{number}", seconds=0, tool="bash"
                )
            case 3:
                pane.append_text(f"```py\nx{number} = {number}\n\n{words[:300]}\n```\n")
                pane.finish_answer()


@pytest.mark.parametrize("seed", range(4))
@with_chat(70, 20)
async def test_every_step_of_the_wheel_moves_the_rows_by_exactly_that_much(
    pane: ChatPane, seed: int
) -> None:
    dice = random.Random(seed)
    fill(pane, dice)
    for _ in range(6):
        pane.scroll_to(y=dice.randrange(pane.transcript.total), animate=False)
        for _ in range(12):
            step = dice.choice((-17, -5, -2, -1, 1, 2, 5, 17))
            before, top = screen_lines(pane), pane.scroll_offset.y
            total = pane.transcript.total
            pane.scroll_relative(y=step, animate=False)
            after = screen_lines(pane)
            near_end = top < abs(step) or top + abs(step) + pane.size.height > total
            if near_end:
                continue
            if step > 0:
                assert after[:-step] == before[step:]
            else:
                assert after[-step:] == before[:step]


@pytest.mark.parametrize("seed", range(4))
@with_chat(70, 20)
async def test_nothing_that_happens_elsewhere_moves_what_is_read(pane: ChatPane, seed: int) -> None:
    dice = random.Random(seed)
    fill(pane, dice)
    pane.draw_now()
    pane.scroll_to(y=pane.transcript.total // 2, animate=False)
    pane.draw_now()
    before = screen_lines(pane)
    here = pane.row_at(0)
    assert here is not None
    for _ in range(15):
        match dice.randrange(3):
            case 0:
                fill(pane, dice, 3)
            case 1:
                above = pane.transcript.sections[dice.randrange(here[0].index)]
                above.toggle()
                pane.transcript.changed(above)
            case 2:
                pane.append_text("more\n\n- of\n- this\n\n")
        assert screen_lines(pane) == before


@with_chat(70, 20)
async def test_the_end_can_always_be_reached_and_is_the_end(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    fill(pane, random.Random(9))
    pane.add_notice("the very last")
    pane.scroll_to(y=0, animate=False)
    for _ in range(2_000):
        if pane.following:
            break
        pane.scroll_page_down(animate=False)
    assert pane.following
    assert "the very last" in "".join(screen_lines(pane))
    await pilot.resize_terminal(33, 9)
    assert "the very last" in "".join(screen_lines(pane))


@with_chat(70, 20)
async def test_a_message_shorter_than_the_view_stands_at_the_top(pane: ChatPane) -> None:
    pane.add_notice("alone")
    assert "alone" in screen_lines(pane)[0]
    assert pane.following
