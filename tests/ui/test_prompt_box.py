from dataclasses import replace

import pytest
from textual.events import Key, Paste

from app.ui.prompt_history import PromptHistory
from tests.ui.chat_app import chat_markdown
from tests.ui.fake_session import FakeSession
from tests.ui.screens_in_use import pal_app
from tests.ui.test_pair_screen import until_idle


async def paste(app, pilot, text):
    app.post_message(Paste(text))
    await pilot.pause()
    await pilot.pause()


async def test_three_keys_and_a_backslash_break_the_line():
    app = pal_app(session := FakeSession())
    async with app.run_test() as pilot:
        await pilot.press(
            "a", "shift+enter", "b", "alt+enter", "c", "ctrl+j", "d", "backslash", "enter", "e"
        )
        assert app.pair.prompt.area.text == "a\nb\nc\nd\ne"
        await pilot.press("enter")
        await until_idle(app, pilot)
        assert session.asked == [("submit", "a\nb\nc\nd\ne")]


async def test_a_large_paste_is_folded_and_sent_whole():
    app = pal_app(session := FakeSession())
    text = "\n".join(f"line {n}" for n in range(20_000)) + "\nTHE-END"
    async with app.run_test() as pilot:
        await pilot.press(*"see ")
        await paste(app, pilot, text)
        assert app.pair.prompt.area.text == "see [Pasted text #1 +20,001 lines]"
        await pilot.press("enter")
        await until_idle(app, pilot)
        assert session.asked == [("submit", f"see {text}")]


async def test_one_long_line_is_folded_too_and_two_pastes_stay_apart():
    app = pal_app(session := FakeSession())
    async with app.run_test() as pilot:
        await paste(app, pilot, "x" * 200_000)
        await paste(app, pilot, "y" * 5_000)
        await pilot.press("enter")
        await until_idle(app, pilot)
        assert session.asked == [("submit", "x" * 200_000 + "y" * 5_000)]


async def test_a_small_paste_is_only_text_and_windows_line_ends_become_plain():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        await paste(app, pilot, "one\r\ntwo\rthree")
        assert app.pair.prompt.area.text == "one\ntwo\nthree"


async def test_backspace_removes_a_folded_paste_at_once():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        await pilot.press("a")
        await paste(app, pilot, "x" * 5_000)
        await pilot.press("backspace")
        assert app.pair.prompt.area.text == "a"


async def test_up_and_down_walk_the_history_only_at_the_edges():
    app = pal_app(FakeSession())
    app.history.add("older")
    app.history.add("newer")
    async with app.run_test() as pilot:
        await pilot.press("a", "ctrl+j", "b", "up")
        assert app.pair.prompt.area.text == "a\nb"
        await pilot.press("up")
        assert app.pair.prompt.area.text == "newer"
        await pilot.press("up")
        assert app.pair.prompt.area.text == "older"
        await pilot.press("down", "down")
        assert app.pair.prompt.area.text == "a\nb"


async def test_the_history_is_kept_in_the_state_folder(tmp_path):
    app = pal_app(FakeSession(), state_folder=tmp_path)
    async with app.run_test() as pilot:
        await pilot.press(*"remember", "enter")
        await until_idle(app, pilot)
    assert PromptHistory(tmp_path / "history.jsonl").texts == ["remember"]


async def test_a_slash_offers_commands_and_tab_takes_one():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        await pilot.press("slash", "c", "o", "m")
        await pilot.pause()
        assert app.pair.prompt.popup.is_open
        await pilot.press("tab")
        assert app.pair.prompt.area.text == "/compact "


async def test_enter_on_a_begun_command_runs_the_offered_one():
    app = pal_app(session := FakeSession())
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        await pilot.press("slash", *"comp")
        await pilot.pause()
        await pilot.press("enter")
        await until_idle(app, pilot)
        assert session.asked == [("compact", "")]


async def test_a_focus_is_sent_as_typed_and_never_completed_into_another_word():
    app = pal_app(session := FakeSession())
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        await pilot.press("slash", *"compact pre")
        await pilot.pause()
        await pilot.press("enter")
        await until_idle(app, pilot)
        assert session.asked == [("compact", "pre")]


async def test_arrows_choose_an_offer():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        await pilot.press("slash")
        await pilot.pause()
        first = app.pair.prompt.popup.chosen
        await pilot.press("down")
        second = app.pair.prompt.popup.chosen
        await pilot.press("up")
        assert first != second and app.pair.prompt.popup.chosen == first


async def test_a_path_is_a_message_and_no_command():
    app = pal_app(session := FakeSession())
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        await pilot.press(*"/etc/hosts is wrong", "enter")
        await until_idle(app, pilot)
        assert session.asked == [("submit", "/etc/hosts is wrong")]


async def test_an_unknown_command_is_told_with_the_nearest_one():
    app = pal_app(session := FakeSession())
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        await pilot.press(*"/compct", "enter")
        await pilot.pause()
        assert "Did you mean /compact?" in chat_markdown(app.pair.chat)
        assert session.asked == []


async def test_ctrl_r_searches_what_was_sent():
    app = pal_app(FakeSession())
    for text in ("run the tests", "write a parser"):
        app.history.add(text)
    async with app.run_test() as pilot:
        await pilot.press("ctrl+r", *"test")
        await pilot.pause()
        await pilot.press("enter")
        assert app.pair.prompt.area.text == "run the tests"


@pytest.mark.parametrize("typed", ["test", "nothing like it"])
async def test_escape_from_the_search_brings_back_what_stood_there(typed):
    app = pal_app(FakeSession())
    app.history.add("run the tests")
    async with app.run_test() as pilot:
        await pilot.press(*"te", "ctrl+r", *typed)
        await pilot.pause()
        await pilot.press("escape")
        await pilot.pause()
        assert app.pair.prompt.area.text == "te" and not app.pair.prompt.popup.is_open


async def test_page_keys_scroll_the_chat_from_the_prompt():
    app = pal_app(FakeSession())
    async with app.run_test(size=(80, 24)) as pilot:
        await until_idle(app, pilot)
        for number in range(60):
            app.pair.chat.add_notice(f"note {number}")
        await pilot.pause(0.2)
        end = app.pair.chat.scroll_y
        await pilot.press("pageup")
        await pilot.pause()
        assert app.pair.chat.scroll_y < end
        await pilot.press("ctrl+end")
        await pilot.pause()
        assert app.pair.chat.scroll_y == end


async def test_a_command_typed_faster_than_the_offers_follow_runs_as_typed():
    app = pal_app(session := FakeSession())
    async with app.run_test() as pilot:
        await until_idle(app, pilot)
        area = app.pair.prompt.area
        area.insert("/")
        await pilot.pause()
        area.insert("undo")
        area.action_send()
        await until_idle(app, pilot)
        assert session.asked == [("undo", "")]


async def test_keys_that_come_in_one_burst_are_done_in_their_order():
    app = pal_app(session := FakeSession())
    burst = ["a", "b", "backspace", "ctrl+j", "c", "backslash", "enter", "d", "enter", "e"]
    async with app.run_test() as pilot:
        for name in burst:
            character = {"backslash": "\\"}.get(name, name if len(name) == 1 else None)
            app.post_message(Key(name, character))
        await until_idle(app, pilot)
        assert session.asked == [("submit", "a\nc\nd")]
        assert app.pair.prompt.area.text == "e"


async def test_keys_of_the_prompt_go_where_a_keymap_moves_them():
    settings = replace(pal_app().wiring.settings, keymap={"newline": "f9"})
    app = pal_app(settings=settings)
    async with app.run_test() as pilot:
        await pilot.press("a", "f9", "b", "ctrl+j", "c")
        assert app.pair.prompt.area.text == "a\nbc"
