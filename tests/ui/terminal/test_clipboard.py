import base64
import re
from pathlib import Path

import pytest

from app.ui.terminal.clipboard import SCREEN_CHUNK, copy_by_tmux, is_inside_tmux, screen_sequence


@pytest.mark.parametrize("text", ["short", "中文 and a long text " * 200])
def test_screen_passes_the_sequence_on_in_pieces(text):
    sequence = screen_sequence(text, {"STY": "123.pts"})
    pieces = re.findall(r"\x1bP(.*?)\x1b\\", sequence, re.DOTALL)
    assert all(len(piece) <= SCREEN_CHUNK for piece in pieces)
    whole = re.fullmatch(r"\x1b\]52;c;(.*)\x07", "".join(pieces))
    assert base64.b64decode(whole[1]).decode() == text


def test_elsewhere_the_plain_sequence_is_enough():
    assert screen_sequence("text", {}) == ""
    assert is_inside_tmux({"TMUX": "/tmp/tmux-0/default,1,0"}) and not is_inside_tmux({})


def program(folder: Path, body: str) -> None:
    (folder / "tmux").write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    (folder / "tmux").chmod(0o755)


@pytest.fixture
def bin_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def test_tmux_gets_the_text_for_its_buffer_and_the_terminal(bin_folder):
    program(bin_folder, f'echo "$@" > {bin_folder}/asked; cat > {bin_folder}/copied')
    assert copy_by_tmux("a 'quoted' 中 text")
    assert (bin_folder / "copied").read_text(encoding="utf-8") == "a 'quoted' 中 text"
    assert (bin_folder / "asked").read_text(encoding="utf-8").split() == ["load-buffer", "-w", "-"]


def test_an_old_tmux_takes_it_without_the_terminal(bin_folder):
    program(bin_folder, f'[ "$2" = "-w" ] && exit 1; cat > {bin_folder}/copied')
    assert copy_by_tmux("text")
    assert (bin_folder / "copied").read_text(encoding="utf-8") == "text"


def test_a_tmux_that_takes_nothing_is_no_failure(bin_folder):
    program(bin_folder, "exit 1")
    assert not copy_by_tmux("text")
