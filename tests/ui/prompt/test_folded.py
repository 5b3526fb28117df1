"""Chips: what is large stands in the prompt as one line and is sent whole."""

import base64
import struct
import zlib

import pytest

from app.core.messages import Image
from app.errors import ToolError
from app.ui.prompt.folded import MOST_CHARS, Folded, Picture
from app.ui.prompt.pictures import clipboard_picture, dropped_pictures, picture_of, read_picture


def png(width=3, height=2):
    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\xff\0\0" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def picture(label="a.png", data="AAAA"):
    source = {"type": "base64", "media_type": "image/png", "data": data}
    return Picture(Image({"type": "image", "source": source}), label)


def test_a_paste_and_a_picture_have_one_row_of_numbers():
    folded = Folded()
    assert folded.paste("a\n" * 120) == "[Pasted text #1 +120 lines]"
    assert folded.picture(picture("a [1].png, 3x2")) == "[Image #2 a _1_.png, 3x2]"
    assert folded.paste("x" * 5_000) == "[Pasted text #3 +5,000 characters]"


def test_an_earlier_text_gets_chips_for_its_pictures_also_in_another_run():
    first, second = picture("a.png", "AAAA"), picture("b.png", "BBBB")
    folded = Folded()
    text = f"{folded.picture(first)} and {folded.picture(second)}"
    assert folded.with_pictures(text, (first.block, second.block)) == text
    later = Folded()
    later.paste("other")
    again = later.with_pictures(text, (first.block, second.block))
    assert again == "[Image #2 a.png] and [Image #3 b.png]"
    assert later.pictures(again) == (first.block, second.block)
    bare = later.with_pictures("no chip", (first.block,))
    assert later.pictures(bare) == (first.block,)
    assert later.with_pictures("[Image #9 mine]", ()) == "[Image #9 mine]"


def test_the_whole_text_has_pastes_in_full_and_keeps_the_chips_of_pictures():
    folded = Folded()
    text = f"see {folded.paste('long')} and {folded.picture(one := picture())}"
    assert folded.whole(text) == "see long and [Image #2 a.png]"
    assert folded.pictures(text) == (one.block,)
    assert folded.pastes(text) == {1: "long"}
    assert folded.pictures("nothing") == ()


def test_a_chip_that_stands_for_nothing_or_for_another_kind_is_text():
    folded = Folded()
    folded.paste("long")
    assert folded.whole("[Pasted text #7 +1 line]") == "[Pasted text #7 +1 line]"
    assert folded.whole("[Image #1 a.png]") == "[Image #1 a.png]"
    assert folded.pictures("[Image #1 a.png]") == ()


def test_what_is_kept_is_bounded_and_the_newest_stays():
    folded = Folded()
    first, second = folded.paste("a" * MOST_CHARS), folded.paste("b" * 10)
    assert folded.whole(first) == first
    assert folded.whole(second) == "b" * 10


def test_pastes_of_an_earlier_run_come_back_and_their_numbers_are_not_used_again():
    folded = Folded()
    folded.restore({4: "old"})
    assert folded.whole("[Pasted text #4 +1 line]") == "old"
    assert folded.paste("new").startswith("[Pasted text #5 ")


def test_a_dropped_picture_is_known_by_its_path_however_it_is_written(tmp_path):
    plain, odd = tmp_path / "a.png", tmp_path / "my shot.PNG"
    for path in (plain, odd):
        path.write_bytes(png())
    escaped = str(odd).replace(" ", "\\ ")
    for text in (str(odd), f"'{odd}'", escaped, odd.as_uri(), " my shot.PNG "):
        assert dropped_pictures(text, tmp_path) == [odd], text
    assert dropped_pictures(f"a.png {escaped}", tmp_path) == [plain, odd]


@pytest.mark.parametrize(
    "text",
    ["", "a.py", "gone.png", "look at a.png", "a.png\nb.png", "x" * 9_000 + ".png", "'a.png"],
)
def test_anything_else_is_only_text(text, tmp_path):
    (tmp_path / "a.png").write_bytes(png())
    assert dropped_pictures(text, tmp_path) == []


def test_a_picture_is_read_with_its_size_and_refused_where_the_endpoint_would(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(png(30, 20))
    read = read_picture(path)
    assert read.label == "a.png, 30x20"
    assert base64.b64decode(read.block.raw["source"]["data"]) == path.read_bytes()
    path.write_bytes(png()[:-5])
    with pytest.raises(ToolError, match="damaged"):
        read_picture(path)
    path.write_bytes(b"text")
    with pytest.raises(ToolError, match="no PNG"):
        read_picture(path)
    with pytest.raises(ToolError, match="cannot be read"):
        read_picture(tmp_path / "gone.png")
    with pytest.raises(ToolError, match="too large"):
        picture_of(b"\x89PNG\r\n\x1a\n" + b"\0" * 5_000_000, "a.png")


def test_the_clipboard_is_asked_through_what_the_desktop_has(tmp_path, monkeypatch):
    program = tmp_path / "wl-paste"
    program.write_text(f"#!/bin/sh\ncat {tmp_path}/a.png\n")
    program.chmod(0o755)
    (tmp_path / "a.png").write_bytes(png())
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert clipboard_picture({"WAYLAND_DISPLAY": "wayland-0"}) == png()
    assert clipboard_picture({}) is None
    (tmp_path / "a.png").write_text("only text")
    assert clipboard_picture({"WAYLAND_DISPLAY": "wayland-0"}) is None
