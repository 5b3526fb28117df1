from tests.ui.chat_app import chat_markdown
from tests.ui.fake_session import FakeSession, answer
from tests.ui.screens_in_use import pal_app
from tests.ui.test_pair_screen import until_idle


def said(app):
    return app.pair.status.render().plain


async def test_a_copy_goes_to_the_clipboard_and_to_a_file_of_ones_own(tmp_path):
    app = pal_app(FakeSession([answer("some **words**\n")]), state_folder=tmp_path / "state")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_idle(app, pilot)
        await pilot.press("h", "enter")
        await until_idle(app, pilot)
        app.pair.chat.focus()
        await pilot.press("v", "space", "w")
        await pilot.press("ctrl+c")
        await until_idle(app, pilot)
        kept = tmp_path / "state" / "copied.md"
        assert app.clipboard == kept.read_text(encoding="utf-8") == "some w"
        assert kept.stat().st_mode & 0o777 == 0o600
        assert "copied 6 characters; also in " in said(app)
        assert not app.pair.chat.is_marking and not app.screen.get_selected_text()
        app.pair.submit("/copy")
        assert app.clipboard == "some **words**"
        assert "some **words**" in chat_markdown(app.pair.chat)


async def test_nothing_is_said_to_be_copied_when_nothing_was_there(tmp_path):
    app = pal_app(FakeSession(), state_folder=tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until_idle(app, pilot)
        app.pair.submit("/copy code")
        assert "nothing to copy yet" in chat_markdown(app.pair.chat)
        assert not (tmp_path / "copied.md").exists()
