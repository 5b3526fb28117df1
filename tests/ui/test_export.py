"""What /export asks for: where it goes, and what it may replace."""

from pathlib import Path

import pytest

from app.ui.export import export_path
from tests.ui.chat_app import chat_markdown
from tests.ui.fake_session import FakeSession
from tests.ui.screens_in_use import pal_app
from tests.ui.test_pair_screen import until_idle


@pytest.mark.parametrize(
    ("argument", "name", "replaces"),
    [
        ("", "palimpsest-{}.md", True),
        ("markdown", "palimpsest-{}.md", True),
        ("JSONL", "palimpsest-{}.jsonl", True),
        ("notes/a.jsonl", "notes/a.jsonl", False),
        ("README.md", "README.md", False),
        ("/tmp/a.md", "/tmp/a.md", False),
    ],
)
def test_an_export_goes_where_the_argument_says(
    argument: str, name: str, replaces: bool, tmp_path: Path
) -> None:
    session = FakeSession()
    session.folder = tmp_path
    expected = tmp_path / name.format(session.name)
    assert export_path(session, argument) == (expected, replaces)


def test_an_export_of_a_named_session_has_its_name(tmp_path: Path) -> None:
    session = FakeSession()
    session.folder, session.named = tmp_path, "the ../parser: v2"
    path, replaces = export_path(session, "")
    assert path == tmp_path / f"palimpsest-the-parser-v2-{session.name[-4:]}.md" and replaces


@pytest.mark.parametrize(
    ("typed", "said"),
    [("/export there.md", "exists already"), ("/export", "Wrote /"), ("/export a.md", "Wrote /")],
)
async def test_export_says_what_became_of_it(typed: str, said: str) -> None:
    app = pal_app(FakeSession())
    async with app.run_test(size=(160, 40)) as pilot:
        await until_idle(app, pilot)
        app.pair.submit(typed)
        await until_idle(app, pilot)
        assert said in chat_markdown(app.pair.chat)
