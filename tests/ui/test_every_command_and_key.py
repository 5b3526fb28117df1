"""One Pilot test for each command and each key of the tables, so that none is forgotten."""

from dataclasses import replace

import pytest
from textual.command import CommandPalette
from textual.events import Paste

from app.core.permission import Answered, Mode
from app.settings import Level
from app.ui.chat.entries import Fold
from app.ui.commands import COMMANDS
from app.ui.keymap import KEYS, Place
from app.ui.screens.context import ContextScreen
from app.ui.screens.details import DetailsScreen
from app.ui.screens.help import HelpScreen
from app.ui.screens.models import ModelScreen
from app.ui.screens.original import OriginalScreen
from app.ui.screens.pair import PairScreen
from app.ui.screens.queue import QueueScreen
from app.ui.screens.resume import ResumeScreen
from app.ui.screens.rewind import RewindScreen
from app.ui.screens.settings import SettingsScreen
from app.ui.screens.trust import TrustScreen
from app.ui.widgets.approval_panel import GRACE
from app.ui.widgets.words_area import WordsArea
from tests.ui.chat_app import chat_markdown, screen_lines, screen_text
from tests.ui.fake_session import AUTO, HELD, MANUAL, MICRO, FakeSession, answer
from tests.ui.fake_shelf import PARSER, FakeShelf
from tests.ui.screens_in_use import pal_app
from tests.ui.test_approval_panel import alone, asked, command, text_of
from tests.ui.test_pair_screen import shown, until_idle
from tests.ui.test_sheets import QUESTION


def chat_has(word):
    return lambda app, session: word in chat_markdown(app.pair.chat)


def screen_is(kind):
    return lambda app, session: isinstance(app.screen, kind)


def asked_for(*wanted):
    return lambda app, session: wanted in session.asked


COMMAND_EFFECTS = {
    "help": screen_is(HelpScreen),
    "compact": asked_for("compact", ""),
    "undo": asked_for("undo", ""),
    "rewind": screen_is(RewindScreen),
    "context": screen_is(ContextScreen),
    "cost": chat_has("tokens in"),
    "log": lambda app, session: app.pair.has_class("-log-open"),
    "clear": lambda app, session: session.reopened == [None],
    "resume": screen_is(ResumeScreen),
    "rename": chat_has("The session is not named"),
    "model": screen_is(ModelScreen),
    "mode": chat_has("The mode is ask"),
    "retry": asked_for("go_on", ""),
    "rules": chat_has("There are no rules"),
    "settings": screen_is(SettingsScreen),
    "status": chat_has("endpoint"),
    "queue": chat_has("Nothing waits"),
    "todo": chat_has("no tasks yet"),
    "copy": lambda app, session: app.clipboard == "the **answer**",
    "export": lambda app, session: any(what == "export" for what, _ in session.asked),
    "theme": lambda app, session: app.theme == "palimpsest-light",
    "unsaved": lambda app, session: session.unsaved != "",
    "tour": asked_for("submit", "tour"),
    "quit": lambda app, session: session.closed,
}


@pytest.mark.parametrize("typed", COMMANDS, ids=lambda c: c.name)
async def test_command(typed, tmp_path):
    session = FakeSession([answer("the **answer**")])
    session.folder, session.reopened = tmp_path, []

    async def reopen(approver, name):
        session.reopened.append(name)
        session.closed = False
        return session

    app = pal_app(session, reopen=reopen, shelf=FakeShelf(PARSER))
    async with app.run_test(size=(80, 24)) as pilot:
        await until_idle(app, pilot)
        await pilot.press("h", "enter")
        await until_idle(app, pilot)
        app.pair.submit(f"/{typed.name}")
        await until_idle(app, pilot)
        assert COMMAND_EFFECTS[typed.name](app, session)


async def fresh_log(app, pilot, session):
    await pilot.press("ctrl+l")


async def question(app, pilot, session):
    session.task = (await asked(app, pilot, command()))[0]
    app.time.now += GRACE


async def draft(app, pilot, session):
    await pilot.press("a", "ctrl+j", "b")


async def slash(app, pilot, session):
    await pilot.press("slash", "c", "o", "s")
    await pilot.pause()


async def details(app, pilot, session):
    session.conversation = replace(session.conversation, base=AUTO.commit)
    app.pair.commands.open_report(AUTO)
    await pilot.pause()


async def held_details(app, pilot, session):
    app.pair.commands.open_report(HELD)
    await pilot.pause()


async def log_of_newest(app, pilot, session):
    session.reports = (*session.reports, MANUAL)
    session.conversation = replace(session.conversation, base=MANUAL.commit)
    app.pair.log_pane.show_reports(session.reports)
    await fresh_log(app, pilot, session)


def asks(question):
    return lambda app, session: question in shown(app.pair.status) and not session.asked


def tab_is(name):
    return lambda app, session: app.screen.query_one("TabbedContent").active == name


async def details_of_facts(app, pilot, session):
    """The last tab: the one on its right is the first again."""
    await details(app, pilot, session)
    app.screen.query_one("TabbedContent").active = "tab-facts"
    await pilot.pause()


async def details_of_results(app, pilot, session):
    app.pair.commands.open_report(MICRO)
    await pilot.pause()
    app.screen.query_one("TabbedContent").active = "tab-results"
    await pilot.pause()
    app.screen.query_one("OptionList").action_first()


async def sessions(app, pilot, session):
    app.pair.commands.choose_session()
    await pilot.pause()
    await pilot.pause()


async def rewinding(app, pilot, session):
    app.pair.commands.run_rewind("")
    await until_idle(app, pilot)
    assert "stays as it is" in moves_shown(app)


def moves_shown(app):
    return str(app.screen.query_one("#moves").render())


async def long_chat(app, pilot, session):
    for number in range(80):
        app.pair.chat.add_notice(f"note {number}")
    await pilot.pause(0.2)


async def scrolled_up(app, pilot, session):
    await long_chat(app, pilot, session)
    await pilot.press("pageup", "pageup")


async def in_chat(app, pilot, session):
    """Two cards with a diff and a long answer; the keyboard is on the newer card."""
    chat = app.pair.chat
    await long_chat(app, pilot, session)
    for call in ("c1", "c2"):
        chat.tool_finished(
            call,
            ok=True,
            text="done",
            outcome="+1 −1",
            seconds=0,
            diff="@@ -1 +1 @@\n-old\n+new\n",
            result_id=f"r{call[1]}",
            tool="edit_file",
        )
    chat.draw_now()
    chat.focus()
    await pilot.pause()


async def scrolled_chat(app, pilot, session):
    await in_chat(app, pilot, session)
    await pilot.press("home")


async def marking(app, pilot, session):
    await in_chat(app, pilot, session)
    await pilot.press("v", "right", "right")


async def searching(app, pilot, session):
    for words in ("older needle", "newer needle"):
        app.pair.chat.add_notice(words)
        await long_chat(app, pilot, session)
    await pilot.press("ctrl+f")
    await pilot.pause()
    await pilot.press(*"needle")
    await pilot.pause()


async def queued(app, pilot, session):
    session.queue = ("one", "two")


async def typed_twice(app, pilot, session):
    await pilot.press("a", "space", "b", "ctrl+underscore")
    await pilot.pause()


async def folded(app, pilot, session):
    app.post_message(Paste("line\n" * 12))
    await pilot.pause()
    await pilot.pause()


async def cut(app, pilot, session):
    app.copy_to_clipboard("cut before")


async def watching_suspend(app, pilot, session):
    app.suspended = []
    app.action_suspend_process = lambda: app.suspended.append(True)


async def nothing(app, pilot, session):
    pass


async def long_question(app, pilot, session):
    session.task = (await asked(app, pilot, command("\n".join(["make"] * 60))))[0]
    app.time.now += GRACE
    await pilot.pause()


async def long_question_scrolled(app, pilot, session):
    await long_question(app, pilot, session)
    await pilot.press("pagedown", "pagedown")
    await pilot.pause()
    session.was = question_top(app)


async def words(app, pilot, session):
    await question(app, pilot, session)
    await alone(app, pilot, "n", "w", "h", "y")


async def preview(app, pilot, session):
    app.pair.submit("/compact preview")
    await until_idle(app, pilot)


async def settings(app, pilot, session):
    app.pair.submit("/settings threshold")
    await until_idle(app, pilot)


async def queue_screen(app, pilot, session):
    await queued(app, pilot, session)
    await pilot.press("alt+up")
    await pilot.pause()


async def trusting(app, pilot, session):
    app.push_screen(TrustScreen(QUESTION), session.answers.append)
    await pilot.pause()


def question_top(app):
    return app.pair.panel.query_one("#question-detail").scroll_offset.y


def trusted(level):
    return lambda app, session: session.answers == [level]


def answered(kind):
    return lambda app, session: session.task.result().answered is kind


def text_is(text):
    return lambda app, session: app.pair.prompt.area.text == text


def cursor_is(call):
    return lambda app, session: getattr(app.pair.chat._cursor, "call", "") == call


def cards(app):
    return [s for s in app.pair.chat.transcript.sections if s.foldable]


def marked(count):
    return lambda app, session: len(app.screen.get_selected_text() or "") == count


def in_view(words):
    return lambda app, session: words in screen_text(app.pair.chat)


KEY_EFFECTS = {
    "interrupt": (draft, text_is("")),
    "help": (nothing, screen_is(HelpScreen)),
    "context": (nothing, screen_is(ContextScreen)),
    "log": (nothing, lambda app, session: app.pair.has_class("-log-open")),
    "theme": (nothing, lambda app, session: app.theme == "palimpsest-light"),
    "palette": (nothing, screen_is(CommandPalette)),
    "suspend": (watching_suspend, lambda app, session: app.suspended == [True]),
    "queue": (queued, screen_is(QueueScreen)),
    "chat_end": (scrolled_up, lambda app, session: app.pair.chat.following),
    "quit": (nothing, lambda app, session: session.closed),
    "back": (slash, lambda app, session: not app.pair.prompt.popup.is_open),
    "send": (draft, asked_for("submit", "a\nb")),
    "newline": (draft, text_is("a\nb\n")),
    "mode": (nothing, lambda app, session: session.mode is Mode.ACCEPT_EDITS),
    "complete": (slash, text_is("/cost")),
    "up": (nothing, text_is("sent before")),
    "down": (nothing, text_is("")),
    "page_up": (long_chat, lambda app, session: not app.pair.chat.following),
    "page_down": (scrolled_up, lambda app, session: app.pair.chat.scroll_y > 0),
    "history": (nothing, lambda app, session: app.pair.prompt.popup.is_open),
    "editor": (nothing, chat_has("Set VISUAL or EDITOR")),
    "paste": (cut, text_is("cut before")),
    "unfold": (folded, text_is("line\n" * 12)),
    "undo_typing": (draft, lambda app, session: app.pair.prompt.area.text != "a\nb"),
    "redo_typing": (typed_twice, text_is("a b")),
    "leave": (nothing, lambda app, session: session.closed),
    "chat_previous": (in_chat, cursor_is("c1")),
    "chat_next": (in_chat, cursor_is("c2")),
    "chat_open": (in_chat, lambda app, session: cards(app)[1].compact),
    "chat_result": (in_chat, screen_is(OriginalScreen)),
    "chat_copy": (in_chat, lambda app, session: "+new" in app.clipboard),
    "chat_unfold_all": (
        in_chat,
        lambda app, session: all(card.fold is Fold.FULL for card in cards(app)),
    ),
    "chat_diff": (
        in_chat,
        lambda app, session: any(
            "- old" in row and "+ new" in row for row in screen_lines(app.pair.chat)
        ),
    ),
    "chat_mark": (in_chat, lambda app, session: app.pair.chat.is_marking),
    "chat_mark_up": (marking, lambda app, session: "\n" in app.screen.get_selected_text()),
    "chat_mark_down": (marking, lambda app, session: "\n" in app.screen.get_selected_text()),
    "chat_mark_left": (marking, marked(2)),
    "chat_mark_right": (marking, marked(2)),
    "chat_top": (in_chat, in_view("note 0")),
    "chat_follow": (scrolled_chat, lambda app, session: app.pair.chat.following),
    "find": (nothing, lambda app, session: bool(app.screen.query("SearchBar"))),
    "find_older": (searching, in_view("older needle")),
    "find_newer": (searching, in_view("older needle")),
    "find_stay": (searching, lambda app, session: app.pair.chat.has_focus),
    "find_close": (searching, lambda app, session: app.pair.chat.following),
    "yes": (question, answered(Answered.YES)),
    "no": (question, lambda app, session: app.pair.panel.has_class("-writing")),
    "always": (question, answered(Answered.ALWAYS)),
    "wider": (question, lambda app, session: "narrower" in text_of(app, "keys")),
    "edit": (question, lambda app, session: app.pair.panel.has_class("-writing")),
    "open": (fresh_log, screen_is(DetailsScreen)),
    "clear_now": (fresh_log, asked_for("clear_now", "")),
    "undo": (log_of_newest, asks("Undo [manual compact]")),
    "redo_log": (fresh_log, asks("Take the newest undo back? y")),
    "filter": (fresh_log, lambda app, session: app.pair.query_one("ReportList").option_count == 2),
    "question_up": (
        long_question_scrolled,
        lambda app, session: question_top(app) == session.was - 1,
    ),
    "question_down": (long_question, lambda app, session: question_top(app) == 1),
    "question_page_up": (
        long_question_scrolled,
        lambda app, session: question_top(app) == session.was - 10,
    ),
    "question_page_down": (long_question, lambda app, session: question_top(app) == 10),
    "words_done": (words, lambda app, session: session.task.result().words == "why"),
    "words_leave": (words, lambda app, session: not app.pair.panel.has_class("-writing")),
    "words_newline": (
        words,
        lambda app, session: app.pair.panel.query_one(WordsArea).text == "why\n",
    ),
    "preview_apply": (
        preview,
        asked_for("apply_preview", "## What was accomplished\nA lot."),
    ),
    "setting_keep": (settings, lambda app, session: session.kept == ["threshold"]),
    "setting_search": (
        settings,
        lambda app, session: app.screen.query_one("#search").has_focus,
    ),
    "queue_remove": (queue_screen, lambda app, session: session.queue == ("two",)),
    "trust_all": (trusting, trusted(Level.ALL)),
    "trust_plain": (trusting, trusted(Level.PLAIN)),
    "trust_nothing": (trusting, trusted(Level.NOTHING)),
    "both": (rewinding, asked_for("rewind", "conversation, a.py, new/part, new")),
    "conversation": (rewinding, asked_for("rewind", "conversation")),
    "files": (rewinding, asked_for("rewind", "a.py, new/part, new")),
    "overwrite": (rewinding, lambda app, session: "o keeps" in moves_shown(app)),
    "close": (details, screen_is(PairScreen)),
    "tab_left": (details_of_results, tab_is("tab-event")),
    "tab_right": (details_of_facts, tab_is("tab-event")),
    "undo_here": (details, asked_for("undo", "")),
    "clear_here": (held_details, asked_for("clear_now", "")),
    "again_here": (details, asked_for("again", "")),
    "session_fork": (sessions, lambda app, session: session.shelf.asked == [("fork", PARSER.name)]),
    "session_rename": (sessions, lambda app, session: app.screen.query_one("#answer").has_focus),
    "session_export": (sessions, lambda app, session: "-writing" in app.screen.classes),
    "session_delete": (sessions, lambda app, session: "-asking" in app.screen.classes),
    "pin": (details_of_results, asked_for("pin", "r1")),
    "bring_back": (details_of_results, asked_for("bring_back", "r1")),
}


@pytest.mark.parametrize(
    ("id", "name"),
    [
        pytest.param(key.id, name, id=f"{key.id}-{name}")
        for key in KEYS
        for name in key.keys.split(",")
    ],
)
async def test_key(id, name, monkeypatch):
    monkeypatch.setattr("app.ui.screens.trust.GRACE", 0.0)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    for variable in ("DISPLAY", "WAYLAND_DISPLAY"):  # there is no clipboard here but the app's own
        monkeypatch.delenv(variable, raising=False)
    session = FakeSession()
    session.reports = (MICRO, AUTO, HELD)
    session.shelf = FakeShelf(PARSER)
    session.kept, session.answers = [], []
    app = pal_app(
        session, shelf=session.shelf, save_setting=lambda name, _: session.kept.append(name)
    )
    app.history.add("sent before")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_idle(app, pilot)
        prepare, effect = KEY_EFFECTS[id]
        await prepare(app, pilot, session)
        await alone(app, pilot, name)
        await until_idle(app, pilot)
        assert effect(app, session)
        if hasattr(session, "task"):
            session.task.cancel()


def test_every_place_has_keys():
    assert {key.place for key in KEYS} == set(Place)
