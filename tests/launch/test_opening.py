"""The sessions of one run: opened with what holds, and each ended with all that belongs to it."""

from __future__ import annotations

import os
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from app.adapters.journal import Journal
from app.adapters.sandbox import Kind, Sandbox
from app.agent.session import Session
from app.core.events import ToolFinished
from app.core.messages import user
from app.errors import RecordUnwritable, SessionBusy
from app.headless import Refuser
from app.launch import confinement, graph
from app.launch.launch_options import Launch
from app.launch.opening import Opening
from app.settings import Settings
from tests.fakes.clock import FakeClock


@pytest.fixture
def opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opening:
    """A run on an empty folder, with the embedded model and a sandbox that confines nothing but has its folder."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    sandbox = Sandbox(Kind.NONE, tmp_path, scratch)
    monkeypatch.setattr(confinement, "find_sandbox", lambda _settings: sandbox)
    folder = tmp_path / "project"
    folder.mkdir()
    return Opening(Launch(folder, {}), Settings(folder=folder, demo=True))


async def supervisor_of(session: Session) -> int:
    """Run a command of the user's own; return the process above all commands of the session."""
    async with aclosing(session.run_command("echo $PPID", share=False)) as events:
        ended = [event async for event in events if isinstance(event, ToolFinished)]
    return int(ended[-1].text)


def lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def test_the_commands_of_a_session_end_with_it(opening: Opening) -> None:
    async with aclosing(opening):
        session = await opening.open(Refuser(), None)
        process = await supervisor_of(session)
        assert lives(process)
        await session.close()
        assert not lives(process)


async def test_what_nobody_closed_is_closed_at_the_end(opening: Opening, tmp_path: Path) -> None:
    async with aclosing(opening):
        session = await opening.open(Refuser(), None)
        process = await supervisor_of(session)
    assert session.closed and not lives(process)
    assert not (tmp_path / "scratch").exists()


async def test_a_record_whose_opening_failed_can_be_opened_again(
    opening: Opening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project" / ".transcripts"
    record = await Journal.create(root, clock=FakeClock())
    await record.append(user("hello"))
    await record.close()
    async with aclosing(opening):

        async def fail(_parts: Any) -> Session:
            raise RecordUnwritable("the disk is full")

        with monkeypatch.context() as broken:
            broken.setattr(Session, "open", fail)
            with pytest.raises(RecordUnwritable):
                await opening.open(Refuser(), record.session)
        again = await opening.open(Refuser(), record.session)
        assert again.name == record.session


async def test_the_sandbox_leaves_nothing_behind_when_no_session_could_be_opened(
    opening: Opening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any, **__: Any) -> Session:
        raise SessionBusy("it is open in process 7")

    monkeypatch.setattr(graph, "open_session", fail)
    with pytest.raises(SessionBusy):
        async with aclosing(opening):
            await opening.open(Refuser(), None)
    assert not (tmp_path / "scratch").exists()


async def test_a_session_that_cannot_be_closed_does_not_keep_the_others_open(
    opening: Opening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with aclosing(opening):
        first, second = [await opening.open(Refuser(), None) for _ in range(2)]
        process = await supervisor_of(second)

        async def fail() -> None:
            raise RecordUnwritable("the disk is full")

        monkeypatch.setattr(second._parts.record, "close", fail)
        with pytest.raises(RecordUnwritable):
            await opening.aclose()
    assert first.closed and not lives(process)
    assert not (tmp_path / "scratch").exists()


async def test_a_copy_knows_what_it_is_a_copy_of(opening: Opening) -> None:
    root = opening._settings.transcripts
    journal = await Journal.create(root, clock=FakeClock())
    await journal.append(user("hello"), spoken=(0,))
    await journal.close()
    async with aclosing(opening):
        first = await opening.open(Refuser(), journal.session)
        assert first.copy_of == ""
        second = await opening.open(Refuser(), await opening.shelf.fork(journal.session))
        assert second.copy_of == journal.session != second.name
    launch = Launch(opening._settings.folder, {}, resume=journal.session[-4:], fork=True)
    async with aclosing(Opening(launch, opening._settings)) as again:
        third = await again.open_first(Refuser())
        assert third.copy_of == journal.session != third.name
