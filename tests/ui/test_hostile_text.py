"""Hostile text pushed through every place of the screen: nothing acts, nothing hides, nothing is read as markup."""

from __future__ import annotations

import unicodedata
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.budget import Usage
from app.core.events import (
    AnswerFinished,
    Compacted,
    ErrorRaised,
    Notice,
    TextArrived,
    ThinkingArrived,
    TodoChanged,
    TodoItem,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnEnd,
    TurnEnded,
)
from app.core.permission import ApprovalRequest, Rule, Verdict
from app.core.requests import ModelInfo
from app.errors import PalError
from app.settings import Settings, TrustItem, TrustQuestion
from app.ui.app import PalApp
from app.ui.commands import Completion
from app.ui.wiring import SessionCard, SessionHit
from tests.ui.fake_session import AUTO, MANUAL, MICRO, FakeSession
from tests.ui.screens_in_use import pal_app
from tests.ui.test_pair_screen import say, until_idle

ACTING = "\x1b]52;c;aGk=\x07\x1b]0;own\x07\x1b]8;;http://x\x07\x1b[2J\x9b2J\x90q\x9c\x1b[?1049l\r\b"
HIDING = "\u202eevil\u2066\u200b\u2060\U000e0041\U000e0042\ufeff\u00ad"
MARKUP = "[@click=app.quit]x[/] [/ [/] [stage=val: z] \\[bold] [link='http://x']d[/link] [$x]"
NASTY = f"here {MARKUP} {ACTING} {HIDING} " + "a" + "\u0301" * 300
HIDDEN = set("\u202e\u2066\u200b\u2060\U000e0041\ufeff\u00ad")


def assert_tame(app: PalApp) -> str:
    """Check all that is painted now, and return it."""
    text = ""
    for strip in app.screen._compositor.render_strips():
        for segment in strip:
            meta = segment.style.meta if segment.style else {}
            assert "@click" not in meta or "quit" not in str(meta["@click"]), segment
            assert segment.style is None or not str(segment.style.link or "").startswith("http://x")
            text += segment.text
        text += "\n"
    bad = [c for c in text if unicodedata.category(c) in ("Cc", "Cs") and c != "\n"]
    assert bad == []
    assert not HIDDEN & set(text)
    assert "\u0301" * 33 not in text
    return text


async def shelf_cards() -> AsyncIterator[list[SessionCard]]:
    yield [SessionCard("s-1", NASTY, NASTY, 3, 1, NASTY, 10, NASTY, 0, NASTY)]


class Shelf:
    def cards(self) -> AsyncIterator[list[SessionCard]]:
        return shelf_cards()

    async def search(self, text: str) -> AsyncIterator[SessionHit]:
        yield SessionHit("s-1", "m1", NASTY, NASTY)


class Session(FakeSession):
    async def models(self) -> tuple[ModelInfo, ...]:
        return (ModelInfo("x" + NASTY, NASTY, 1_000),)

    async def recall(self, id_: str) -> str:
        return NASTY


def hostile_turn() -> list:
    report = replace(AUTO, reason=NASTY, summary=NASTY, focus=NASTY, transcript=NASTY)
    return [
        ThinkingArrived(NASTY),
        TextArrived(
            f"# {NASTY}\n\n* {NASTY}\n\n```{MARKUP}\n{NASTY}\n```\n\n| {NASTY} |\n|--|\n| b |\n"
        ),
        AnswerFinished("m2", Usage()),
        ToolStarted("c1", "bash", NASTY, {"command": NASTY}),
        ToolOutput("c1", NASTY),
        ToolFinished("c1", "bash", False, NASTY, NASTY, 0.1, "r1", target=NASTY),
        ToolStarted("c2", NASTY, NASTY, {"path": NASTY}),
        ToolFinished(
            "c2",
            NASTY,
            True,
            NASTY,
            NASTY,
            0.1,
            "r2",
            diff=f"--- a\n+++ b\n@@ -1 +1 @@\n-{NASTY}\n+{NASTY}\n",
        ),
        Notice(NASTY, warning=True),
        ErrorRaised(NASTY, NASTY),
        TodoChanged((TodoItem(NASTY, "doing"),)),
        Compacted(report),
        Compacted(replace(MICRO, reason=NASTY)),
        Compacted(replace(MANUAL, focus=NASTY, summary=NASTY)),
        TurnEnded(TurnEnd.DONE, text=NASTY),
    ]


def hostile_app() -> PalApp:
    session = Session([hostile_turn()])
    session.queue = (NASTY,)
    session.model = NASTY
    session.todo = (TodoItem(NASTY, "doing"),)
    session.rules = (Rule(Verdict.ALLOW, "bash", NASTY, NASTY),)
    session.notices = (NASTY,)
    settings = Settings(
        folder=Path(f"/srv/{NASTY.replace('/', '-')}"),
        api_key="sk-test-key",
        model=NASTY,
        base_url="https://x",
        theme="palimpsest-dark",
        problems=(NASTY,),
    )
    return pal_app(session, settings=settings, shelf=Shelf())


@pytest.mark.parametrize("size", [(80, 24), (140, 50)])
async def test_the_screen_with_chat_log_header_tasks_and_cards(size: tuple[int, int]) -> None:
    app = hostile_app()
    async with app.run_test(size=size, notifications=True) as pilot:
        await until_idle(app, pilot)
        assert_tame(app)
        await say(app, pilot, f"please {MARKUP} {HIDING}")
        await until_idle(app, pilot)
        for key in ("tab", "home", "enter", "end", "ctrl+l", "ctrl+b", "escape"):
            await pilot.press(key)
            await pilot.pause()
            assert_tame(app)
        app.notify(NASTY, title=NASTY, markup=False)
        await pilot.pause()


@pytest.mark.parametrize(
    "command",
    [
        "/help [/",
        "/context",
        "/resume",
        "/model",
        "/settings",
        "/status",
        "/rules",
        "/queue",
        "/cost",
        "/nothing[/",
        f"/mode {MARKUP}",
        f"/theme {MARKUP}",
        "/rules why ls [/ \u202e",
    ],
)
async def test_every_sheet_and_answer_of_a_command(command: str) -> None:
    app = hostile_app()
    async with app.run_test(size=(110, 40)) as pilot:
        await until_idle(app, pilot)
        await say(app, pilot, command)
        await until_idle(app, pilot)
        assert_tame(app)


@pytest.mark.parametrize("tab", ["tab-summary", "tab-facts", "tab-results", "tab-diff", None])
async def test_the_details_of_a_compaction(tab: str | None) -> None:
    app = hostile_app()
    report = replace(AUTO, reason=NASTY, summary=NASTY, transcript=NASTY, results=("r1",))
    async with app.run_test(size=(120, 40)) as pilot:
        await until_idle(app, pilot)
        app.pair.commands.open_report(report)
        await until_idle(app, pilot)
        tabs = app.screen.query_one("TabbedContent")
        if tab in {pane.id for pane in tabs.query("TabPane")}:
            tabs.active = tab
        await until_idle(app, pilot)
        assert_tame(app)
        if tab is None:
            app.pair.commands.open_result("r1")
            await until_idle(app, pilot)
            assert_tame(app)


@pytest.mark.parametrize("is_diff", [False, True])
async def test_the_question_before_a_call(is_diff: bool) -> None:
    app = hostile_app()
    rule = Rule(Verdict.ALLOW, "bash", NASTY)
    request = ApprovalRequest(
        "c9", "bash", NASTY, NASTY, is_diff, NASTY, rule, (rule,), editable=not is_diff
    )
    async with app.run_test(size=(100, 40)) as pilot:
        await until_idle(app, pilot)
        task = app.run_worker(app.approver.ask(request))
        await pilot.pause()
        assert "hidden characters" in assert_tame(app)
        task.cancel()


async def test_the_question_of_trust() -> None:
    question = TrustQuestion(
        Path("/srv/x"),
        (TrustItem(NASTY, NASTY, NASTY, True),),
        "fingerprint",
        changed=True,
        endpoint=NASTY,
        foreign_key=NASTY,
        plain_http=NASTY,
    )
    settings = Settings(folder=Path("/srv/x"), demo=True)
    app = pal_app(trust=question, answer_trust=lambda level: settings, settings=settings)
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.pause()
        assert_tame(app)


async def test_completions_of_the_prompt() -> None:
    app = hostile_app()
    async with app.run_test(size=(100, 40)) as pilot:
        await until_idle(app, pilot)
        app.pair.prompt.popup.offer([Completion(NASTY, NASTY, NASTY)])
        await pilot.pause()
        assert_tame(app)


async def test_what_is_copied_neither_acts_nor_hides() -> None:
    app = hostile_app()
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        app.copy_to_clipboard(NASTY)
        assert not HIDDEN & set(app.clipboard)
        assert not {"\x1b", "\x9b", "\r", "\x07"} & set(app.clipboard)


class Failing(FakeSession):
    async def models(self) -> tuple[ModelInfo, ...]:
        raise PalError(NASTY, hint=NASTY)

    async def recall(self, id_: str) -> str:
        raise PalError(NASTY, hint=NASTY)

    async def around(self, commit: int) -> tuple:
        raise PalError(NASTY, hint=NASTY)


async def test_errors_on_sheets() -> None:
    app = pal_app(Failing())
    async with app.run_test(size=(110, 40)) as pilot:
        await until_idle(app, pilot)
        app.pair.commands.open_report(replace(AUTO, results=("r1",)))
        await until_idle(app, pilot)
        for tab in ("tab-change", "tab-facts", "tab-results"):
            app.screen.query_one("TabbedContent").active = tab
            await until_idle(app, pilot)
            assert_tame(app)
        await pilot.press("enter")
        await until_idle(app, pilot)
        assert_tame(app)
        app.pair.commands.open_result("r1")
        await until_idle(app, pilot)
        assert_tame(app)
        await pilot.press("escape", "escape")
        await say(app, pilot, "/model")
        await until_idle(app, pilot)
        assert_tame(app)
