import asyncio
from dataclasses import replace

import pytest

from app.core.budget import Zone
from app.core.events import (
    BudgetChanged,
    Compacted,
    CompactionStarted,
    ErrorRaised,
    QueuedDelivered,
    RequestSent,
    RetryWaiting,
    TextArrived,
    ThinkingArrived,
    TodoChanged,
    TodoItem,
    TurnEnd,
    TurnEnded,
)
from app.core.permission import Mode, Rule, Verdict
from app.core.reports import Outcome
from app.errors import RecordUnwritable
from app.settings import Settings
from app.ui.commands import COMMANDS
from app.ui.screens.details import DetailsScreen
from app.ui.screens.pair import PairScreen
from app.ui.screens.resume import ResumeScreen
from app.ui.screens.turn_running import BACK
from app.ui.widgets.budget_gauge import BudgetGauge
from app.ui.widgets.context_chart import ContextChart
from app.ui.widgets.event_log import ReportList
from app.ui.widgets.header_bar import HeaderBar
from app.ui.widgets.key_footer import KeyFooter
from app.ui.widgets.queue_bar import QueueBar
from app.ui.widgets.todo_panel import TodoLine
from tests.ui.chat_app import chat_markdown
from tests.ui.fake_session import AUTO, BUDGET, HELD, MANUAL, MICRO, FakeSession, answer
from tests.ui.fake_shelf import FakeShelf
from tests.ui.screens_in_use import pal_app


def shown(widget):
    return str(widget.render())


async def until_idle(app, pilot):
    for _ in range(3):
        await pilot.pause()
        await app.workers.wait_for_complete()


async def say(app, pilot, text):
    app.pair.prompt.area.text = text
    await pilot.press("escape", "enter")
    await pilot.pause()


async def test_a_message_is_sent_and_its_answer_shown():
    app = pal_app(session := FakeSession([answer("It is **done**.")]))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"hi", "enter")
        await until_idle(app, pilot)
        assert session.asked == [("submit", "hi")]
        assert app.pair.chat.last_answer_markdown() == "It is **done**."
        assert "done" in shown(app.pair.status)


async def test_the_prompt_takes_keys_before_the_session_is_open_and_sends_then():
    gate, session = asyncio.Event(), FakeSession()

    async def slow(approver):
        await gate.wait()
        return session

    app = pal_app(open_session=slow)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"early", "enter")
        assert app.pair.session is None
        assert "early" in shown(app.pair.query_one(QueueBar))
        gate.set()
        await until_idle(app, pilot)
        assert session.asked == [("submit", "early")]


async def test_a_session_that_cannot_be_opened_says_why_and_the_next_message_tries_again():
    tries, session = [], FakeSession()

    async def opener(approver):
        tries.append(1)
        if len(tries) == 1:
            raise RecordUnwritable("the folder is read-only", hint="choose another")
        return session

    app = pal_app(open_session=opener)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "read-only" in chat_markdown(app.pair.chat)
        await say(app, pilot, "again")
        await until_idle(app, pilot)
        assert session.asked == [("submit", "again")]


async def test_an_empty_enter_does_nothing():
    app = pal_app(session := FakeSession())
    async with app.run_test() as pilot:
        await pilot.press("enter", "space", "enter")
        assert session.asked == []


@pytest.mark.parametrize("word", ["q", "quit", "exit", "/quit"])
async def test_words_that_quit_leave_and_close_the_session(word):
    app = pal_app(session := FakeSession())
    async with app.run_test() as pilot:
        await pilot.pause()
        await say(app, pilot, word)
        await pilot.pause()
        assert session.closed


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_a_message_that_is_cancelled_before_an_answer_comes_back_and_stands_once(key):
    hold = asyncio.Event()
    asking = [RequestSent(1, 18_000), TurnEnded(TurnEnd.DONE)]
    app = pal_app(FakeSession([asking, answer("the answer")], hold=hold))
    async with app.run_test() as pilot:
        await pilot.press("h", "o", "enter")
        await pilot.pause()
        await pilot.press("x", key)
        await until_idle(app, pilot)
        assert app.pair.prompt.area.text == "ho\nx"
        assert BACK in chat_markdown(app.pair.chat)
        hold.set()
        await pilot.press("backspace", "backspace", "enter")
        await until_idle(app, pilot)
        said = chat_markdown(app.pair.chat)
        assert said.count("ho\n") == 1 and said.index(BACK) < said.index("the answer")


async def test_a_message_that_is_cancelled_in_its_answer_does_not_come_back():
    turn = [RequestSent(1, 18_000), TextArrived("some"), TurnEnded(TurnEnd.DONE)]
    app = pal_app(FakeSession([turn], hold=asyncio.Event()))
    async with app.run_test() as pilot:
        await pilot.press("h", "o", "enter")
        await pilot.pause()
        await pilot.press("escape")
        await until_idle(app, pilot)
        assert app.pair.prompt.area.text == "" and BACK not in chat_markdown(app.pair.chat)


async def test_ctrl_d_quits_only_on_an_empty_prompt():
    app = pal_app(session := FakeSession())
    async with app.run_test() as pilot:
        await pilot.press("a", "home", "ctrl+d")
        assert not session.closed and app.pair.prompt.area.text == ""
        await pilot.press("ctrl+d")
        await pilot.pause()
        assert session.closed


async def test_ctrl_c_cancels_the_turn_and_only_an_announced_second_one_quits():
    hold = asyncio.Event()
    app = pal_app(session := FakeSession(hold=hold))
    async with app.run_test() as pilot:
        await pilot.press("h", "enter")
        await pilot.pause()
        assert app.pair.is_busy
        await pilot.press("ctrl+c")
        await until_idle(app, pilot)
        assert ("cancel", "") in session.asked and not session.closed
        assert "cancelled" in shown(app.pair.status)
        await pilot.press("ctrl+c")
        assert "again to quit" in shown(app.pair.status) and not session.closed
        app.time.now += 10
        await pilot.press("ctrl+c")
        assert not session.closed
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert session.closed


async def test_ctrl_c_with_a_draft_clears_it_and_up_brings_it_back():
    app = pal_app(session := FakeSession())
    async with app.run_test() as pilot:
        await pilot.press(*"draft", "ctrl+c")
        assert app.pair.prompt.area.text == "" and not session.closed
        await pilot.press("up")
        assert app.pair.prompt.area.text == "draft"


async def test_ctrl_c_copies_what_is_selected_instead_of_cancelling():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        await pilot.press(*"word", "shift+home", "ctrl+c")
        assert app.clipboard == "word"
        assert app.pair.prompt.area.text == "word"


async def test_escape_closes_the_popup_before_it_cancels_the_turn():
    app = pal_app(session := FakeSession(hold=asyncio.Event()))
    async with app.run_test() as pilot:
        await pilot.press("h", "enter", "slash")
        await pilot.pause()
        assert app.pair.prompt.popup.is_open
        await pilot.press("escape")
        assert not app.pair.prompt.popup.is_open and ("cancel", "") not in session.asked
        await pilot.press("escape")
        await until_idle(app, pilot)
        assert ("cancel", "") in session.asked


async def test_text_typed_during_a_turn_waits_in_sight_and_escape_brings_it_back():
    hold = asyncio.Event()
    app = pal_app(session := FakeSession(hold=hold))
    async with app.run_test() as pilot:
        await pilot.press("h", "enter")
        await pilot.press(*"later", "enter")
        await pilot.pause()
        assert session.queue == ("later",)
        assert "later" in shown(app.pair.query_one(QueueBar))
        await pilot.press("escape")
        await pilot.pause()
        assert session.queue == () and app.pair.prompt.area.text == "later"
        assert app.pair.is_busy


async def test_what_is_still_queued_at_the_end_becomes_the_next_turn():
    hold = asyncio.Event()
    app = pal_app(session := FakeSession(hold=hold))
    async with app.run_test() as pilot:
        await pilot.press("h", "enter")
        await pilot.press(*"next", "enter")
        await pilot.pause()
        hold.set()
        await until_idle(app, pilot)
        assert session.asked == [("submit", "h"), ("go_on", "")]
        assert "next" in chat_markdown(app.pair.chat)


class SlowQueue(FakeSession):
    """A session whose disk takes its time to keep what is typed ahead."""

    def __init__(self, hold):
        super().__init__(hold=hold)
        self.writing, self.written = asyncio.Event(), asyncio.Event()

    async def enqueue(self, text, pictures=()):
        self.writing.set()
        await self.written.wait()
        await super().enqueue(text, pictures)


async def test_a_message_that_is_still_written_when_the_turn_ends_begins_the_next_turn():
    hold = asyncio.Event()
    app = pal_app(session := SlowQueue(hold))
    async with app.run_test() as pilot:
        await pilot.press("h", "enter")
        await pilot.press(*"next", "enter")
        await session.writing.wait()
        hold.set()
        while app.pair.is_busy:
            await pilot.pause()
        session.written.set()
        await until_idle(app, pilot)
        assert session.asked == [("submit", "h"), ("go_on", "")]
        assert "next" in chat_markdown(app.pair.chat)
        assert session.queue == ()


async def test_a_message_that_is_still_written_when_the_turn_is_cancelled_waits_in_sight():
    app = pal_app(session := SlowQueue(asyncio.Event()))
    async with app.run_test() as pilot:
        await pilot.press("h", "enter")
        await pilot.press(*"next", "enter")
        await session.writing.wait()
        await pilot.press("escape")
        while app.pair.is_busy:
            await pilot.pause()
        session.written.set()
        await until_idle(app, pilot)
        assert session.queue == ("next",)
        assert "next" in shown(app.pair.query_one(QueueBar))


async def test_a_queued_message_that_was_delivered_is_shown_as_said():
    app = pal_app(FakeSession([answer("ok", QueuedDelivered("and test it", "m5"))]))
    async with app.run_test() as pilot:
        await say(app, pilot, "go")
        await until_idle(app, pilot)
        assert "and test it" in chat_markdown(app.pair.chat)


async def test_the_gauge_follows_the_stream_and_shows_the_new_figure_after_a_compaction():
    after = replace(BUDGET, used=9_000, measured=False)
    app = pal_app(
        FakeSession(
            [[TextArrived("x" * 4_000), Compacted(AUTO), BudgetChanged(after), *answer("ok")]]
        )
    )
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        gauge = app.pair.query_one(BudgetGauge)
        moved = []
        app.pair.watch(gauge, "budget", lambda budget: moved.append(budget.used), init=False)
        app.pair.turns._view.show(BudgetChanged(BUDGET))
        app.time.now += 1
        app.pair.turns._view.show(TextArrived("word " * 400))
        assert gauge.budget.used > BUDGET.used and not gauge.budget.measured
        await say(app, pilot, "go")
        await until_idle(app, pilot)
        assert 9_000 in moved


async def test_the_gauge_carries_its_zone_as_a_class():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        await pilot.pause()
        gauge = app.pair.query_one(BudgetGauge)
        assert gauge.has_class("-calm")
        gauge.budget = replace(BUDGET, used=51_000)
        assert gauge.has_class(f"-{Zone.OVER}") and not gauge.has_class("-calm")
        assert "compacts next" in shown(gauge)


@pytest.mark.parametrize("report", [MICRO, AUTO, MANUAL], ids=lambda r: r.layer.value)
async def test_each_layer_has_its_row_in_sight_at_80x24(report):
    app = pal_app(FakeSession([answer("ok", Compacted(report))]))
    async with app.run_test(size=(80, 24)) as pilot:
        await say(app, pilot, "go")
        await until_idle(app, pilot)
        lanes = app.pair.query_one("LayerLanes")
        rows = shown(lanes).split("\n")
        assert any(row.startswith(report.headline) for row in rows)
        assert lanes.region.height == 3 and app.pair.region.contains_region(lanes.region)


async def test_the_log_lists_every_report_with_its_transcript_line():
    session = FakeSession()
    session.reports = (MICRO, HELD, AUTO)
    app = pal_app(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        rows = [str(option.prompt) for option in app.pair.query_one(ReportList).options]
        assert [row.split("\n")[0] for row in rows] == [
            MICRO.headline,
            HELD.headline,
            AUTO.headline,
        ]
        assert "[transcript saved: .transcripts/s/transcript_0001.jsonl]" in rows[2]


async def test_a_compaction_leaves_a_divider_and_old_messages_in_the_chat():
    app = pal_app(
        FakeSession(
            [
                answer("first"),
                [CompactionStarted(AUTO.layer, "x"), Compacted(AUTO), *answer("second")],
            ]
        )
    )
    async with app.run_test() as pilot:
        await say(app, pilot, "one")
        await until_idle(app, pilot)
        await say(app, pilot, "two")
        await until_idle(app, pilot)
        text = chat_markdown(app.pair.chat)
        assert text.index("first") < text.index("50,310") < text.index("second")


async def test_a_refused_compaction_says_why_in_the_chat():
    refused = replace(
        MANUAL, outcome=Outcome.REFUSED, reason="nothing new since the last one", commit=0
    )
    app = pal_app(FakeSession([answer("ok", Compacted(refused))]))
    async with app.run_test() as pilot:
        await say(app, pilot, "go")
        await until_idle(app, pilot)
        assert "nothing new since the last one" in chat_markdown(app.pair.chat)


async def test_a_retry_is_counted_down_and_the_half_answer_is_taken_back():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        await pilot.pause()
        view = app.pair.turns._view
        app.pair.status.wait("asking")
        view.show(TextArrived("half an ans"))
        view.show(RetryWaiting(2, 5, 7.0, "the endpoint is overloaded"))
        assert "next in 7s" in shown(app.pair.status) and "Attempt 2 of 5" in shown(app.pair.status)
        app.time.now += 3
        assert "next in 4s" in shown(app.pair.status)
        assert "half an ans" not in chat_markdown(app.pair.chat)


async def test_the_status_says_what_is_waited_for_and_no_timer_runs_when_idle():
    hold = asyncio.Event()
    app = pal_app(FakeSession(hold=hold))
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        assert app.pair.status._timer is None
        await pilot.press("h", "enter")
        await pilot.pause()
        assert app.pair.status._timer is not None
        app.time.now += 12
        assert "12s" in shown(app.pair.status) and "Esc cancels" in shown(app.pair.status)
        hold.set()
        await until_idle(app, pilot)
        assert app.pair.status._timer is None


async def test_the_todo_list_is_in_sight():
    items = (TodoItem("read", "done"), TodoItem("write the parser", "doing"))
    app = pal_app(FakeSession([answer("ok", TodoChanged(items))]))
    async with app.run_test(size=(80, 24)) as pilot:
        await until_idle(app, pilot)
        app.pair.turns._view.show(TodoChanged(items))
        line = app.pair.query_one(TodoLine)
        await pilot.pause()
        assert line.display and "1/2" in shown(line) and "write the parser" in shown(line)


async def test_the_header_names_model_folder_key_source_and_mode():
    app = pal_app(FakeSession())
    async with app.run_test(size=(120, 40)) as pilot:
        await until_idle(app, pilot)
        line = shown(app.pair.query_one(HeaderBar))
        for part in ("claude-sonnet-4-5", "/srv/project", "key: .env", "asks first"):
            assert part in line


async def test_shift_tab_goes_through_the_modes_without_auto_when_there_is_no_sandbox():
    app = pal_app(session := FakeSession())
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        seen = []
        for _ in range(3):
            await pilot.press("shift+tab")
            seen.append(session.mode)
        assert seen == [Mode.ACCEPT_EDITS, Mode.READ_ONLY, Mode.ASK]


async def test_the_chart_gets_the_requests_of_the_session():
    session = FakeSession()
    session.contexts = (1_000, 2_000)
    app = pal_app(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await until_idle(app, pilot)
        assert app.pair.query_one(ContextChart).contexts == (1_000, 2_000)


async def test_enter_on_a_row_of_the_log_opens_its_details():
    session = FakeSession()
    session.reports = (MICRO, AUTO)
    app = pal_app(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await until_idle(app, pilot)
        await pilot.press("ctrl+l", "enter")
        await pilot.pause()
        assert isinstance(app.screen, DetailsScreen)
        await pilot.press("escape")
        assert isinstance(app.screen, PairScreen)


async def test_c_in_the_log_clears():
    app = pal_app(session := FakeSession())
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        await pilot.press("ctrl+l", "c")
        await until_idle(app, pilot)
        assert session.asked == [("clear_now", "")]


async def test_f_filters_the_log_by_layer():
    session = FakeSession()
    session.reports = (MICRO, HELD, AUTO, MANUAL)
    app = pal_app(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await until_idle(app, pilot)
        await pilot.press("ctrl+l")
        counts = []
        for _ in range(5):
            await pilot.press("f")
            counts.append(app.pair.query_one(ReportList).option_count)
        assert counts == [2, 1, 1, 1, 4]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (40, 20), (20, 5), (30, 10)])
async def test_every_size_keeps_the_prompt_and_the_gauge(size):
    app = pal_app(FakeSession([answer("word " * 300)]))
    async with app.run_test(size=size) as pilot:
        await say(app, pilot, "go")
        await until_idle(app, pilot)
        screen = app.pair.region
        assert screen.contains_region(app.pair.prompt.area.region)
        assert screen.contains_region(app.pair.query_one(BudgetGauge).region)
        assert app.pair.chat.size.height >= 1


async def test_resizing_while_text_streams_keeps_the_focus_in_the_prompt():
    app = pal_app(FakeSession(hold=asyncio.Event()))
    async with app.run_test(size=(200, 50)) as pilot:
        await pilot.press("h", "enter")
        for size in ((40, 20), (20, 5), (200, 50)):
            await pilot.resize_terminal(*size)
            app.pair.turns._view.show(TextArrived("more words\n"))
            await pilot.pause()
        assert app.pair.focused is app.pair.prompt.area


@pytest.mark.parametrize(
    "text",
    ["[/]", "[@click=app.quit]x[/]", '[link="http://x"]d[/link]', "\x1b]52;c;aGk=\x07", "\u202e"],
)
async def test_markup_and_escapes_from_outside_are_only_text(text):
    session = FakeSession([answer(f"a {text} b")])
    session.todo = (TodoItem(text, "doing"),)
    session.queue = (text,)
    session.reports = (replace(HELD, reason=text),)
    app = pal_app(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await until_idle(app, pilot)
        await say(app, pilot, text)
        await pilot.press("ctrl+l", "enter")
        await pilot.pause()
        assert "\x1b]52" not in app.export_screenshot()


async def test_slash_commands_in_an_answer_do_nothing():
    app = pal_app(session := FakeSession([answer("/mode auto\n/quit\n")]))
    async with app.run_test() as pilot:
        await say(app, pilot, "go")
        await until_idle(app, pilot)
        assert session.mode is Mode.ASK and not session.closed


async def test_the_first_run_says_at_most_three_lines():
    app = pal_app(FakeSession(), first_run=True)
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        assert (
            len([line for line in chat_markdown(app.pair.chat).split("\n\n") if line.strip()]) <= 3
        )


async def test_retry_sends_the_last_request_again():
    app = pal_app(session := FakeSession([answer("here it is")]))
    async with app.run_test() as pilot:
        await say(app, pilot, "/retry")
        await until_idle(app, pilot)
        assert session.asked == [("go_on", "")]
        assert "here it is" in chat_markdown(app.pair.chat)


async def test_rules_are_listed_added_explained_and_taken_back_by_number():
    app = pal_app(session := FakeSession())
    session.rules = (Rule(Verdict.ALLOW, "bash", "pytest *", "this session"),)
    async with app.run_test() as pilot:
        await say(app, pilot, "/rules")
        assert "bash: pytest *" in chat_markdown(app.pair.chat)
        await say(app, pilot, "/rules deny bash: git push")
        assert [str(rule) for rule in session.rules] == ["bash: pytest *", "bash: git push"]
        await say(app, pilot, "/rules allow :::")
        assert "is not a rule" in chat_markdown(app.pair.chat)
        await say(app, pilot, "/rules why make all")
        assert "ask: make all: it is not known." in chat_markdown(app.pair.chat)
        await say(app, pilot, "/rules why")
        assert "Nothing was asked in this session" in chat_markdown(app.pair.chat)
        await say(app, pilot, "/rules remove 2")
        await say(app, pilot, "/rules remove 1")
        assert session.rules == ()


async def test_an_unwritten_record_offers_to_go_on_unsaved_and_the_header_says_so():
    lost = [
        ErrorRaised("the disk is full", "Make room.", unwritten=True),
        TurnEnded(TurnEnd.FAILED),
    ]
    app = pal_app(FakeSession([lost]))
    async with app.run_test(size=(120, 40)) as pilot:
        await say(app, pilot, "go")
        await until_idle(app, pilot)
        assert "/unsaved" in chat_markdown(app.pair.chat)
        await say(app, pilot, "/unsaved")
        await pilot.pause()
        assert app.pair.query_one(HeaderBar).heading.unsaved
        assert "/tmp/elsewhere" in chat_markdown(app.pair.chat)


async def test_the_palette_offers_every_command():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        offered = {command.title for command in app.get_system_commands(app.screen)}
        assert offered == {f"/{command.name}" for command in COMMANDS}


async def test_ctrl_t_changes_between_dark_and_light():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        await pilot.press("ctrl+t")
        assert app.theme == "palimpsest-light"
        await pilot.press("ctrl+t")
        assert app.theme == "palimpsest-dark"


async def test_reading_earlier_text_holds_and_new_lines_are_counted_until_the_end_is_wanted():
    app = pal_app(FakeSession())
    async with app.run_test(size=(80, 24)) as pilot:
        await until_idle(app, pilot)
        for number in range(60):
            app.pair.chat.add_notice(f"note {number}")
        await pilot.pause(0.2)
        await pilot.press("pageup")
        held = app.pair.chat.scroll_y
        app.pair.chat.add_notice("a newer note")
        await pilot.pause(0.3)
        assert app.pair.chat.scroll_y == held
        assert "new line" in shown(app.pair.status)
        await pilot.press("ctrl+end")
        await pilot.pause(0.2)
        assert "new line" not in shown(app.pair.status)


async def test_an_undone_compaction_is_told_in_the_chat():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        app.pair.chat.add_divider(MANUAL)
        app.pair.submit("/undo")
        await until_idle(app, pilot)
        said = chat_markdown(app.pair.chat)
        assert "The manual compact is undone" in said and "14,200 -> 31,900" in said
        assert "manual compact ↺ taken back" in said


@pytest.mark.parametrize("shown", [True, False])
async def test_thinking_is_folded_unless_the_setting_shows_it(shown):
    thinking = [ThinkingArrived("a hidden thought"), *answer("done")]
    app = pal_app(
        FakeSession([thinking]), settings=Settings(api_key="k", model="m", show_thinking=shown)
    )
    async with app.run_test(size=(100, 30)) as pilot:
        await say(app, pilot, "go")
        await until_idle(app, pilot)
        assert ("a hidden thought" in app.export_screenshot().replace("&#160;", " ")) is shown


async def test_a_key_that_the_user_moved_is_the_one_that_hints_and_help_name():
    settings = Settings(api_key="k", model="m", keymap={"log": "f5"})
    app = pal_app(FakeSession(), settings=settings)
    async with app.run_test(size=(120, 30)) as pilot:
        await until_idle(app, pilot)
        assert "F5 log" in app.pair.query_one(KeyFooter).render().plain
        await pilot.press("f5")
        assert app.pair.has_class("-log-open")
        app.pair.submit("/help log")
        await pilot.pause()
        assert "F5" in app.screen.query("Static").last().render().plain


async def test_a_key_that_the_user_moved_is_the_one_that_sheets_name():
    moved = {"both": "f6", "close": "f7", "session_fork": "f8", "pin": "f9", "undo_here": "f12"}
    app = pal_app(FakeSession(), settings=Settings(api_key="k", model="m", keymap=moved))
    async with app.run_test(size=(120, 30)) as pilot:
        await until_idle(app, pilot)

        async def foot(command):
            app.pair.submit(command)
            await until_idle(app, pilot)
            return app.screen.query_one(KeyFooter).render().plain

        rewind = await foot("/rewind")
        assert "F6 both" in rewind and "F7 back" in rewind and "c conversation" in rewind
        await pilot.press("f7")
        app.push_screen(ResumeScreen(FakeShelf(), ""))
        await until_idle(app, pilot)
        assert "F8 fork" in app.screen.query_one(KeyFooter).render().plain
        await pilot.press("f7")
        app.push_screen(DetailsScreen(AUTO, app.pair.session, can_undo=True))
        await pilot.pause()
        details = app.screen.query_one(KeyFooter).render().plain
        assert "F12 undo it" in details and "F9 pin" in details and "r make it anew" in details


async def test_the_editor_is_not_opened_over_a_running_turn(monkeypatch, tmp_path):
    opened = tmp_path / "opened"
    monkeypatch.setenv("VISUAL", f"touch {opened}")
    app = pal_app(FakeSession(hold=asyncio.Event()))
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press("h", "enter", "ctrl+g")
        await pilot.pause()
        assert "when the turn has ended" in chat_markdown(app.pair.chat) + str(
            app.pair.status.render()
        )
        assert not opened.exists() and app.pair.is_busy


async def test_a_keymap_with_an_unknown_name_moves_no_key_and_no_hint():
    settings = Settings(api_key="k", model="m", keymap={"log": "f5", "contxt": "f6"})
    app = pal_app(FakeSession(), settings=settings)
    async with app.run_test(size=(120, 30)) as pilot:
        await until_idle(app, pilot)
        assert "Ctrl+L log" in app.pair.query_one(KeyFooter).render().plain


async def test_a_command_typed_before_the_session_is_open_waits_for_it():
    gate = asyncio.Event()
    session = FakeSession()

    async def open_session(approver):
        await gate.wait()
        session.approver = approver
        return session

    app = pal_app(session, open_session=open_session)
    async with app.run_test() as pilot:
        app.pair.submit("/undo")
        await pilot.pause()
        assert session.asked == []
        gate.set()
        await until_idle(app, pilot)
        assert ("undo", "") in session.asked
        assert "not open yet" not in chat_markdown(app.pair.chat)


async def test_a_session_gets_a_name_and_loses_it():
    session = FakeSession()
    app = pal_app(session)
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        for typed, said in (
            ("/rename the parser", "is called “the parser”"),
            ("/rename", "/rename - takes that away"),
            ("/rename -", "The name is gone"),
        ):
            app.pair.submit(typed)
            await until_idle(app, pilot)
            assert said in chat_markdown(app.pair.chat)
            header = app.pair.query_one(HeaderBar).render().plain
            assert ("“the parser”" in header) is bool(session.named)
        assert session.asked == [("rename", "the parser"), ("rename", "")]


async def test_a_command_stands_in_the_chat_before_its_answer_and_a_wrong_argument_runs_nothing():
    session = FakeSession()
    app = pal_app(session)
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        app.pair.submit("/undo redo")
        assert not session.asked
        assert "/undo takes nothing behind it" in chat_markdown(app.pair.chat)
        app.pair.submit("/exit0")
        assert "There is no command /exit0" in chat_markdown(app.pair.chat)
        app.pair.submit("/context")
        app.pair.submit("/cost")
        app.pair.submit("/theme")
        await until_idle(app, pilot)
        said = chat_markdown(app.pair.chat)
        assert said.index("> /cost") < said.index("> /theme") < said.index(app.theme)
        assert "> /context" not in said and not session.asked
