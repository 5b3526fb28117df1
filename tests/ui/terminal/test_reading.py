"""What a terminal sends: keys and pastes come through, everything else never reaches the prompt."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import XTermParser

from app.ui.terminal.reading import (
    KEY_SECONDS,
    PASTE_SECONDS,
    STRAY_SECONDS,
    Escape,
    Pasted,
    TerminalReader,
    Typed,
)
from app.ui.terminal.reports import as_input

REPORTS = (
    "\x1b]10;rgb:dcdc/d7d7/cbcb\x1b\\",
    "\x1b]11;rgb:1616/1717/1a1a\x07",
    "\x1b]4;1;rgb:ffff/0000/0000\x1b\\",
    "\x1b]52;c;aGVsbG8=\x07",
    "\x1b[?62;1;6;22c",
    "\x1b[>1;4000;0c",
    "\x1b[?1u",
    "\x1b[?2004;2$y",
    "\x1b[?2048;1$y",
    "\x1b[8;40;120t",
    "\x1b[48;40;120;0;0t",
    "\x1b[4;800;1200t",
    "\x1b[?997;1n",
    "\x1bP>|tmux 3.4\x1b\\",
    "\x1bP1+r524742=38\x1b\\",
    "\x1b_Gi=31;OK\x1b\\",
    "\x1b[M !!",
    "\x1b[M\x00\xff\xff",
    "\x1b[<35;;M",
    "\x1b[<;12M",
    "\x1b[<99999999999;1;1M",
    "\x1b[35;12;3M",
    "\x1b[999999999999u",
    "\x1b[1114112;1u",
    "\x1b[97;1;55296u",
    "\x1b[97;5:3u",
    "[<35;12;3M",
    "]11;rgb:1616/1717/1a1a\x1b\\",
    "[?62;22c",
)
KEYS = {
    "\x1b[A": "up",
    "\x1bOA": "up",
    "\x1b[1;5C": "ctrl+right",
    "\x1b[Z": "shift+tab",
    "\x1b[3~": "delete",
    "\x1bOP": "f1",
    "\x1b[13;2u": "shift+enter",
    "\x1b[13;3u": "alt+enter",
    "\x1b[27;2;13~": "shift+enter",
    "\x1b[27;5;106~": "ctrl+j",
    "\x1b\r": "alt+enter",
    "\x1b\n": "alt+enter",
    "\x1ba": "alt+a",
    "\x1bA": "alt+shift+a",
    "\x1b[97;1:1u": "a",
    "\x1b[97:65;5u": "ctrl+a",
    "\x1b[27u": "escape",
    "\x0a": "ctrl+j",
    "é": "é",
    "字": "字",
}


def read(*pieces, gap=0.01, after=10.0):
    """What a reader makes of pieces that come one after another, and of the silence after them."""
    reader, now, out = TerminalReader(), 0.0, []
    for piece in pieces:
        out += reader.feed(piece, now)
        now += gap
        out += reader.idle(now)
    for _ in range(3):
        now += after
        out += reader.idle(now)
    assert not reader.waits
    return out


def keys(read_things):
    """Names of the keys in it; a report that the parser does not know would be typed letter by letter."""
    parser, found = XTermParser(), []
    for thing in read_things:
        if isinstance(thing, Typed):
            found += [e.key for e in parser.feed(thing.text) if isinstance(e, events.Key)]
        elif isinstance(thing, Escape):
            found.append("escape")
    assert parser._timeout_time is None, "the key parser was left in the middle of a sequence"
    return found


@pytest.mark.parametrize("report", REPORTS, ids=ascii)
def test_a_report_is_never_typed(report):
    assert keys(read(f"a{report}b")) == ["a", "b"]


@pytest.mark.parametrize("report", [r for r in REPORTS if r.startswith("\x1b")], ids=ascii)
def test_nor_in_two_pieces_wherever_it_is_cut(report):
    for at in range(1, len(report)):
        assert keys(read("a", report[:at], report[at:], "b", gap=0.001)) == ["a", "b"], at


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        ("\x1b[<35;1", "2;3M"),
        ("\x1b]11;rgb:16", "16/1717/1a1a\x1b\\"),
        ("\x1b]11;rgb:1616/1717/1a1a\x1b", "\\"),
        ("\x1bP>|tmux", " 3.4\x1b\\"),
    ],
)
def test_nor_when_the_rest_comes_late(first, rest):
    assert keys(read("a", first, rest, "b", gap=KEY_SECONDS * 2)) == ["a", "b"]


@pytest.mark.parametrize(("sequence", "name"), KEYS.items(), ids=ascii)
def test_keys_come_through(sequence, name):
    assert keys(read(sequence)) == [name]
    assert keys(read(*sequence, gap=0.001)) == [name]


def test_every_key_that_the_framework_knows_comes_through():
    for sequence in ANSI_SEQUENCES_KEYS:
        if sequence.startswith("\x1b") and len(sequence) > 2:
            assert as_input(sequence) == sequence


def test_escape_alone_is_a_key_after_a_moment():
    reader = TerminalReader()
    assert list(reader.feed("\x1b", 0.0)) == []
    assert reader.waits
    assert list(reader.idle(KEY_SECONDS / 2)) == []
    assert list(reader.idle(KEY_SECONDS)) == [Escape()]
    assert read("\x1b\x1b") == [Escape(), Escape()]
    assert keys(read("\x1b\x1b[A")) == ["escape", "up"]


def test_what_is_typed_after_a_lost_report_is_not_swallowed():
    assert keys(read("\x1b]11;rgb:16", "x", gap=KEY_SECONDS * 2)) == ["x"]
    assert keys(read("\x1b[<35;1", "hello", gap=KEY_SECONDS * 2)) == list("hello")
    reader = TerminalReader()
    list(reader.feed("\x1b]11;rgb:16", 0.0))
    assert list(reader.idle(1.0)) == []
    assert keys(reader.feed("16", 1.0 + STRAY_SECONDS)) == ["1", "6"]


def test_a_paste_comes_whole_whatever_is_in_it():
    text = "line\r\x1b[31mred\x1b[0m\x1b]11;rgb:1/2/3\x07[<35;1;1M\n字"
    assert read(f"\x1b[200~{text}\x1b[201~") == [Pasted(text)]
    assert keys(read(f"\x1b[200~{text}\x1b[201~z")) == ["z"]


@given(st.text(max_size=60), st.integers(1, 7))
def test_a_paste_comes_whole_in_pieces_of_any_size(text, size):
    whole = f"\x1b[200~{text.replace(chr(27), '')}\x1b[201~"
    pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
    assert read(*pieces, gap=0.0001) == [Pasted(text.replace("\x1b", ""))]


def test_a_paste_whose_end_got_lost_ends_when_it_stands_still():
    reader = TerminalReader()
    assert list(reader.feed("\x1b[200~half", 0.0)) == []
    assert list(reader.idle(PASTE_SECONDS / 2)) == []
    assert list(reader.idle(PASTE_SECONDS)) == [Pasted("half")]
    assert keys(reader.feed("x", 3.0)) == ["x"]


def test_a_large_paste_is_read_at_once():
    text = "0123456789" * 100_000
    whole = f"\x1b[200~{text}\x1b[201~"
    reader, out = TerminalReader(), []
    for at in range(0, len(whole), 4_096):
        out += reader.feed(whole[at : at + 4_096], 0.0)
    assert out == [Pasted(text)]


SEQUENCES = st.one_of(
    st.sampled_from(REPORTS),
    st.sampled_from(list(KEYS)),
    st.text("\x1b[]<>?;:0123456789MmRcuyt~OP_^X\\$ \x07rgb/", max_size=12),
    st.text(max_size=4),
)


@given(st.lists(SEQUENCES, max_size=12), st.integers(1, 9))
@example(["\x1b[48;0;0;0;0t", "\x1b[<0;1;1M"], 9)
def test_no_input_breaks_the_reader_or_the_key_parser(parts, size):
    data = "".join(parts)
    things = read(*(data[at : at + size] for at in range(0, len(data), size)))
    parser = XTermParser()
    for thing in things:
        if isinstance(thing, Typed):
            list(parser.feed(thing.text))


@given(st.lists(st.sampled_from(REPORTS[:26]), max_size=6), st.integers(1, 9))
def test_reports_in_pieces_of_any_size_type_nothing(reports, size):
    data = "".join(reports)
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert keys(read(*pieces, gap=0.0001)) == []
