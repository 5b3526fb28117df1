"""Which files are read again, and how much of them."""

from __future__ import annotations

from app.compaction.facts import Ledger
from app.compaction.working_files import chosen, load
from app.core.effects import Span
from tests.fakes.history import lines


class Disk:
    def __init__(self, **files: str) -> None:
        self.files = files

    async def read(self, path: str, first: int, last: int) -> str | None:
        text = self.files.get(path)
        return None if text is None else "\n".join(text.split("\n")[first - 1 : last])


def test_edited_files_come_first_then_reads_beside_them() -> None:
    known = Ledger(
        modified=("app/a.py", "app/b.py"),
        read=(Span("app/c.py", 1, 9, 9), Span("docs/x.md", 1, 5, 5), Span("app/b.py", 3, 7, 90)),
    )
    assert chosen(known) == (Span("app/b.py", 3, 7, 90), "app/a.py", Span("app/c.py", 1, 9, 9))


def test_without_an_edit_nothing_is_read_again() -> None:
    assert chosen(Ledger(read=(Span("a.py", 1, 9, 9),))) == ()


async def test_whole_files_are_shown_as_they_are_on_disk() -> None:
    (file,) = await load(("a",), Disk(a="x = 1\ny = 2\n").read, together=500, each=200)
    assert file.text == "## a\n```\nx = 1\ny = 2\n```"


async def test_of_a_larger_file_the_range_last_used_is_shown() -> None:
    disk = Disk(a=lines(900))
    (file,) = await load((Span("a", 300, 320, 900),), disk.read, together=5_000, each=2_000)
    assert file.text.startswith("## a (lines 300-320)\n```\nline 300: ")
    assert "line 321:" not in file.text


async def test_files_keep_to_their_room_and_gone_ones_are_left_out() -> None:
    disk = Disk(a=lines(900), b=lines(900), c=lines(900))
    files = await load(("gone", "a", "b", "c"), disk.read, together=2_500, each=1_000)
    assert [file.path for file in files] == ["a", "b", "c"]
    assert all(file.tokens < 1_050 for file in files)
    assert sum(file.tokens for file in files) < 2_600


async def test_a_fence_in_a_file_closes_nothing() -> None:
    (file,) = await load(("a",), Disk(a="```\ncode\n````\n").read, together=500, each=200)
    assert file.text.split("\n")[1] == "`````"
