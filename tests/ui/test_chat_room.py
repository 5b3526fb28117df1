"""A chat that goes on for long keeps its newest part; what left it comes back from the record as one scrolls up."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from app.core.effects import Effects
from app.core.history import Entry
from app.core.messages import Message, Text, ToolResult, ToolUse, user
from app.ui.chat import room
from app.ui.chat.entries import Fold
from app.ui.chat.tool_card import CardSection
from app.ui.widgets.chat_pane import ChatPane
from tests.ui.chat_app import ChatApp, all_rows, screen_lines, screen_text, with_chat
from tests.ui.fake_session import AUTO

TURN = 4
"""Messages of a turn: the question, an answer with a call, its result, the last answer."""


@pytest.fixture(autouse=True)
def little_room(monkeypatch) -> None:
    monkeypatch.setattr(room, "MOST_SECTIONS", 120)
    monkeypatch.setattr(room, "FEWEST", 20)


def live(pane: ChatPane, first: int, turns: int) -> None:
    """Let turns happen before the eyes of the user."""
    for turn in range(first, first + turns):
        number = (turn - 1) * TURN + 1
        pane.add_user(f"question {turn}", f"m{number}")
        pane.begin_answer()
        pane.append_text(f"let me look {turn}")
        pane.tool_arriving(f"c{turn}", "bash", 10)
        pane.finish_answer(f"m{number + 1}")
        pane.tool_started(f"c{turn}", "bash", f"ls {turn}")
        pane.tool_finished(
            f"c{turn}",
            ok=True,
            text=f"output {turn}\n" * 30,
            outcome="30 lines",
            seconds=0,
            result_id=f"r{turn}",
        )
        pane.begin_answer()
        pane.append_text(f"answer {turn}\n\nand more")
        pane.finish_answer(f"m{number + 3}")


def recorded(turns: int) -> list[Entry]:
    """The same turns as the record keeps them."""
    found: list[Entry] = []
    for turn in range(1, turns + 1):
        number, call = (turn - 1) * TURN + 1, f"c{turn}"
        asked = (Text(f"let me look {turn}"), ToolUse(call, "bash", {"command": f"ls {turn}"}))
        result = (ToolResult(call, f"output {turn}\n" * 30),)
        effects = {call: Effects(f"ls {turn}", "30 lines")}
        found += [
            Entry(number, number, "", user(f"question {turn}"), spoken=(0,)),
            Entry(number + 1, number + 1, "", Message("assistant", asked)),
            Entry(number + 2, number + 2, "", Message("user", result), (), effects, turn),
            Entry(
                number + 3,
                number + 3,
                "",
                Message("assistant", (Text(f"answer {turn}\n\nand more"),)),
            ),
        ]
    return found


def bring_back(pane: ChatPane, record: list[Entry], limit: int = 30) -> None:
    """Put the next older page in front, as the screen does it."""
    assert pane.older is not None
    page = [entry for entry in record if entry.number < pane.older][-limit:]
    pane.prepend_history(page, more=page[0].number > 1)


@with_chat()
async def test_the_oldest_leave_and_the_newest_stay_on_the_screen(pane: ChatPane) -> None:
    most = 0
    for turn in range(1, 100):
        live(pane, turn, 1)
        shown = screen_text(pane)
        assert f"answer {turn}" in shown and f"question {turn}" in shown
        most = max(most, len(pane.transcript))
        assert len(pane._results) <= len(pane.transcript)
    assert room.MOST_SECTIONS / 2 <= len(pane.transcript) <= most <= room.MOST_SECTIONS + 6
    assert not pane._cards
    rows = all_rows(pane)
    assert rows[0].startswith("answer") and pane.transcript.total == len(rows)


@with_chat()
async def test_scrolling_up_brings_back_all_that_was_said_and_nothing_twice(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    assert isinstance(pilot.app, ChatApp)
    record = recorded(100)
    live(pane, 1, 100)
    assert pane.older is not None
    while pane.older is not None:
        asked = len(pilot.app.older)
        pane.scroll_home(animate=False)
        await pilot.pause()
        assert [event.before for event in pilot.app.older[asked:]] == [pane.older]
        before = screen_lines(pane)
        bring_back(pane, record)
        assert screen_lines(pane) == before, "nothing moves when a page comes"
    rows = [row.split() for row in all_rows(pane)]
    words = [row[1:] if row[:1] == ["▌"] else row for row in rows if row]
    for turn in range(1, 101):
        for said in (f"question {turn}", f"let me look {turn}", f"answer {turn}"):
            assert words.count(said.split()) == 1, said
        assert sum(row[:4] == ["✓", "bash", "ls", str(turn)] for row in words) == 1


@with_chat()
async def test_a_page_of_the_record_leaves_again_once_the_end_is_followed(pane: ChatPane) -> None:
    record = recorded(60)
    live(pane, 1, 60)
    cut = pane.older
    pane.scroll_home(animate=False)
    while pane.older is not None:
        bring_back(pane, record)
    read = screen_lines(pane)
    live_without_following(pane, 61)
    assert pane.older is None and screen_lines(pane) == read, "the user reads there"
    pane.follow()
    live(pane, 62, 1)
    assert pane.older is not None and cut is not None and pane.older >= cut
    assert len(pane.transcript) <= room.MOST_SECTIONS


def live_without_following(pane: ChatPane, turn: int) -> None:
    pane.begin_answer()
    pane.append_text(f"on its own {turn}")
    pane.finish_answer(f"m{(turn - 1) * TURN + 2}")


@with_chat()
async def test_cards_come_back_as_the_user_folded_them_and_compactions_where_they_were(
    pane: ChatPane,
) -> None:
    record = recorded(80)
    live(pane, 1, 2)
    card = next(s for s in pane.transcript.sections if isinstance(s, CardSection))
    pane._toggle(card)
    pane.add_divider(AUTO)
    live(pane, 3, 77)
    assert card not in pane.transcript.sections and pane.older is not None
    while pane.older is not None:
        bring_back(pane, record)
    cards = {s.call: s for s in pane.transcript.sections if isinstance(s, CardSection)}
    assert cards["c1"].fold is Fold.FULL and cards["c2"].fold is Fold.FOLDED
    assert sum("layer 2" in row.lower() or "50,310" in row for row in all_rows(pane)) == 1


@pytest.mark.parametrize("busy", ["searches", "marks", "reads"])
@with_chat()
async def test_nothing_leaves_while_the_user(pane: ChatPane, busy: str) -> None:
    live(pane, 1, 10)
    pane.draw_now()
    match busy:
        case "searches":
            pane.search("question 1")
        case "marks":
            pane.action_mark()
        case "reads":
            pane.scroll_home(animate=False)
    first = pane.transcript.sections[0]
    for turn in range(11, 120):
        live_without_following(pane, turn)
    assert pane.transcript.sections[0] is first
    pane.end_search(stay=False)
    pane.stop_marking()
    pane.follow()
    live(pane, 120, 1)
    assert pane.transcript.sections[0] is not first


def test_large_outputs_leave_sooner_but_several_screens_stay() -> None:
    cards = []
    for number in range(1, 101):
        card = CardSection(f"c{number}", "bash")
        card.finish(ok=True, text="x" * 100_000, outcome="", seconds=0, diff="", result="")
        card.begins = 2 * number
        cards.append(card)
    assert len(cards) - room.leaving(cards) == room.FEWEST
    assert room.leaving(cards[: room.FEWEST]) == 0
    for card in cards:
        card.begins = 0
    assert room.leaving(cards) == 0, "nothing leaves that the record could not bring back"
