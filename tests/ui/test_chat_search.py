from __future__ import annotations

from textual.pilot import Pilot
from textual.widgets import Input

from app.core.history import Entry
from app.core.messages import Message, Text, user
from app.ui.chat.entries import Fold
from app.ui.widgets.chat_pane import ChatPane
from app.ui.widgets.search_bar import SearchBar
from tests.ui.chat_app import screen_text, with_chat
from tests.ui.fake_session import FakeSession
from tests.ui.screens_in_use import pal_app
from tests.ui.test_pair_screen import until_idle


def paragraphs(pane: ChatPane, word: str, count: int) -> None:
    pane.append_text("".join(f"{word} {n}.\n\n" for n in range(count)))
    pane.finish_answer()
    pane.draw_now()


def marked(pane: ChatPane, ink: str) -> list[str]:
    """The texts on the screen that are painted with an ink."""
    pane.draw_now()
    ground = pane._inks.paint((ink,)).bgcolor
    return [
        segment.text
        for y in range(pane.size.height)
        for segment in pane.render_line(y)
        if segment.style is not None and segment.style.bgcolor == ground
    ]


@with_chat()
async def test_search_goes_from_the_newest_place_to_the_oldest_and_round(pane: ChatPane) -> None:
    paragraphs(pane, "Paragraph", 100)
    assert pane.search("PARAGRAPH 7").places == 11
    seen = []
    for number in range(1, 12):
        assert pane.show_match()
        assert pane.finding.place == number
        seen.append(marked(pane, "match-now"))
        assert seen[-1] == ["Paragraph 7"]
    assert pane.scroll_y < 20
    pane.show_match()
    assert pane.finding.place == 1
    pane.show_match(backwards=False)
    assert pane.finding.place == 11
    assert not pane.search("nowhere").places
    assert not pane.show_match()


@with_chat()
async def test_two_places_on_one_row_are_two_places(pane: ChatPane) -> None:
    pane.add_notice("echo and echo")
    assert pane.search("echo").places == 2
    pane.show_match()
    assert marked(pane, "match-now") == ["echo"] == marked(pane, "match")
    pane.show_match()
    assert pane.finding.place == 2


@with_chat(30, 20)
async def test_a_place_that_is_wrapped_is_found_and_marked_on_both_rows(pane: ChatPane) -> None:
    pane.add_notice("some words in front of it needle and thread, and some more behind")
    pane.search("front of it needle and")
    assert pane.show_match()
    assert "".join(marked(pane, "match-now")).replace(" ", "") == "frontofitneedleand"


@with_chat()
async def test_a_folded_part_opens_for_its_place_and_closes_when_the_search_goes_on(
    pane: ChatPane,
) -> None:
    pane.tool_finished(
        "c1", ok=True, text="a\nhidden\nb", outcome="3 lines", seconds=0, tool="bash"
    )
    pane.add_user("hidden as well")
    pane.search("hidden")
    pane.show_match()
    card = pane.transcript.sections[0]
    assert card.fold is Fold.FOLDED
    pane.show_match()
    assert card.fold is Fold.FULL and marked(pane, "match-now") == ["hidden"]
    pane.show_match()
    assert card.fold is Fold.FOLDED


@with_chat()
async def test_a_folded_part_stays_folded_when_its_line_shows_the_place(pane: ChatPane) -> None:
    pane.tool_finished(
        "c1", ok=True, text="a\nb", outcome="2 lines", seconds=0, tool="bash", target="seq 5"
    )
    pane.search("seq 5")
    pane.show_match()
    assert pane.transcript.sections[0].fold is Fold.FOLDED
    assert marked(pane, "match-now") == ["seq 5"]


@with_chat()
async def test_the_end_of_a_search_goes_back_or_stays(pane: ChatPane) -> None:
    paragraphs(pane, "First", 60)
    paragraphs(pane, "Second", 60)
    before = screen_text(pane)
    pane.search("first 3.")
    pane.show_match()
    assert screen_text(pane) != before
    pane.end_search(stay=False)
    assert screen_text(pane) == before and pane.following
    pane.search("first 3.")
    pane.show_match()
    pane.end_search(stay=True)
    assert "First 3." in screen_text(pane) and not marked(pane, "match")


async def searching(pilot: Pilot[None], text: str) -> SearchBar:
    await pilot.press("ctrl+f")
    await pilot.pause()
    bar = pilot.app.screen.query_one(SearchBar)
    await pilot.press(*("space" if c == " " else c for c in text))
    await until_idle(pilot.app, pilot)
    return bar


def said(bar: SearchBar) -> str:
    return str(bar.query_one("#search-found").render())


async def test_ctrl_f_finds_as_one_types_and_escape_goes_back() -> None:
    app = pal_app(FakeSession())
    async with app.run_test(size=(80, 24)) as pilot:
        await until_idle(app, pilot)
        pane = app.pair.chat
        paragraphs(pane, "Paragraph", 60)
        bar = await searching(pilot, "graph 1")
        assert said(bar) == "1 of 11"
        await pilot.press("enter")
        await pilot.press("ctrl+f")
        assert said(bar) == "3 of 11"
        await pilot.press("down")
        assert said(bar) == "2 of 11"
        await pilot.press("escape")
        await pilot.pause()
        assert not app.screen.query(SearchBar)
        assert pane.following and app.pair.prompt.area.has_focus


async def test_tab_stays_at_the_place_with_the_keyboard_in_the_chat() -> None:
    app = pal_app(FakeSession())
    async with app.run_test(size=(80, 24)) as pilot:
        await until_idle(app, pilot)
        paragraphs(app.pair.chat, "Paragraph", 60)
        await searching(pilot, "paragraph 3.")
        await pilot.press("tab")
        await pilot.pause()
        assert "Paragraph 3." in screen_text(app.pair.chat)
        assert app.pair.chat.has_focus


async def test_ctrl_c_closes_the_search_and_cancels_nothing() -> None:
    app = pal_app(FakeSession())
    async with app.run_test(size=(80, 24)) as pilot:
        await until_idle(app, pilot)
        await searching(pilot, "x")
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert not app.screen.query(SearchBar)


def page(first: int, count: int) -> tuple[Entry, ...]:
    """Messages of the record: each user message names its number."""
    return tuple(
        Entry(
            n,
            n,
            "2026-11-29T12:00:00.000Z",
            user(f"question {n}") if n % 2 else Message("assistant", (Text(f"answer {n}"),)),
            (0,) if n % 2 else (),
        )
        for n in range(first, first + count)
    )


async def test_words_of_messages_that_were_not_shown_yet_are_found() -> None:
    session = FakeSession()
    session.pages = [page(401, 30), page(301, 100), page(201, 100), page(101, 100), page(1, 100)]
    app = pal_app(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await until_idle(app, pilot)
        bar = await searching(pilot, "question 1")
        assert said(bar).startswith("1 of 56")
        await pilot.press("up")
        assert "question 1" in screen_text(app.pair.chat)
        await pilot.press("escape")
        await pilot.pause()
        assert app.pair.chat.following


async def test_a_search_for_nothing_reads_nothing() -> None:
    session = FakeSession()
    session.pages = [page(401, 30), page(301, 100)]
    app = pal_app(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await until_idle(app, pilot)
        bar = await searching(pilot, "")
        assert len(session.pages) == 1
        assert bar.query_one(Input).has_focus and said(bar) == ""
