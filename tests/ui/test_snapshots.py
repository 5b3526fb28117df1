"""Pictures of the states that a person would recognise; look at the SVG before accepting a new one."""

import asyncio
import time
from dataclasses import replace

import pytest
from textual.events import Paste
from textual.widgets import TextArea

from app.agent.ledger import Run
from app.core.events import (
    AnswerFinished,
    ApprovalGiven,
    BudgetChanged,
    Compacted,
    RequestSent,
    RetryWaiting,
    TextArrived,
    TodoItem,
    ToolFinished,
    ToolStarted,
    TurnStarted,
)
from app.core.permission import Answered, ApprovalAnswer
from app.ui.wiring import SessionHit
from tests.ui.fake_session import AUTO, BUDGET, HELD, MANUAL, MICRO, SAWTOOTH, FakeSession
from tests.ui.fake_shelf import OLDER, PARSER, FakeShelf
from tests.ui.screens_in_use import pal_app
from tests.ui.test_approval_panel import edit
from tests.ui.test_pair_screen import until_idle

pytestmark = pytest.mark.xdist_group("snapshots")
SIZES = [(80, 24), (120, 40)]
DIFF = """--- a/src/parser.py
+++ b/src/parser.py
@@ -12,6 +12,7 @@ class Parser:
     def parse_list(self, tokens):
         items = []
-        for token in tokens:
-            items.append(int(token))
+        for token in self.significant(tokens):
+            if token != ",":
+                items.append(int(token))
         return items
"""
HITS = (
    SessionHit(PARSER.name, "m12", "you", "let the parser accept a trailing comma in each list"),
    SessionHit(OLDER.name, "r3", "result", "src/parser.py:12: def parse_list(tokens)"),
)
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


async def cards(pilot):
    """Tools that ended in every way, one of them with a diff, and what the user answered and ran."""
    await working(pilot)
    show = pilot.app.pair.turns._view.show
    failed = "Error: Dangerous command blocked: it ends all processes\n"
    for event in (
        ApprovalGiven(edit(), ApprovalAnswer(Answered.YES)),
        finished("c2", "edit_file", "src/parser.py", "+3 −2", diff=DIFF),
        finished("c3", "bash", "pytest -q tests/test_parser.py", "exit 1, 214 lines"),
        finished("c4", "bash", "kill -9 -1", "blocked", ok=False, text=failed),
        finished("c5", "!", "git status --short", "exit 0, 1 line · goes with your next message"),
    ):
        show(event)
    pilot.app.pair.chat.mark_cleared(["r1"])
    pilot.app.pair.chat.draw_now()
    await pilot.pause(0.2)


def finished(call, tool, target, outcome, *, ok=True, text="done", diff=""):
    return ToolFinished(call, tool, ok, text, outcome, 0.02, call, target=target, diff=diff)


async def preview(pilot):
    await opened(pilot)
    pilot.app.pair.submit("/compact preview the parser")
    await until(pilot, lambda: bool(pilot.app.screen.query(TextArea)))
    await until_idle(pilot.app, pilot)


async def resume(pilot):
    await opened(pilot)
    pilot.app.pair.commands.choose_session()
    await until(pilot, lambda: bool(pilot.app.screen.query("#search")))
    await pilot.press(*"parser")
    await until(pilot, lambda: note(pilot) == "2 sessions")
    await pilot.pause()


def note(pilot):
    return str(pilot.app.screen.query_one("#note").render())


async def until(pilot, done):
    while not done():
        await pilot.pause(0.02)


async def retrying(pilot):
    await working(pilot)
    pilot.app.pair.turns._view.show(RetryWaiting(2, 10, 47.0, "429: too many requests"))
    pilot.app.pair.chat.add_error("401: the key was not taken", "Set ANTHROPIC_API_KEY again.")
    pilot.app.pair.chat.draw_now()
    await pilot.pause(0.2)


async def prompt(pilot):
    """A folded paste in a prompt of two lines, and two messages that wait."""
    await opened(pilot)
    pair = pilot.app.pair
    pair.session.queue = ("and run the tests afterwards", "then tell me what changed")
    pair.refresh_session()
    await pilot.press(*"look")
    pilot.app.post_message(Paste("line\n" * 212))
    await until(pilot, lambda: "Pasted" in pair.prompt.area.text)
    await pilot.press("ctrl+j", *"why")
    await pilot.pause(0.2)


STATES = {
    "cards": cards,
    "preview": preview,
    "resume": resume,
    "retry": retrying,
    "prompt": prompt,
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
    app = pal_app(session, first_run=state == "empty", shelf=FakeShelf(PARSER, OLDER, hits=HITS))
    assert snap_compare(app, terminal_size=size, run_before=STATES[state])


@pytest.mark.parametrize("state", ["cards", "context"])
def test_large(state, snap_compare):
    app = pal_app(lived_in())
    assert snap_compare(app, terminal_size=(200, 60), run_before=STATES[state])


@pytest.mark.parametrize("state", ["cards", "full"])
def test_without_colour(state, snap_compare, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    app = pal_app(lived_in())
    assert snap_compare(app, terminal_size=(120, 40), run_before=STATES[state])


@pytest.mark.parametrize("state", ["working", "question"])
def test_light(state, snap_compare):
    app = pal_app(lived_in(), theme="palimpsest-light")
    assert snap_compare(app, terminal_size=(80, 24), run_before=STATES[state])
