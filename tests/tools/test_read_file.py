from __future__ import annotations

import asyncio
import os
import socket
import struct
import zlib
from pathlib import Path

import pytest

from app.core.effects import Span
from app.core.messages import Image
from app.core.tokens import estimate_text
from app.tools.read_file import read_lines
from tests.tools.conftest import Bench


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + chunk(b"IEND", b"")
    )


async def test_lines_come_numbered_and_exactly_as_they_stand(bench: Bench) -> None:
    bench.write("f.py", "def f():\n\treturn 1  \n")
    outcome = await bench.call("read_file", path="f.py")
    assert outcome.content == "1│def f():\n2│\treturn 1  "
    assert outcome.effects.outcome == "lines 1-2 of 2"
    assert outcome.effects.read == (Span("f.py", 1, 2, 2),)


async def test_a_long_file_comes_in_pages_that_name_the_next_offset(bench: Bench) -> None:
    bench.page_tokens(500)
    bench.write("f", "".join(f"line {n}\n" for n in range(1, 1_401)))
    first = await bench.call("read_file", path="f")
    last = first.effects.read[0].last
    assert str(first.content).endswith(f"[lines 1-{last} of 1,400; next offset {last + 1}]")
    second = await bench.text("read_file", path="f", offset=last + 1)
    assert second.startswith(f"{last + 1}│line {last + 1}\n")
    assert "this is the end" in await bench.text("read_file", path="f", offset=1_400)


async def test_a_page_is_as_large_as_set_in_the_models_own_tokens(bench: Bench) -> None:
    bench.page_tokens(500)
    bench.factor = 2.5
    bench.write("f", "".join(f"line {n}\n" for n in range(1, 1_401)))
    page = await bench.text("read_file", path="f")
    assert 400 < estimate_text(page) * bench.factor < 600


async def test_limit_bounds_the_lines(bench: Bench) -> None:
    bench.write("f", "a\nb\nc\n")
    assert (
        await bench.text("read_file", path="f", offset=2, limit=1)
        == "2│b\n[line 2 of 3; next offset 3]"
    )


async def test_an_offset_beyond_the_end_says_how_long_the_file_is(bench: Bench) -> None:
    bench.write("f", "a\n")
    assert "ends at line 1" in await bench.refusal("read_file", path="f", offset=5)


async def test_one_huge_line_can_be_paged_by_column(bench: Bench) -> None:
    bench.write("f.min.js", "ab" * 2_500_000)
    first = str((await bench.call("read_file", path="f.min.js")).content)
    assert len(first) < 60_000
    column = int(first.rsplit("column ", 1)[1].rstrip("]"))
    second = await bench.text("read_file", path="f.min.js", column=column)
    assert second.startswith("1│")
    assert f"characters {column:,}-" in second


async def test_a_300_mb_file_is_read_by_pages(bench: Bench) -> None:
    path = bench.write("big", "")
    block = b"x" * 99 + b"\n"
    with path.open("wb") as file:
        for _ in range(300):
            file.write(block * 10_000)
    outcome = await asyncio.wait_for(bench.call("read_file", path="big", offset=2_999_999), 10)
    path.unlink()
    assert outcome.effects.outcome == "lines 2,999,999-3,000,000 of 3,000,000"


async def test_an_empty_file_is_no_error(bench: Bench) -> None:
    bench.write("f", "")
    assert await bench.text("read_file", path="f") == "[f is empty]"


async def test_what_is_no_plain_file_is_refused_at_once(bench: Bench) -> None:
    os.mkfifo(bench.root / "fifo")
    (bench.root / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(bench.root)
        listener.bind("sock")
        os.chdir(here)
        assert "socket" in await bench.refusal("read_file", path="sock")
    assert "named pipe" in await bench.refusal("read_file", path="fifo")
    assert "use list_files" in await bench.refusal("read_file", path="folder")
    assert "does not exist" in await bench.refusal("read_file", path="missing")
    for path in ("/dev/zero", "/proc/self/environ", "/sys/kernel/version"):
        assert "system" in await bench.refusal("read_file", path=path)


async def test_a_file_without_read_right_is_a_clean_error(bench: Bench) -> None:
    bench.write("f", "x").chmod(0)
    if os.access(bench.root / "f", os.R_OK):
        pytest.skip("this user may read everything")
    assert "permission denied" in await bench.refusal("read_file", path="f")


async def test_binary_and_sparse_files_are_refused_at_once(bench: Bench) -> None:
    bench.write("b", b"\x7fELF\0\0\1")
    sparse = bench.write("sparse", "")
    os.truncate(sparse, 5_000_000_000)
    assert "binary" in await bench.refusal("read_file", path="b")
    assert "binary" in await bench.refusal("read_file", path="sparse")


async def test_other_encodings_are_shown_and_named(bench: Bench) -> None:
    bench.write("latin", "café\n".encode("latin-1"))
    bench.write("wide", "語\r\nb\r\n".encode("utf-16"))
    bench.write("marked", b"\xef\xbb\xbfword\n")
    latin = await bench.text("read_file", path="latin")
    assert latin.startswith("1│café\n")
    assert "edit_file will refuse" in latin
    wide = await bench.text("read_file", path="wide")
    assert wide.startswith("1│語\n2│b\n")
    assert "UTF-16-LE" in wide
    assert await bench.text("read_file", path="marked") == "1│word"


async def test_a_picture_comes_as_a_picture(bench: Bench) -> None:
    bench.write("p.png", png(640, 480))
    outcome = await bench.call("read_file", path="p.png")
    assert isinstance(outcome.content, tuple)
    _, image = outcome.content
    assert isinstance(image, Image)
    assert image.raw["source"]["media_type"] == "image/png"
    assert outcome.effects.outcome == "PNG picture, 640 x 480 pixels"


async def test_pictures_that_the_api_would_refuse_are_plain_errors(bench: Bench) -> None:
    bench.write("wide.png", png(9_000, 10))
    bench.write("heavy.jpg", b"\xff\xd8\xff\xe0" + b"\0" * 6_000_000)
    bench.write("broken.webp", b"RIFF\0\0\0\0WEBPVP8 ")
    assert "9,000 x 10 pixels" in await bench.refusal("read_file", path="wide.png")
    assert "6.0 MB" in await bench.refusal("read_file", path="heavy.jpg")
    assert "damaged" in await bench.refusal("read_file", path="broken.webp")


JPEG = b"\xff\xd8\xff\xc0\x00\x11\x08\x00\x10\x00\x10\x03" + b"\1" * 40 + b"\xff\xd9"
GIF = b"GIF89a" + struct.pack("<HH", 16, 16) + b"\1" * 20 + b";"
WEBP = b"RIFF" + struct.pack("<I", 40) + b"WEBPVP8X" + b"\0" * 32


@pytest.mark.parametrize(
    "whole", [png(16, 16), JPEG, GIF, WEBP], ids=["png", "jpeg", "gif", "webp"]
)
async def test_a_picture_that_was_cut_off_is_refused(bench: Bench, whole: bytes) -> None:
    bench.write("whole", whole)
    assert isinstance((await bench.call("read_file", path="whole")).content, tuple)
    for length in range(28, len(whole)):
        bench.write("cut", whole[:length])
        assert "damaged" in await bench.refusal("read_file", path="cut")


async def test_a_picture_with_a_changed_byte_is_refused(bench: Bench) -> None:
    whole = bytearray(png(16, 16))
    whole[30] ^= 1
    bench.write("p.png", bytes(whole))
    assert "damaged" in await bench.refusal("read_file", path="p.png")


async def test_a_text_named_like_a_picture_is_text(bench: Bench) -> None:
    bench.write("x.png", "hello\n")
    assert await bench.text("read_file", path="x.png") == "1│hello"


@pytest.mark.parametrize("name", ["$(touch M).md", "-rf", "a;touch M", "x\ny", "\x1b]0;t\x07"])
async def test_file_names_are_never_code_and_shown_escaped(bench: Bench, name: str) -> None:
    bench.write(name, "old\n")
    assert await bench.text("read_file", path=name) == "1│old"
    edited = await bench.call("edit_file", path=name, old_text="old", new_text="new")
    listing = await bench.text("list_files")
    for text in (
        str(edited.content),
        edited.diff,
        listing,
        edited.effects.outcome,
        edited.effects.target,
    ):
        assert "\x1b" not in text
        assert "x\ny" not in text
    assert (bench.root / name).read_text() == "new\n"
    assert not (bench.root / "M").exists()


async def test_lines_read_again_for_a_new_view_are_as_they_are_now_and_count_as_seen(
    bench: Bench,
) -> None:
    path = bench.write("f", "a\nb\nc\n")
    await bench.call("read_file", path="f")
    path.write_text("a\nB\nc\n")
    assert await read_lines(bench.workspace, "f", 2, 3) == "B\nc"
    await bench.call("edit_file", path="f", old_text="B", new_text="x")
    bench.write("bin", b"\0")
    for name in ("missing", "bin", "../out"):
        assert await read_lines(bench.workspace, name, 1, 9) is None
