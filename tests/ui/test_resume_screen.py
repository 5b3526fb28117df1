"""The picker of earlier sessions: search, go on, copy, name, export, delete."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from textual.content import Content
from textual.widgets import Input, OptionList, Static

from app.errors import SessionBusy
from app.ui.screens.pair import PairScreen
from app.ui.screens.resume import SHOWN, ResumeScreen
from app.ui.session_rows import card_has, marked, session_row, words_of
from app.ui.wiring import SessionHit
from tests.ui.fake_session import FakeSession
from tests.ui.fake_shelf import OLDER, PARSER, FakeShelf
from tests.ui.screens_in_use import pal_app
from tests.ui.test_pair_screen import until_idle

HIT = SessionHit(OLDER.name, "r4", "result", "the [bold]needle[/] in\x1b[2J the hay")


def open_picker(shelf, **wiring):
    session = FakeSession()
    session.reopened = []

    async def reopen(approver, name):
        session.reopened.append(name)
        return session

    app = pal_app(session, shelf=shelf, reopen=reopen, **wiring)
    return app, session


async def shown(app, pilot):
    await until_idle(app, pilot)
    app.pair.submit("/resume")
    await until_idle(app, pilot)


def rows(app):
    options = app.screen.query_one(OptionList)
    return [str(option.prompt) for option in options.options]


def note(app):
    return str(app.screen.query_one("#note", Static).render())


async def test_a_word_of_the_row_finds_a_session_and_enter_goes_on_with_it():
    shelf = FakeShelf(replace(PARSER, name=FakeSession().name), PARSER, OLDER)
    app, session = open_picker(shelf)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot)
        assert len(rows(app)) == 2, "the open session is left out"
        assert "214 messages · 3 compactions · 3.1 MB · claude-sonnet-4-5" in rows(app)[0]
        await pilot.press(*"PARS")
        await until_idle(app, pilot)
        assert len(rows(app)) == 1
        await pilot.press("enter")
        await until_idle(app, pilot)
        assert session.reopened == [PARSER.name] and session.closed


async def test_all_words_ever_said_are_searched_and_shown_as_text_where_they_were_found():
    app, session = open_picker(shelf := FakeShelf(PARSER, OLDER, hits=(HIT,)))
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot)
        app.screen.query_one(Input).value = "needle"
        while shelf.ended != ["needle"]:
            await pilot.pause(0.02)
        await until_idle(app, pilot)
        assert shelf.searches == ["needle"]
        (row,) = rows(app)
        assert "result r4: the [bold]needle[/] in" in row and "\x1b" not in row
        await pilot.press("enter")
        await until_idle(app, pilot)
        assert session.reopened == [OLDER.name]


async def test_another_key_ends_a_search_that_runs_and_so_does_leaving():
    shelf = FakeShelf(PARSER, OLDER, hits=(HIT,), hold=asyncio.Event())
    app, _ = open_picker(shelf)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot)
        for text in ("zz", "zzww"):
            app.screen.query_one(Input).value = text
            while shelf.searches[-1:] != [text]:
                await pilot.pause(0.02)
            assert "searching…" in note(app) and len(rows(app)) == 1
        assert (shelf.searches, shelf.ended) == (["zz", "zzww"], ["zz"])
        await pilot.press("escape")
        while shelf.ended != ["zz", "zzww"]:
            await pilot.pause(0.02)
        assert isinstance(app.screen, PairScreen)


async def test_a_copy_is_gone_on_with():
    app, session = open_picker(FakeShelf(PARSER, OLDER))
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot)
        await pilot.press("down", "ctrl+f")
        await until_idle(app, pilot)
        assert session.reopened == [f"{OLDER.name}-copy"]


async def test_a_session_gets_a_name():
    app, _ = open_picker(shelf := FakeShelf(PARSER, OLDER))
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot)
        await pilot.press("ctrl+r", *"it", "enter")
        await until_idle(app, pilot)
        assert shelf.asked == [("rename", PARSER.name, "it")]
        assert "it  write the parser" in rows(app)[0]
        await pilot.press("ctrl+r", "ctrl+u", *"busy", "enter")
        await until_idle(app, pilot)
        assert "open in process 7" in note(app) and "it  write" in rows(app)[0]
        await pilot.press("ctrl+r", "x", "escape")
        await until_idle(app, pilot)
        assert len(shelf.asked) == 2 and isinstance(app.screen, ResumeScreen)


@pytest.mark.parametrize("key", ["n", "escape", "enter", "q", "ctrl+d"])
async def test_only_a_yes_deletes_a_session(key):
    app, _ = open_picker(shelf := FakeShelf(PARSER, OLDER))
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot)
        await pilot.press("ctrl+d")
        question = str(app.screen.query_one("#question", Static).render())
        assert "Delete “write the parser” for good (214 messages, 3.1 MB)?" in question
        await pilot.press(key)
        await until_idle(app, pilot)
        assert shelf.asked == [] and isinstance(app.screen, ResumeScreen)


async def test_a_deleted_session_leaves_the_list():
    app, _ = open_picker(shelf := FakeShelf(PARSER, OLDER))
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot)
        await pilot.press("ctrl+d", "y")
        await until_idle(app, pilot)
        assert shelf.asked == [("delete", PARSER.name)]
        assert len(rows(app)) == 1 and "1 session" in note(app)
        await pilot.press("y")
        assert app.screen.query_one("#search").value == "y", (
            "the search line has the keyboard again"
        )


async def test_a_session_is_written_to_a_file():
    app, _ = open_picker(shelf := FakeShelf(PARSER))
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot)
        await pilot.press("ctrl+e", "enter")
        await until_idle(app, pilot)
        assert shelf.asked == [("export", PARSER.name, f"palimpsest-{PARSER.name}.md")]
        assert "Wrote /srv/project/palimpsest-" in note(app)
        await pilot.press("ctrl+e", "ctrl+u", *"there.md", "enter")
        await until_idle(app, pilot)
        assert "exists already" in note(app)


async def test_one_that_is_open_elsewhere_is_told_first_and_one_of_a_newer_version_stays_closed():
    held = replace(PARSER, holder="process 7 since 12:03")
    newer = replace(OLDER, too_new=2)
    app, session = open_picker(FakeShelf(held, newer))
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot)
        assert "● open in process 7 since 12:03" in rows(app)[0]
        assert "written by a newer version (format 2)" in rows(app)[1]
        await pilot.press("down", "enter")
        await until_idle(app, pilot)
        assert "update to go on" in note(app)
        await pilot.press("up", "enter")
        await until_idle(app, pilot)
        assert "It is open in process 7 since 12:03" in note(app) and session.reopened == []
        await pilot.press("enter")
        await until_idle(app, pilot)
        assert session.reopened == [PARSER.name]


async def test_a_session_to_begin_with_that_is_open_elsewhere_leads_to_the_picker():
    async def busy(approver):
        raise SessionBusy("the session x is open in process 7", hint="Close it there.")

    app, session = open_picker(FakeShelf(PARSER), open_session=busy)
    async with app.run_test(size=(80, 24)) as pilot:
        await until_idle(app, pilot)
        assert isinstance(app.screen, ResumeScreen)
        assert "open in process 7. Ctrl+F goes on with a copy" in note(app)
        await pilot.press("ctrl+f")
        await until_idle(app, pilot)
        assert session.reopened == [f"{PARSER.name}-copy"]


async def test_of_very_many_sessions_the_first_are_shown_and_the_others_are_found():
    cards = [replace(OLDER, name=f"s{n}", first_words=f"task {n}") for n in range(SHOWN + 50)]
    app, _ = open_picker(FakeShelf(*cards))
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot)
        assert len(rows(app)) == SHOWN and "250 sessions" in note(app)
        await pilot.press(*"task 249")
        await until_idle(app, pilot)
        assert len(rows(app)) == 1


def test_words_are_marked_wherever_they_stand_whatever_their_case():
    words = words_of('"the Parser" İx ß')
    assert words[0] == "the parser"
    text = marked(Content("See THE PARSER, the parser"), words)
    assert [span.start for span in text.spans] == [4, 16]
    assert card_has(PARSER, ("write", "sonnet")) and not card_has(PARSER, ("reader",))
    nameless = replace(PARSER, first_words="", time="not a time")
    assert "(no words of yours)" in session_row(nameless, None, ()).plain
