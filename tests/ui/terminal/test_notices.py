"""What calls the user: the right sequence for the terminal, and nothing that a name could smuggle in."""

import pytest

from app.ui.attention import LONG_SECONDS, Attention, Doing
from app.ui.terminal.notices import Notify, notice, title


@pytest.mark.parametrize(
    ("how", "environ", "expected"),
    [
        (Notify.OFF, {"TERM_PROGRAM": "ghostty"}, ""),
        (Notify.AUTO, {"TERM": "xterm-256color"}, "\x07"),
        (Notify.AUTO, {"TERM_PROGRAM": "iTerm.app"}, "\x1b]9;pal: done\x07"),
        (Notify.AUTO, {"TERM": "xterm-kitty"}, "\x1b]9;pal: done\x07"),
        (Notify.AUTO, {"TERM": "foot"}, "\x1b]777;notify;pal;done\x07"),
        (Notify.DESKTOP, {"TERM": "xterm"}, "\x1b]9;pal: done\x07"),
        (Notify.BELL, {"TERM_PROGRAM": "ghostty"}, "\x07"),
        (
            Notify.DESKTOP,
            {"TERM": "tmux-256color", "TMUX": "/tmp/x,1,0"},
            "\x1bPtmux;\x1b\x1b]9;pal: done\x07\x1b\\\x07",
        ),
    ],
)
def test_each_terminal_gets_what_it_shows(how, environ, expected):
    assert notice("pal", "done", how, environ) == expected


def test_no_text_can_end_the_sequence_or_begin_another():
    evil = "x\x07\x1b]52;c;AAAA\x07\x9c\x1b\\\ny;z"
    for sequence in (title(evil), notice(evil, evil, Notify.DESKTOP, {"TERM": "foot"})):
        assert sequence.count("\x1b") == 1
        assert sequence.count("\x07") == 1
        assert sequence.endswith("\x07")
        assert "\n" not in sequence
    assert notice("a;b", "c", Notify.DESKTOP, {"TERM": "foot"}).count(";") == 3


def attention():
    written = []
    return Attention(written.append, {"TERM": "xterm"}), written


def test_who_looks_is_not_called():
    call, written = attention()
    call.focused = True
    call.call("done", Notify.AUTO, seconds=1_000)
    assert written == []
    call.focused = False
    call.call("done", Notify.AUTO, seconds=0)
    assert written == ["\x07"]


def test_without_word_of_the_focus_only_long_work_calls():
    call, written = attention()
    call.call("done", Notify.AUTO, seconds=LONG_SECONDS - 1)
    assert written == []
    call.call("done", Notify.AUTO, seconds=LONG_SECONDS)
    assert written == ["\x07"]


def test_the_title_is_written_when_it_changes_and_when_it_is_wanted():
    call, written = attention()
    call.show(Doing.IDLE, "project", wanted=False)
    assert written == []
    for _ in range(2):
        call.show(Doing.WORKING, "project", wanted=True)
    assert written == ["\x1b]0;… project · pal\x07"]
    call.forget_title()
    call.show(Doing.WORKING, "project", wanted=True)
    assert len(written) == 2
