from __future__ import annotations

import json
import unicodedata
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.visible_text import (
    VisibleStream,
    escaped,
    hides_something,
    json_line,
    one_line,
    revealed_text,
    visible_text,
)

NASTY = st.text(
    st.one_of(
        st.sampled_from(
            "\x1b[]mKH0;1?\x07\\PX^_\x9b\x9d\x90\x9c\r\n\b\tab中\u202e\u200b\u200d\ufe0f🎉\U000e0041"
        ),
        st.characters(),
    ),
    max_size=60,
)


def controls(text: str) -> list[str]:
    return [c for c in text if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]


@given(NASTY, st.booleans())
def test_no_control_character_is_left(text: str, progress: bool) -> None:
    assert controls(visible_text(text, progress=progress)) == []


@given(NASTY)
def test_nothing_is_left_to_do_the_second_time(text: str) -> None:
    once = visible_text(text)
    assert visible_text(once) == once


@given(NASTY)
def test_nothing_reorders_or_hides_text(text: str) -> None:
    assert not set(visible_text(text)) & set(
        "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u2060"
    )


@given(NASTY, st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_a_stream_says_the_same_however_it_is_cut(text: str, sizes: list[int]) -> None:
    text = text.replace("\u200d", "").replace("\ufe0f", "").replace("\u200c", "")
    text = "".join(c for c in text if not 0xE0000 <= ord(c) <= 0xE007F)
    stream, shown, at, turn = VisibleStream(), "", 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        shown += stream.feed(text[at : at + size])
        at, turn = at + size, turn + 1
    shown += stream.close()
    assert shown == visible_text(text, progress=False)


@given(NASTY)
def test_what_is_approved_loses_no_character(text: str) -> None:
    shown = revealed_text(text)
    assert controls(shown) == []
    kept = [c for c in text.replace("\r\n", "\n") if c.isalnum() and c.isascii()]
    rest = iter(shown)
    assert all(c in rest for c in kept)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("a\x1b[2Jb", "ab"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]52;c;aGk=\x1b\\text", "text"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x07", "link"),
        ("\x9b31mred", "red"),
        ("\x1bPq...\x1b\\x", "x"),
        ("10%\r50%\r100%\n", "100%\n"),
        ("long line\rshort", "shortline"),
        ("long line\r\x1b[Kshort", "short"),
        ("one\r\ntwo", "one\ntwo"),
        ("x\by", "y"),
        ("a\x07b", "ab"),
        ("a\x00b", "a␀b"),
        ("a\x00\x01\x1b\x7f\tb\x1f", "a␀␁␛␡\tb␟"),
        ("cut \x1b", "cut ␛"),
        ("cut \x1b]52;c;", "cut ␛]52;c;"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("x\U000e0068\U000e0069", "x⟨tags:hi⟩"),
        ("\ud800", "\ufffd"),
        ("👩\u200d💻 ❤\ufe0f 1\ufe0f", "👩\u200d💻 ❤\ufe0f 1\ufe0f"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("[red]not markup[/]", "[red]not markup[/]"),
    ],
)
def test_what_a_reader_sees(raw: str, shown: str) -> None:
    assert visible_text(raw) == shown


def test_a_sequence_cut_between_two_pieces_is_removed() -> None:
    stream = VisibleStream()
    assert stream.feed("a\x1b[3") + stream.feed("1mb") == "ab"


def test_a_carriage_return_at_a_cut_is_no_second_line_end() -> None:
    stream = VisibleStream()
    assert stream.feed("a\r") + stream.feed("\nb") == "a\nb"


def test_hidden_characters_are_noticed_and_emoji_are_not() -> None:
    assert hides_something("rm \u202e-rf")
    assert hides_something("a\x1b[8mb")
    assert not hides_something("echo 👩\u200d💻 ❤\ufe0f\r\n")


def test_one_line_is_one_line_of_bounded_length() -> None:
    assert one_line("a\n\tb\x1b[1m c") == "a b c"
    assert len(one_line("x" * 10_000, 50)) == 50


def test_odd_names_are_shown_as_escapes() -> None:
    assert escaped("x\ny") == "x\\ny"
    assert escaped("\x1b]0;t\x07") == "\\x1b]0;t\\x07"
    assert escaped("a\u202eb") == "a\\u202eb"
    assert escaped("\udcff") == "\\xff"
    assert escaped("naïve 語.md") == "naïve 語.md"


def test_a_flood_of_combining_marks_is_cut_to_what_a_letter_can_carry() -> None:
    assert visible_text("a" + "\u0301" * 1_000 + "b") == "a" + "\u0301" * 8 + "⟨992 marks⟩b"
    assert visible_text("a\u0301e\u0308n\u0303") == "a\u0301e\u0308n\u0303"
    assert hides_something("a" + "\u0301" * 9) and not hides_something("e\u0301")
    assert revealed_text("a" + "\u20d0" * 10) == "a" + "\u20d0" * 8 + "⟨2 marks⟩"


@pytest.mark.parametrize(
    "flood",
    ["\x9d", "\x90a", "\x1b]", "\x1b[0", "\x9b0", "\x1b ", "a\r", "a\b", "\U000e0041", "a\u0301"],
)
def test_no_flood_takes_more_than_its_length(flood: str) -> None:
    def seconds(times: int) -> float:
        begun = process_time()
        visible_text(flood * times)
        VisibleStream().feed(flood * times)
        revealed_text(flood * times)
        return process_time() - begun

    short = min(seconds(2_000) for _ in range(3))
    assert min(seconds(20_000) for _ in range(3)) < 60 * short + 0.05


@given(NASTY)
def test_a_line_of_json_holds_nothing_that_acts_or_hides_and_reads_back_the_same(text: str) -> None:
    line = json_line({"text": text})
    assert json.loads(line) == {"text": text}
    assert controls(line) == [] and "\u202e" not in line
