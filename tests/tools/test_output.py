from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.tools.output import LiveText, Output, clean


@given(st.lists(st.binary(max_size=20), max_size=20), st.integers(1, 40), st.integers(1, 40))
def test_what_is_kept_and_what_is_dropped_add_up(pieces: list[bytes], head: int, tail: int) -> None:
    output = Output(head=head, tail=tail)
    for piece in pieces:
        output.add(piece)
    data = b"".join(pieces)
    collected = output.collect()
    assert collected.dropped == max(0, len(data) - head - tail)
    assert collected.lines == data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
    collected.text.encode("utf-8")
    assert output.collect().text == ""


@given(st.text(max_size=200), st.integers(1, 7))
def test_live_pieces_of_plain_text_join_to_it(text: str, step: int) -> None:
    live = LiveText()
    data = text.encode()
    shown = ""
    for at in range(0, len(data), step):
        live.add(data[at : at + step])
        shown += live.take()
    shown += live.take(final=True)
    if not set(text) & set("\r\x1b") and clean(text) == text:
        assert shown == text


def test_a_progress_line_shows_its_last_state_live() -> None:
    live = LiveText()
    live.add(b"10%\r20%\r")
    assert live.take() == ""
    live.add(b"30%\nnext")
    assert live.take() == "30%\nnext"


def test_a_flood_is_shown_by_its_end() -> None:
    live = LiveText()
    live.add(b"x" * 100_000 + b"end")
    text = live.take()
    assert text.endswith("end")
    assert "not shown live" in text
    assert len(text) < 10_000


@given(st.text(st.sampled_from("\x1b[]\x07\r\nm0;\x9bX\\a"), max_size=60))
def test_cleaned_text_holds_no_control_characters(text: str) -> None:
    assert not set(clean(text)) & set("\x1b\x07\r\x9b\x00")


def test_cleaning_a_long_line_with_carriage_returns_is_quick() -> None:
    assert clean("a" * 2_000_000 + "\r" + "b" * 2_000_000) == "b" * 2_000_000
    assert clean("\x1b]" * 200_000) == ""
