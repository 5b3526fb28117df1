"""Completion, pictures, own commands, the draft and the queue on the real screen with a fake session."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from textual.events import AppBlur, AppFocus, Paste
from textual.widgets import OptionList

from app.ui.prompt.drafts import Draft, Drafts
from app.ui.screens.stepping_back import QUIT_SECONDS
from app.ui.widgets.key_footer import KeyFooter
from app.ui.widgets.queue_bar import QueueBar
from tests.ui.chat_app import chat_markdown
from tests.ui.fake_session import FakeSession, answer
from tests.ui.fake_shelf import PARSER, FakeShelf
from tests.ui.prompt.test_folded import png
from tests.ui.screens_in_use import pal_app
from tests.ui.test_pair_screen import until_idle


def app_in(folder, session=None, **wiring):
    settings = replace(pal_app().wiring.settings, folder=folder)
    return pal_app(session, settings=settings, **wiring)


def offers(app):
    return [offer.label for offer in app.pair.prompt.popup._offers]


async def until(pilot, condition):
    """Let the app work until something is so."""
    async with asyncio.timeout(60):
        while not condition():
            await pilot.pause(0.01)


async def typed(pilot, text):
    for character in text:
        await pilot.press(
            {" ": "space", "/": "slash", "!": "exclamation_mark"}.get(character, character)
        )


async def test_an_at_sign_offers_files_and_enter_takes_one_before_it_sends(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "parser.py").write_text("")
    (tmp_path / "notes.txt").write_text("")
    app = app_in(tmp_path, session := FakeSession())
    async with app.run_test() as pilot:
        await pilot.press(*"fix", "space", "at", *"pars")
        await until(pilot, lambda: offers(app) == ["src/parser.py"])
        await pilot.press("enter")
        assert app.pair.prompt.area.text == "fix @src/parser.py "
        assert session.asked == []
        await pilot.press("enter")
        await until_idle(app, pilot)
        assert session.asked == [("submit", "fix @src/parser.py ")]


async def test_a_name_typed_in_full_is_sent_with_one_enter_and_esc_leaves_the_text(tmp_path):
    (tmp_path / "a.py").write_text("")
    app = app_in(tmp_path, session := FakeSession())
    async with app.run_test() as pilot:
        await pilot.press("at", "a", "full_stop")
        await until(pilot, lambda: offers(app) == ["a.py"])
        await pilot.press("escape")
        assert not app.pair.prompt.popup.is_open
        await pilot.press("p", "y", "enter")
        await until_idle(app, pilot)
        assert session.asked == [("submit", "@a.py")]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("/mode re", "read-only"),
        ("/model hai", "claude-haiku-4-5"),
        ("/settings thresh", "threshold"),
        ("/resume aaaa", "2026-11-28T12-00-00Z-aaaa"),
        ("/theme nor", "nord"),
        ("/compact fail", "the failing test and its fix"),
        ("/help comp", "compact"),
        ("/export ", "palimpsest-2026-11-29T12-00-00Z-7f3a.md"),
        ("/copy ", "code"),
    ],
)
async def test_arguments_of_commands_are_offered(text, word):
    app = pal_app(FakeSession(), shelf=FakeShelf(PARSER))
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        app.pair.prompt.area.insert(text)
        await until(pilot, lambda: word in offers(app))
        await pilot.press("tab")
        assert app.pair.prompt.area.text.startswith(text.partition(" ")[0] + " ")


async def test_a_path_of_a_picture_becomes_a_chip_and_goes_with_the_message(tmp_path):
    (tmp_path / "shot.png").write_bytes(png(30, 20))
    app = app_in(tmp_path, session := FakeSession())
    async with app.run_test() as pilot:
        app.post_message(Paste(str(tmp_path / "shot.png")))
        await until(pilot, lambda: "30x20" in app.pair.prompt.area.text)
        assert app.pair.prompt.area.text == "[Image #1 shot.png, 30x20] "
        await pilot.press(*"what", "enter")
        await until_idle(app, pilot)
        assert session.asked == [("submit", "[Image #1 shot.png, 30x20] what")]
        (picture,) = session.pictures
        assert picture.raw["source"]["media_type"] == "image/png"


async def test_a_damaged_picture_stays_a_path_and_the_chat_says_why(tmp_path):
    (tmp_path / "cut.png").write_bytes(png()[:-6])
    app = app_in(tmp_path, FakeSession())
    async with app.run_test() as pilot:
        app.post_message(Paste("cut.png"))
        await until(pilot, lambda: "damaged" in chat_markdown(app.pair.chat))
        assert app.pair.prompt.area.text == f"{tmp_path / 'cut.png'} "


async def test_the_cursor_goes_over_a_chip_as_over_one_character(tmp_path):
    app = app_in(tmp_path, FakeSession())
    async with app.run_test() as pilot:
        app.post_message(Paste("line\n" * 20))
        await until(pilot, lambda: app.pair.prompt.area.text)
        area, chip = app.pair.prompt.area, app.pair.prompt.area.text
        await pilot.press("left")
        assert area.cursor_location == (0, 0)
        await pilot.press("right")
        assert area.cursor_location == (0, len(chip))
        await pilot.press("a", "left", "ctrl+w")
        assert area.text == "a"
        await pilot.press("ctrl+underscore")
        await pilot.pause()
        assert chip in area.text
        assert area.whole_text.count("line") == 20


async def test_an_exclamation_mark_runs_a_command_of_ones_own():
    app = pal_app(session := FakeSession())
    async with app.run_test(size=(100, 30)) as pilot:
        await until_idle(app, pilot)
        app.pair.submit("!git status")
        app.pair.submit("!!cat .env")
        app.pair.submit("!")
        await until_idle(app, pilot)
        await until(pilot, lambda: "cat .env" in chat_markdown(app.pair.chat))
        assert session.asked == [
            ("run_command", "git status"),
            ("run_command_privately", "cat .env"),
        ]
        assert "git status" in chat_markdown(app.pair.chat)


async def test_esc_ends_ones_own_command_before_the_turn():
    session = FakeSession([answer("ok")], hold=asyncio.Event())
    app = pal_app(session)
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        app.pair.submit("hi")
        await until(pilot, lambda: ("submit", "hi") in session.asked)
        app.pair.submit("!sleep 9")
        await until(pilot, lambda: ("run_command", "sleep 9") in session.asked)
        await pilot.press("escape")
        assert session.asked[-1] == ("cancel_command", "")
        session.hold.set()
        await until_idle(app, pilot)
        assert ("cancel", "") not in session.asked


async def test_the_draft_is_kept_while_one_types_and_forgotten_when_it_is_sent(tmp_path):
    app = app_in(tmp_path / "project", FakeSession(), state_folder=tmp_path / "state")
    place = tmp_path / "state" / "drafts"
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        await pilot.press(*"half")
        await until(pilot, lambda: place.is_dir() and list(place.glob("*.json")))
        await pilot.press("enter")
        await until_idle(app, pilot)
        await until(pilot, lambda: not list(place.glob("*.json")))


async def test_a_draft_that_a_killed_run_left_stands_in_the_prompt(tmp_path):
    left = Drafts(tmp_path / "state", tmp_path / "project", process=2**22 + 7)
    left.save(Draft("half [Pasted text #2 +12 lines]", {2: "line\n" * 11}))
    app = app_in(tmp_path / "project", session := FakeSession(), state_folder=tmp_path / "state")
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.pair.prompt.area.text)
        assert app.pair.prompt.area.text == "half [Pasted text #2 +12 lines]"
        await until_idle(app, pilot)
        await pilot.press("enter")
        await until_idle(app, pilot)
        assert session.asked == [("submit", "half " + "line\n" * 11)]


async def test_waiting_messages_can_be_removed_and_edited():
    session = FakeSession()
    session.queue = ("one", "two", "three")
    app = pal_app(session)
    async with app.run_test(size=(100, 30)) as pilot:
        await until_idle(app, pilot)
        await pilot.press("alt+up", "down", "delete")
        await until(pilot, lambda: app.screen.query_one(OptionList).option_count == 2)
        assert session.queue == ("one", "three")
        await pilot.press("enter")
        await until(pilot, lambda: app.pair.prompt.area.text == "three")
        assert session.queue == ("one",)


async def test_a_click_on_a_waiting_message_brings_it_back():
    session = FakeSession()
    session.queue = ("one", "two")
    app = pal_app(session)
    async with app.run_test(size=(100, 30)) as pilot:
        await until_idle(app, pilot)
        await pilot.click(QueueBar, offset=(20, 0))
        await until(pilot, lambda: app.pair.prompt.area.text == "one")


async def test_the_announced_second_ctrl_c_is_announced_only_as_long_as_it_holds(monkeypatch):
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        status, timers = app.pair.status, []
        monkeypatch.setattr(
            status,
            "set_timer",
            lambda seconds, call: timers.append((seconds, call)) or status.set_interval(99, str),
        )
        await pilot.press("ctrl+c")
        assert "Press Ctrl+C again" in status.render().plain
        ((seconds, fade),) = timers
        assert seconds == QUIT_SECONDS
        fade()
        assert "Press Ctrl+C" not in status.render().plain


async def test_who_looks_elsewhere_is_called_when_a_turn_ends():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        written = []
        app.attention._write = written.append
        app.post_message(AppBlur())
        await pilot.pause()
        app.pair.submit("hi")
        await until_idle(app, pilot)
        await until(pilot, lambda: written)
        assert any("\x07" in sequence for sequence in written)
        assert any(sequence.startswith("\x1b]0;✓") for sequence in written)
        written.clear()
        app.post_message(AppFocus())
        await pilot.pause()
        app.pair.submit("again")
        await until_idle(app, pilot)
        assert not [s for s in written if not s.startswith("\x1b]0;")]


async def test_the_status_of_the_embedded_model_names_no_endpoint():
    settings = replace(pal_app().wiring.settings, demo=True, folder=Path("/srv/project"))
    app = pal_app(FakeSession(), settings=settings)
    async with app.run_test(size=(120, 40)) as pilot:
        await until_idle(app, pilot)
        app.pair.submit("/status")
        await until_idle(app, pilot)
        said = chat_markdown(app.pair.chat)
        assert "nothing leaves this machine" in said
        assert "anthropic.com" not in said


async def test_the_output_of_ones_own_command_is_in_sight():
    app = pal_app(FakeSession())
    async with app.run_test(size=(100, 30)) as pilot:
        await until_idle(app, pilot)
        app.pair.submit("!git status")
        await until(pilot, lambda: "all output" in chat_markdown(app.pair.chat))


async def test_each_hint_says_what_escape_does_now():
    hold = asyncio.Event()
    app = pal_app(session := FakeSession(hold=hold))
    async with app.run_test(size=(120, 40)) as pilot:

        def said():
            return app.pair.status.render().plain + app.pair.query_one(KeyFooter).render().plain

        await until_idle(app, pilot)
        await pilot.press("h", "enter")
        await until(pilot, lambda: "Esc cancels" in said() and "Esc cancel " in said())
        await pilot.press("n", "o", "enter")
        await until(pilot, lambda: "Esc take back" in said() and "Ctrl+C cancels" in said())
        assert "Esc cancel" not in said()
        await pilot.press("escape")
        await until(pilot, lambda: "Esc cancels" in said() and "Esc cancel " in said())
        assert session.queue == () and app.pair.prompt.area.text == "no"
        hold.set()
        await until_idle(app, pilot)


async def test_the_last_waiting_message_keeps_room_for_its_hint():
    session = FakeSession()
    session.queue = ("short", "a very long message " * 20)
    app = pal_app(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await until_idle(app, pilot)
        rows = app.pair.query_one(QueueBar).render().plain.splitlines()
        assert rows[1].endswith("…   Esc brings it back · Alt+↑ all")
        assert len(rows[1]) <= 78


async def test_the_foot_names_the_keys_of_what_is_offered_and_then_the_usual_ones():
    app = pal_app(FakeSession())
    app.history.add("sent before")

    def foot():
        return app.pair.query_one(KeyFooter).render().plain

    async with app.run_test(size=(120, 40)) as pilot:
        await until_idle(app, pilot)
        usual = foot()
        await pilot.press("slash", "c")
        await until(pilot, lambda: "Tab complete" in foot())
        await pilot.press("escape")
        await until(pilot, lambda: foot() == usual)
        await pilot.press("ctrl+u", "ctrl+r")
        await until(pilot, lambda: "search what you sent" in foot())
        await pilot.press("enter")
        await until(pilot, lambda: foot() == usual)
        assert app.pair.prompt.area.text == "sent before"
