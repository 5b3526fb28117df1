"""What is said when a session opens, and what becomes of the one before."""

from __future__ import annotations

import asyncio
import gc
import warnings
from dataclasses import replace
from typing import Any

from textual.pilot import Pilot

from app.core.conversation import Conversation
from app.core.history import Entry
from app.core.messages import user
from app.core.ports import Approver
from app.errors import PalError, RecordUnwritable, SessionBusy
from app.ui.app import PalApp
from app.ui.wiring import SessionReopener
from tests.ui.chat_app import chat_markdown
from tests.ui.fake_session import FakeSession
from tests.ui.fake_shelf import PARSER, FakeShelf
from tests.ui.screens_in_use import pal_app


async def test_damage_of_the_record_is_said_when_a_session_opens() -> None:
    session = FakeSession()
    session.notices = ("events.jsonl: 2 damaged lines were skipped (lines 3, 9).",)
    app = pal_app(session)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        await app.workers.wait_for_complete()
        assert "2 damaged lines were skipped" in chat_markdown(app.pair.chat)


async def test_an_empty_start_says_how_many_earlier_sessions_there_are() -> None:
    app = pal_app(session := FakeSession(), shelf=FakeShelf(PARSER, replace(PARSER, name="other")))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        await app.workers.wait_for_complete()
        said = chat_markdown(app.pair.chat)
        assert "2 earlier sessions in this folder; /resume lists them." in said
        app.leave()
        await app.workers.wait_for_complete()
    assert session.closed and app.parting == "", "nothing was said"


async def test_the_end_names_how_to_go_on_when_something_was_said() -> None:
    session = FakeSession()
    session.conversation = Conversation(
        entries=(Entry(1, 1, "2026-11-29T12:00:00.000Z", user("hello")),)
    )
    app = pal_app(session, shelf=FakeShelf(PARSER))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        await app.workers.wait_for_complete()
        assert "earlier session" not in chat_markdown(app.pair.chat)
        app.leave()
        await app.workers.wait_for_complete()
    assert app.parting == f"pal --continue goes on with this session ({session.name})"


def reopener(opened: list[FakeSession | PalError]) -> SessionReopener:
    """What opens the next of these, or fails with it."""

    async def reopen(approver: Approver, name: str | None) -> Any:
        found = opened.pop(0)
        if isinstance(found, PalError):
            raise found
        return found

    return reopen


async def type_line(app: PalApp, pilot: Pilot[None], text: str) -> None:
    app.pair.prompt.area.text = text
    await pilot.press("escape", "enter")
    await pilot.pause()
    await app.workers.wait_for_complete()


async def test_a_session_stays_when_another_cannot_be_opened_and_gets_what_is_said_next() -> None:
    busy = SessionBusy("the session x is open in process 7", hint="Close it there.")
    app = pal_app(first := FakeSession(), reopen=reopener([busy]))
    async with app.run_test(size=(100, 30)) as pilot:
        await type_line(app, pilot, "/resume x")
        assert not first.closed and app.pair.session is first
        await type_line(app, pilot, "go on")
        assert ("submit", "go on") in first.asked
        assert "open in process 7" in chat_markdown(app.pair.chat)


async def test_the_session_before_is_closed_once_the_other_is_open() -> None:
    second = FakeSession()
    app = pal_app(first := FakeSession(), reopen=reopener([second]))
    async with app.run_test(size=(100, 30)) as pilot:
        await type_line(app, pilot, "/clear")
        assert first.closed and not second.closed and app.pair.session is second


async def test_a_session_that_cannot_be_closed_does_not_keep_the_next_one_away() -> None:
    class Stuck(FakeSession):
        async def close(self) -> None:
            raise RecordUnwritable("the disk is full")

    second = FakeSession()
    app = pal_app(Stuck(), reopen=reopener([second]))
    async with app.run_test(size=(100, 30)) as pilot:
        await type_line(app, pilot, "/clear")
        assert app.pair.session is second
        assert "the disk is full" in chat_markdown(app.pair.chat)


async def test_what_was_typed_for_a_session_that_did_not_open_comes_back_to_the_prompt() -> None:
    gate = asyncio.Event()

    async def reopen(approver: Approver, name: str | None) -> Any:
        await gate.wait()
        raise RecordUnwritable("the disk is full")

    app = pal_app(first := FakeSession(), reopen=reopen)
    async with app.run_test(size=(100, 30)) as pilot:
        app.pair.prompt.area.text = "/clear"
        await pilot.press("escape", "enter")
        await pilot.press(*"next", "enter")
        gate.set()
        await app.workers.wait_for_complete()
        assert app.pair.prompt.area.text == "next"
        assert ("submit", "next") not in first.asked


async def test_the_session_that_is_open_is_not_opened_again() -> None:
    app = pal_app(session := FakeSession(), reopen=reopener([]))
    async with app.run_test(size=(100, 30)) as pilot:
        await type_line(app, pilot, f"/resume {session.name}")
        assert not session.closed and app.pair.session is session
        assert "already" in chat_markdown(app.pair.chat)


async def test_leaving_before_the_opening_began_leaves_nothing_unfinished_behind() -> None:
    app = pal_app(FakeSession(), reopen=reopener([FakeSession()]))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        app.pair.opening.change(None)
        app.workers.cancel_all()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            await pilot.pause()
            gc.collect()
        assert [str(each.message) for each in told] == []


async def test_a_copy_that_goes_on_says_so_and_of_what_by_the_name_that_the_user_gave() -> None:
    session = FakeSession()
    session.named, session.copy_of = "the parser", "2026-11-29T22-16-40Z-f216"
    session.pages = [(Entry(1, 1, "2026-11-29T12:00:00.000Z", user("hello")),)]
    app = pal_app(session)
    async with app.run_test(size=(160, 30)) as pilot:
        await pilot.pause()
        await app.workers.wait_for_complete()
        said = chat_markdown(app.pair.chat)
        assert f"“the parser” ({session.name}), a copy of {session.copy_of}, which stays" in said
