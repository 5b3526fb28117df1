"""Keys of the opened log: undo acts on the row, asks first, and words that are typed there go to the prompt."""

from dataclasses import replace

import pytest
from textual.events import Paste
from textual.widgets import TabbedContent

from app.core.reports import Outcome
from tests.ui.chat_app import chat_markdown
from tests.ui.fake_session import AUTO, MANUAL, MICRO, FakeSession
from tests.ui.screens_in_use import pal_app
from tests.ui.test_pair_screen import shown, until_idle


def in_force(*reports, base=MANUAL.commit):
    session = FakeSession()
    session.reports = reports
    session.conversation = replace(session.conversation, base=base)
    return session


async def pressed(session, *keys):
    app = pal_app(session)
    async with app.run_test(size=(100, 30)) as pilot:
        await until_idle(app, pilot)
        await pilot.press("ctrl+l")
        await pilot.pause()
        for key in keys:
            await pilot.press(key)
            await until_idle(app, pilot)
        said = chat_markdown(app.pair.chat) + shown(app.pair.status)
        return said, app.pair.prompt.area.text, app.pair.prompt.area.has_focus


async def test_undo_asks_and_a_y_does_it():
    session = in_force(AUTO, MANUAL)
    said, _, _ = await pressed(session, "u")
    assert "Undo [manual compact]" in said and session.asked == []
    await pressed(session, "u", "y")
    assert session.asked == [("undo", "")]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ((AUTO, MANUAL, MICRO), "Clearing is not undone"),
        ((MANUAL, AUTO), "Nothing to undo in this row"),
        ((MANUAL, AUTO, replace(AUTO, outcome=Outcome.UNDONE), AUTO), "taken back already"),
    ],
)
async def test_undo_on_another_row_says_what_can_be_undone(rows, why):
    session = in_force(*rows)
    said, _, _ = await pressed(session, "u", "y")
    assert why in said and "newest compaction in force: [manual compact]" in said
    assert session.asked == []


@pytest.mark.parametrize("text", ["please undo that", "undo that", "redo it", "/init", "!vim"])
async def test_words_typed_in_the_log_are_in_the_prompt_and_do_nothing(text):
    session = in_force(AUTO, MANUAL)
    _, typed, focused = await pressed(session, *("space" if c == " " else c for c in text))
    assert (typed, focused) == (text, True)
    assert session.asked == []


async def test_a_word_that_begins_with_u_is_whole_also_where_nothing_can_be_undone():
    session = in_force(MANUAL, MICRO)
    _, typed, focused = await pressed(session, *"undo")
    assert (typed, focused, session.asked) == ("undo", True, [])


@pytest.mark.parametrize("key", ["escape", "up", "enter"])
async def test_another_key_than_y_drops_the_question(key):
    session = in_force(AUTO, MANUAL)
    await pressed(session, "u", key, "ctrl+l", "y")
    assert session.asked == []


@pytest.mark.parametrize("text", ["/init", "!vim", "please"])
async def test_words_typed_in_the_chat_are_in_the_prompt(text):
    app = pal_app(FakeSession())
    async with app.run_test(size=(100, 30)) as pilot:
        await until_idle(app, pilot)
        app.pair.chat.focus()
        await pilot.pause()
        await pilot.press(*text)
        await pilot.pause()
        assert app.pair.prompt.area.text == text and app.pair.prompt.area.has_focus


async def test_a_paste_into_the_chat_is_in_the_prompt():
    app = pal_app(FakeSession())
    async with app.run_test(size=(100, 30)) as pilot:
        await until_idle(app, pilot)
        app.pair.chat.focus()
        await pilot.pause()
        app.post_message(Paste("do this"))
        await pilot.pause()
        assert app.pair.prompt.area.text == "do this"


async def test_the_arrows_go_through_the_tabs_of_a_row_wherever_the_keyboard_is():
    app = pal_app(in_force(MICRO, replace(AUTO, results=("r1",)), base=AUTO.commit))
    async with app.run_test(size=(100, 30)) as pilot:
        await until_idle(app, pilot)
        await pilot.press("ctrl+l", "enter")
        await pilot.pause()
        tabs, seen = app.screen.query_one(TabbedContent), []
        for _ in range(5):
            await pilot.press("right")
            await pilot.pause()
            seen.append(tabs.active.removeprefix("tab-"))
        assert seen == ["results", "change", "head", "facts", "event"]
        await pilot.press("left", "left")
        await pilot.pause()
        assert tabs.active == "tab-head"
