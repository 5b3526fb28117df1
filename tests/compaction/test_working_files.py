"""Which files are read again, and how much of them."""

from __future__ import annotations

from app.compaction.facts import Ledger
from app.compaction.working_files import Wanted, chosen, load
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
    assert [file.path for file in chosen(known)] == ["app/b.py", "app/a.py", "app/c.py"]


def test_the_place_used_last_is_wanted_most_with_lines_around_it() -> None:
    known = Ledger(
        modified=("a.py",),
        places=(Span("a.py", 3, 4, 90), Span("b.py", 1, 2), Span("a.py", 50, 60, 90)),
    )
    (file,) = chosen(known)
    assert [(place.first, place.last) for place in file.places] == [(42, 68), (1, 12)]


def test_without_an_edit_nothing_is_read_again() -> None:
    assert chosen(Ledger(read=(Span("a.py", 1, 9, 9),))) == ()


async def test_whole_files_are_shown_as_they_are_on_disk() -> None:
    disk = Disk(a="x = 1\ny = 2\n")
    (file,) = await load((Wanted("a"),), disk.read, together=500, each=200)
    assert file.text == "## a\n```\nx = 1\ny = 2\n```"


async def test_of_a_larger_file_its_places_are_shown_in_order_as_far_as_they_fit() -> None:
    places = (Span("a", 300, 320), Span("a", 20, 25), Span("a", 315, 330), Span("a", 500, 890))
    disk = Disk(a=lines(900))
    (file,) = await load((Wanted("a", places),), disk.read, together=5_000, each=1_200)
    headings = [line for line in file.text.split("\n") if line.startswith("## ")]
    assert headings[:2] == ["## a (lines 20-25)", "## a (lines 300-330)"]
    assert headings[2].startswith("## a (lines 500-")
    assert "line 319: " in file.text
    assert file.tokens < 1_400


async def test_a_place_far_down_in_a_huge_file_is_found() -> None:
    disk = Disk(a=lines(9_000))
    wanted = Wanted("a", (Span("a", 8_000, 8_010),))
    (file,) = await load((wanted,), disk.read, together=5_000, each=1_000)
    assert file.text.startswith("## a (lines 8000-8010)\n```\nline 8000: ")


async def test_files_keep_to_their_room_and_gone_ones_are_left_out() -> None:
    disk = Disk(a=lines(900), b=lines(900), c=lines(900))
    files = await load(
        tuple(map(Wanted, ("gone", "a", "b", "c"))), disk.read, together=2_500, each=1_000
    )
    assert [file.path for file in files] == ["a", "b", "c"]
    assert all(file.tokens < 1_050 for file in files)
    assert sum(file.tokens for file in files) < 2_600


async def test_a_fence_in_a_file_closes_nothing() -> None:
    (file,) = await load((Wanted("a"),), Disk(a="```\ncode\n````\n").read, together=500, each=200)
    assert file.text.split("\n")[1] == "`````"
