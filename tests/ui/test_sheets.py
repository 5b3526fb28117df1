from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList, Static, TextArea

from app.compaction.asking import METHODS
from app.core.conversation import Conversation
from app.core.reports import DIGEST, EDITED, REDONE, Layer, Outcome
from app.errors import ConfigError
from app.settings import Level, Settings, TrustItem, TrustQuestion
from app.ui.report_text import taken_back_at
from app.ui.screens.details import MADE_BY, facts_of
from app.ui.screens.help import groups, help_text
from app.ui.screens.trust import TrustScreen
from tests.ui.chat_app import chat_markdown
from tests.ui.fake_session import AUTO, HELD, MANUAL, MICRO, FakeSession
from tests.ui.fake_shelf import PARSER, FakeShelf
from tests.ui.screens_in_use import pal_app
from tests.ui.test_pair_screen import until_idle

QUESTION = TrustQuestion(
    Path("/srv/project"),
    (
        TrustItem(".env", "ANTHROPIC_BASE_URL", "https://llm.example.org", True),
        TrustItem(".env", "PAL_THRESHOLD", "[/]80_000", False),
    ),
    "fingerprint",
    changed=False,
    endpoint="https://llm.example.org",
    foreign_key="environment",
)


def all_text(app):
    return "\n".join(str(static.render()) for static in app.screen.query(Static))


async def open_report(app, pilot, report):
    app.pair.commands.open_report(report)
    await until_idle(app, pilot)


async def test_details_say_why_what_it_saved_and_where_the_transcript_is():
    app = pal_app(FakeSession())
    async with app.run_test(size=(120, 40)) as pilot:
        await until_idle(app, pilot)
        await open_report(app, pilot, AUTO)
        text = all_text(app)
        for part in (
            AUTO.reason,
            "50,310 → 17,900, 64% saved",
            "42 messages",
            "6 messages verbatim",
            "$0.021",
            AUTO.transcript,
        ):
            assert part in text
        assert AUTO.summary in text


async def test_the_views_before_and_after_are_compared():
    app = pal_app(FakeSession())
    async with app.run_test(size=(120, 40)) as pilot:
        await until_idle(app, pilot)
        await open_report(app, pilot, AUTO)
        app.screen.query_one("TabbedContent").active = "tab-change"
        await until_idle(app, pilot)
        table = all_text(app)
        assert "before" in table and "after" in table and "together" in table
        rows = [str(option.prompt) for option in app.screen.query_one(OptionList).options]
        went = next(row for row in rows if "r1" in row)
        assert went.startswith("−") and "read_file src/parser.py → lines 1-80" in went
        assert any(row.startswith("+") and "Facts, from the record" in row for row in rows)
        assert any(row.startswith("=") and "you: accept one" in row for row in rows)


async def test_what_went_and_what_came_can_be_read_in_full():
    app = pal_app(FakeSession())
    async with app.run_test(size=(120, 40)) as pilot:
        await until_idle(app, pilot)
        await open_report(app, pilot, AUTO)
        app.screen.query_one("TabbedContent").active = "tab-change"
        await until_idle(app, pilot)
        rows = app.screen.query_one(OptionList)
        for piece, text in (("r1", "the whole text of r1"), ("piece:came:1", "reads lists")):
            rows.highlighted = rows.get_option_index(piece)
            await pilot.press("enter")
            await until_idle(app, pilot)
            assert text in str(app.screen.query("PieceReader Static").last().render())


async def test_each_cleared_result_can_be_opened_in_full_and_pinned():
    app = pal_app(session := FakeSession())
    async with app.run_test(size=(80, 24)) as pilot:
        await until_idle(app, pilot)
        await open_report(app, pilot, MICRO)
        app.screen.query_one("TabbedContent").active = "tab-results"
        await until_idle(app, pilot)
        await pilot.press("down", "enter")
        await until_idle(app, pilot)
        assert "the whole text of r2" in all_text(app)
        await pilot.press("p")
        await until_idle(app, pilot)
        assert session.asked == [("pin", "r2")]
        assert "pinned" in str(app.screen.query_one(OptionList).highlighted_option.prompt)


async def test_only_the_newest_compaction_in_force_can_be_undone():
    session = FakeSession()
    session.reports = (AUTO, MANUAL)
    session.conversation = replace(Conversation(), base=MANUAL.commit)
    app = pal_app(session)
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        await open_report(app, pilot, AUTO)
        await pilot.press("u")
        await until_idle(app, pilot)
        assert session.asked == []
        await pilot.press("escape")
        await open_report(app, pilot, MANUAL)
        await pilot.press("u")
        await until_idle(app, pilot)
        assert session.asked == [("undo", "")]


async def test_a_result_can_be_brought_back_into_the_conversation():
    app = pal_app(session := FakeSession())
    async with app.run_test(size=(80, 24)) as pilot:
        await until_idle(app, pilot)
        await open_report(app, pilot, MICRO)
        app.screen.query_one("TabbedContent").active = "tab-results"
        await until_idle(app, pilot)
        await pilot.press("down", "b")
        await until_idle(app, pilot)
        assert session.asked == [("bring_back", "r2")]


def test_a_compaction_that_was_taken_back_says_so():
    undone = replace(AUTO, outcome=Outcome.UNDONE, time="2026-11-29T12:30:00.000Z")
    assert taken_back_at(AUTO, (AUTO, MANUAL, undone)) == undone.time
    assert taken_back_at(MANUAL, (AUTO, MANUAL, undone)) is None
    said = dict(facts_of(AUTO, taken_back=undone.time))
    assert "then taken back" in said["outcome"]


def test_how_a_summary_came_about_is_said_in_words_and_an_undo_costs_nothing():
    made = dict(facts_of(replace(HELD, layer=Layer.MANUAL, method="stubs", cost=None)))
    assert "copy" in made["made by"] and made["cost"]
    taken_back = replace(HELD, layer=Layer.MANUAL, outcome=Outcome.UNDONE, cost=None)
    assert "cost" not in dict(facts_of(taken_back))
    assert set(MADE_BY) == {*METHODS, DIGEST, EDITED, REDONE}


def test_what_does_not_apply_to_a_report_is_left_out():
    names = [name for name, _ in facts_of(HELD)]
    assert "cost" not in names and "kept" not in names and "why" in names


async def test_a_preview_can_be_edited_before_it_is_applied():
    app = pal_app(session := FakeSession())
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        app.pair.submit("/compact preview the parser")
        await until_idle(app, pilot)
        area = app.screen.query_one(TextArea)
        assert area.text.startswith("## What was accomplished")
        area.text = "my own words"
        await pilot.press("ctrl+s")
        await until_idle(app, pilot)
        assert session.asked == [("preview", "the parser"), ("apply_preview", "my own words")]


async def test_leaving_a_preview_applies_nothing():
    app = pal_app(session := FakeSession())
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        app.pair.submit("/compact preview")
        await until_idle(app, pilot)
        await pilot.press("escape")
        await until_idle(app, pilot)
        assert session.asked == [("preview", "")]


async def test_a_setting_of_the_layers_changes_at_once():
    app = pal_app(session := FakeSession())
    async with app.run_test(size=(120, 40)) as pilot:
        await until_idle(app, pilot)
        app.pair.submit("/settings threshold")
        await pilot.pause()
        await pilot.press("enter")
        app.screen.query_one("#value", Input).value = "30_000"
        await pilot.press("enter")
        assert session.policy.auto.threshold == 30_000
        assert "30_000" in str(app.screen.query_one(OptionList).highlighted_option.prompt)
        await pilot.press("escape")
        assert "/ 30,000" in str(app.pair.query_one("BudgetGauge").render())


async def test_a_value_that_is_not_allowed_is_told_and_changes_nothing():
    app = pal_app(session := FakeSession())
    async with app.run_test(size=(120, 40)) as pilot:
        await until_idle(app, pilot)
        app.pair.submit("/settings threshold")
        await pilot.pause()
        await pilot.press("enter")
        app.screen.query_one("#value", Input).value = "many"
        await pilot.press("enter")
        assert "not allowed" in all_text(app)
        assert session.policy.auto.threshold == 50_000


async def test_a_setting_can_be_kept_for_all_sessions():
    kept = []
    app = pal_app(FakeSession(), save_setting=lambda name, value: kept.append((name, value)))
    async with app.run_test(size=(120, 40)) as pilot:
        await until_idle(app, pilot)
        app.pair.submit("/settings keep_recent")
        await pilot.pause()
        await pilot.press("enter")
        app.screen.query_one("#value", Input).value = "5"
        await pilot.press("ctrl+s")
        assert kept == [("micro_keep_recent", "5")] or kept == [("keep_recent", "5")]


async def test_the_list_of_settings_shows_values_sources_and_no_key():
    app = pal_app(FakeSession())
    async with app.run_test(size=(120, 60)) as pilot:
        await until_idle(app, pilot)
        app.pair.submit("/settings")
        await pilot.pause()
        rows = [str(option.prompt) for option in app.screen.query_one(OptionList).options]
        assert any("model" in row and "claude-sonnet-4-5" in row and ".env" in row for row in rows)
        assert not any("sk-test-key" in row for row in rows)


async def test_typing_in_the_list_of_settings_searches_and_down_goes_back_to_it():
    app = pal_app(FakeSession())
    async with app.run_test(size=(120, 40)) as pilot:
        await until_idle(app, pilot)
        app.pair.submit("/settings")
        await pilot.pause()
        await pilot.press(*"recent")
        options = app.screen.query_one(OptionList)
        assert next(option.id for option in options.options) == "keep_recent"
        await pilot.press("down")
        assert options.has_focus
        await pilot.press("enter")
        assert app.screen.query_one("#value", Input).has_focus


async def test_enter_after_a_search_opens_the_setting_and_ctrl_u_clears_the_search():
    app = pal_app(FakeSession(), settings=Settings(demo=True))
    async with app.run_test(size=(120, 40)) as pilot:
        await until_idle(app, pilot)
        app.pair.submit("/settings")
        await pilot.pause()
        screen, options = app.screen, app.screen.query_one(OptionList)
        count = options.option_count
        assert any("embedded" in str(option.prompt) for option in options.options)
        await pilot.press(*"keep_recent")
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert screen.query_one("#value", Input).has_focus and options.option_count == 1
        await pilot.press("escape", "ctrl+u")
        await pilot.pause()
        assert options.has_focus and options.option_count == count
        await pilot.press(*"zzzz", "enter")
        await pilot.pause()
        assert options.option_count == 0 and "No setting fits “zzzz”" in all_text(app)
        await pilot.press("ctrl+u")
        await pilot.pause()
        assert options.option_count == count


@pytest.mark.parametrize("name", ["api_key", "auth_token"])
async def test_a_key_is_not_advised_on_a_command_line(name):
    app = pal_app(FakeSession())
    async with app.run_test(size=(120, 40)) as pilot:
        await until_idle(app, pilot)
        app.pair.submit(f"/settings {name}")
        await pilot.pause()
        await pilot.press("enter")
        assert f"ANTHROPIC_{name.upper()} in the environment" in all_text(app)
        assert "--set" not in all_text(app)


@pytest.mark.parametrize(
    ("key", "level"),
    [("y", Level.ALL), ("p", Level.PLAIN), ("n", Level.NOTHING), ("escape", Level.NOTHING)],
)
async def test_trust_is_asked_before_anything_is_opened(key, level, monkeypatch):
    monkeypatch.setattr("app.ui.screens.trust.GRACE", 0.0)
    opened, answers = [], []

    async def opener(approver):
        opened.append(1)
        return FakeSession()

    def answer(given):
        answers.append(given)
        return Settings(folder=Path("/srv/project"), demo=True)

    app = pal_app(open_session=opener, trust=QUESTION, answer_trust=answer)
    async with app.run_test() as pilot:
        await pilot.pause()
        assert isinstance(app.screen, TrustScreen) and not opened
        text = all_text(app)
        assert (
            "https://llm.example.org" in text
            and "key from environment" in text
            and "[/]80_000" in text
        )
        await pilot.press(key)
        await until_idle(app, pilot)
        assert answers == [level] and opened == [1]


async def test_a_key_typed_too_early_does_not_trust():
    app = pal_app(FakeSession(), trust=QUESTION)
    async with app.run_test() as pilot:
        await pilot.press("y")
        assert isinstance(app.screen, TrustScreen)


async def test_a_session_that_cannot_be_resumed_leaves_a_clear_error():
    async def reopen(approver, name):
        raise ConfigError("session", "there is none of that name")

    app = pal_app(FakeSession(), reopen=reopen)
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        app.pair.submit("/resume nonsense")
        await until_idle(app, pilot)
        assert "there is none of that name" in chat_markdown(app.pair.chat)


async def test_the_models_of_the_endpoint_are_offered():
    app = pal_app(session := FakeSession())
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        app.pair.submit("/model")
        await until_idle(app, pilot)
        await pilot.press("down", "enter")
        await until_idle(app, pilot)
        assert session.model == "claude-haiku-4-5"
        assert "claude-haiku-4-5" in str(app.pair.query_one("HeaderBar").render())


async def test_a_key_without_a_model_asks_for_one():
    session = FakeSession()
    session.model = ""
    app = pal_app(session)
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        assert "choose one" in chat_markdown(app.pair.chat)
        await pilot.press("enter")
        await until_idle(app, pilot)
        assert session.model == "claude-sonnet-4-5"


@pytest.mark.parametrize("word", ["compact", "Ctrl+B", "quit"])
def test_help_finds_commands_and_keys(word):
    assert word.casefold() in str(help_text(word, 80)).casefold()


def test_help_lists_every_group():
    text = str(help_text("", 80))
    assert all(title in text for title, _ in groups())


@pytest.mark.parametrize("command", ["/settings", "/help", "/resume"])
async def test_no_cursor_of_a_sheet_blinks(command):
    app = pal_app(FakeSession(), shelf=FakeShelf(PARSER))
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        app.pair.submit(command)
        await until_idle(app, pilot)
        lines = app.screen.query(Input)
        assert lines and not any(line.cursor_blink for line in lines)
