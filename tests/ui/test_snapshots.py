"""Pictures of the states that a person would recognise; look at the SVG before accepting a new one."""

import asyncio
import time
from dataclasses import replace

import pytest

from app.agent.ledger import Run
from app.core.events import (
    AnswerFinished,
    BudgetChanged,
    Compacted,
    RequestSent,
    TextArrived,
    TodoItem,
    ToolFinished,
    ToolStarted,
    TurnStarted,
)
from tests.ui.fake_session import AUTO, BUDGET, HELD, MANUAL, MICRO, SAWTOOTH, FakeSession
from tests.ui.screens_in_use import pal_app
from tests.ui.test_approval_panel import edit
from tests.ui.test_pair_screen import until_idle

pytestmark = pytest.mark.xdist_group("snapshots")
SIZES = [(80, 24), (120, 40)]
ANSWER = """I read `parser.py` first.

## Plan
1. Accept a trailing comma.
2. Add a test.
"""


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def lived_in():
    session = FakeSession()
    session.reports = (
        replace(MICRO, requests=12),
        replace(HELD, requests=15),
        replace(AUTO, requests=19),
        replace(MICRO, requests=27),
    )
    session.runs = (Run("2026-11-28T09:00:00.000Z", 0), Run("2026-11-29T12:06:00.000Z", 16))
    session.contexts = SAWTOOTH
    session.todo = (
        TodoItem("Read the parser", "done"),
        TodoItem("Accept a comma", "doing"),
        TodoItem("Add a test"),
    )
    return session


async def opened(pilot):
    await until_idle(pilot.app, pilot)


async def working(pilot):
    await opened(pilot)
    pair = pilot.app.pair
    pair.status.wait("writing")
    for event in (
        TurnStarted("Make parse_list accept a trailing comma.", "m1"),
        RequestSent(1, 18_000),
        TextArrived(ANSWER),
        AnswerFinished("m2", None),
        ToolStarted("c1", "read_file", "src/parser.py", {}),
        ToolFinished(
            "c1", "read_file", True, "def x", "214 lines", 0.02, "r1", target="src/parser.py"
        ),
    ):
        pair.turns._view.show(event)
    pair.chat.draw_now()
    await pilot.pause(0.2)


async def full(pilot):
    await working(pilot)
    pair = pilot.app.pair
    pair.turns._view.show(BudgetChanged(replace(BUDGET, used=51_400, measured=True)))
    pair.turns._view.show(Compacted(MANUAL))
    await pilot.pause(0.2)


async def question(pilot):
    await opened(pilot)
    pilot.app.question = asyncio.ensure_future(pilot.app.approver.ask(edit()))
    await pilot.pause()


async def log(pilot):
    await opened(pilot)
    await pilot.press("ctrl+l")
    await pilot.pause()


async def completion(pilot):
    await opened(pilot)
    await pilot.press("slash", "c")
    await pilot.pause()


async def details(pilot):
    await opened(pilot)
    pilot.app.pair.commands.open_report(AUTO)
    await until_idle(pilot.app, pilot)
    await pilot.pause(0.5)


async def context(pilot):
    await opened(pilot)
    await pilot.press("ctrl+b")
    await pilot.pause()


async def going_back(pilot):
    await opened(pilot)
    pilot.app.pair.commands.run_rewind("")
    await until_idle(pilot.app, pilot)
    await pilot.press("down", "down")
    await until_idle(pilot.app, pilot)
    await pilot.pause(0.2)


STATES = {
    "empty": opened,
    "working": working,
    "full": full,
    "question": question,
    "log": log,
    "completion": completion,
    "details": details,
    "context": context,
    "rewind": going_back,
}


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
@pytest.mark.parametrize("state", STATES)
def test_dark(state, size, snap_compare):
    session = FakeSession() if state == "empty" else lived_in()
    app = pal_app(session, first_run=state == "empty")
    assert snap_compare(app, terminal_size=size, run_before=STATES[state])


@pytest.mark.parametrize("state", ["working", "question"])
def test_light(state, snap_compare):
    app = pal_app(lived_in(), theme="palimpsest-light")
    assert snap_compare(app, terminal_size=(80, 24), run_before=STATES[state])
