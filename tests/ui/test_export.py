"""What /export writes: all of a session, as Markdown or JSON lines, without ever holding all of it."""

import json
import stat

import pytest

from app.core.history import Entry
from app.core.messages import message_from_json
from app.ui.export import PAGE, export_path, write_session
from tests.ui.fake_session import FakeSession


class LongSession(FakeSession):
    """Holds messages, and gets one more after each page that was read."""

    def __init__(self, count):
        super().__init__()
        self.count, self.largest = count, 0

    async def page(self, before, limit):
        end = self.count + 1 if before is None else before
        self.count += before is None
        self.largest = max(self.largest, limit)
        return tuple(entry(number) for number in range(max(1, end - limit), end))


def entry(number):
    role = "user" if number % 2 else "assistant"
    content = [{"type": "text", "text": f"words {number}"}]
    message = message_from_json({"role": role, "content": content})
    return Entry(number, number, "", message, spoken=(0,) if number % 2 else ())


async def test_json_lines_hold_each_message_once_and_in_order_also_when_more_are_said(tmp_path):
    session = LongSession(2 * PAGE + 7)
    assert await write_session(session, tmp_path / "a.jsonl") == 2 * PAGE + 7
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [m["content"][0]["text"] for m in lines] == [f"words {n + 1}" for n in range(len(lines))]
    assert [m["role"] for m in lines[:2]] == ["user", "assistant"]


async def test_markdown_has_a_title_and_every_message(tmp_path):
    await write_session(LongSession(3), tmp_path / "a.md")
    text = (tmp_path / "a.md").read_text()
    assert text.startswith("# Session ") and text.index("words 1") < text.index("words 3")


async def test_only_its_owner_can_read_an_export(tmp_path):
    await write_session(LongSession(1), tmp_path / "a.md")
    assert stat.S_IMODE((tmp_path / "a.md").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("argument", "name"),
    [
        ("", "palimpsest-{}.md"),
        ("markdown", "palimpsest-{}.md"),
        ("JSONL", "palimpsest-{}.jsonl"),
        ("notes/a.jsonl", "notes/a.jsonl"),
        ("/tmp/a.md", "/tmp/a.md"),
    ],
)
def test_an_export_goes_where_the_argument_says(argument, name, tmp_path):
    session = FakeSession()
    session.folder = tmp_path
    assert export_path(session, argument) == tmp_path / name.format(session.name)
