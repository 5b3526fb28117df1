"""Hints of keys that the user knows make room for others."""

from app.ui.footer_hints import hints
from app.ui.used_keys import KNOWN_AFTER, UsedKeys
from tests.ui.fake_session import FakeSession
from tests.ui.screens_in_use import pal_app
from tests.ui.test_pair_screen import until_idle


def test_a_key_is_known_after_some_uses_also_in_the_next_run(tmp_path):
    path = tmp_path / "state" / "used.json"
    used = UsedKeys(path)
    for _ in range(KNOWN_AFTER - 1):
        used.note("log")
    assert used.known == frozenset()
    UsedKeys(path).note("log")
    assert UsedKeys(path).known == {"log"}


def test_a_damaged_file_and_a_folder_that_cannot_be_written_do_no_harm(tmp_path):
    path = tmp_path / "used.json"
    for damaged in ("[1]", "{", '{"log": "x"}'):
        path.write_text(damaged)
        assert UsedKeys(path).known == frozenset()
    UsedKeys(path / "below a file").note("log")


def test_faded_hints_are_left_out_and_the_first_stay():
    shown = hints(busy=False, question=None, log_focused=False, held=False, moved={}, known={"log"})
    assert [hint.what for hint in shown[:3]] == ["send", "commands", "context"]


async def test_the_footer_names_a_key_no_more_once_it_was_used_often():
    app = pal_app(FakeSession())
    async with app.run_test(size=(120, 30)) as pilot:
        await until_idle(app, pilot)
        footer = app.pair.query_one("KeyFooter")
        assert "log" in footer.render().plain
        for _ in range(KNOWN_AFTER):
            await pilot.press("ctrl+l", "escape")
        assert "log" not in footer.render().plain
