from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.visible_text import visible_text
from app.tools import spool as spools
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


def test_all_of_a_large_output_can_be_read_piece_by_piece() -> None:
    output = Output(head=100, tail=50)
    for number in range(1_000):
        output.add(f"line {number} é\x1b[31m\n".encode())
    collected = output.collect()
    assert collected.dropped
    assert collected.full is not None
    assert "".join(collected.full()) == "".join(f"line {n} é\n" for n in range(1_000))
    output.add(b"the next one is small")
    assert output.collect().full is None


def test_what_is_more_than_the_disk_shall_hold_ends_with_the_count_and_the_tail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spools, "SPOOL_BYTES", 300)
    output = Output(head=100, tail=50)
    for _ in range(100):
        output.add(b"123456789\n")
    full = output.collect().full
    assert full is not None
    text = "".join(full())
    assert text.count("123456789\n") == 35
    assert "[… 650 bytes were not kept …]" in text


def test_a_line_without_an_end_is_handed_on_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spools, "PIECE_CHARS", 10)
    monkeypatch.setattr(spools, "BLOCK_BYTES", 7)
    output = Output(head=10, tail=10)
    output.add("é".encode() * 500)
    full = output.collect().full
    assert full is not None
    pieces = list(full())
    assert "".join(pieces) == "é" * 500
    assert max(map(len, pieces)) < 20


def test_a_disk_without_room_loses_only_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    def full_disk(*args: object, **more: object) -> int:
        raise OSError("no room")

    monkeypatch.setattr(spools.tempfile, "mkstemp", full_disk)
    output = Output(head=10, tail=10)
    output.add(b"x" * 100)
    collected = output.collect()
    assert collected.dropped == 80
    assert collected.full is None
