from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.core.visible_text import visible_text
from app.tools.output import LiveText, Output


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
    if not set(text) & set("\r\x1b") and visible_text(text) == text:
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


def test_output_is_what_a_person_would_read_on_a_terminal() -> None:
    output = Output()
    output.add(b"\x1b[31mred\x1b[0m\r\n10%\r20%\rdone\n\x1b]52;c;aGk=\x07a\x00b\xe2\x80\xae")
    assert output.collect().text == "red\ndone\na\u2400b⟨U+202E⟩"
