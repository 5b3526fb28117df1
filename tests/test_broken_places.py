"""What the machine refuses - a full disk, a folder that is gone, a reader that left - is told, and is no crash."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app.cli import main
from app.core.own_folders import STATE_FOLDER

LINES = '{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "ho"}\n'
COMMANDS = (
    ("sessions", "list"),
    ("rules", "list"),
    ("replay", "rec.jsonl"),
    ("replay", "rec.jsonl", "--json"),
    ("doctor", "--json", "--set", "demo=on", "--set", "sandbox=off"),
    ("--version",),
)


class Broken(io.StringIO):
    """Standard output that fails."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number
        self._spare = os.open(os.devnull, os.O_WRONLY)

    def close(self) -> None:
        if not self.closed:
            os.close(self._spare)
        super().close()

    def write(self, text: str) -> int:
        raise OSError(self._number, os.strerror(self._number))

    def fileno(self) -> int:
        """Return a descriptor that may be replaced."""
        return self._spare


Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in an empty folder with an empty home; returns its exit code and what it complained."""
    folder, home = tmp_path / "project", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    (folder / "rec.jsonl").write_text(LINES)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in [name for name in os.environ if name.startswith(("ANTHROPIC", "PAL_", "MODEL"))]:
        monkeypatch.delenv(name)

    def run(*arguments: str, out: io.StringIO | None = None) -> tuple[int, str]:
        with monkeypatch.context() as swapped:
            if out is not None:
                swapped.setattr(sys, "stdout", out)
            try:
                code = main(list(arguments))
            except SystemExit as stop:
                code = int(stop.code or 0)
        assert not (home / STATE_FOLDER / "crash.txt").exists()
        return code, capsys.readouterr().err

    return run


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_output_that_cannot_be_written_is_told(run: Run, command: tuple[str, ...]) -> None:
    code, said = run(*command, out=Broken(errno.ENOSPC))
    assert code == 1
    assert "No space left" in said and "output" in said and "failed" not in said


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_reader_that_left_is_not_complained_about(run: Run, command: tuple[str, ...]) -> None:
    code, said = run(*command, out=Broken(errno.EPIPE))
    assert (code in (0, 1), said) == (True, "")


def test_a_recording_that_cannot_be_read_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: Path) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, "read_bytes", denied)
    code, said = run("replay", "rec.jsonl")
    assert code == 1 and "rec.jsonl cannot be read: Permission denied" in said


def test_requests_that_cannot_be_dumped_are_told(run: Run) -> None:
    code, said = run("replay", "rec.jsonl", "--dump-requests", "rec.jsonl/requests")
    assert code == 1 and "rec.jsonl/requests cannot be written: Not a directory" in said


@pytest.mark.parametrize("command", [*COMMANDS[:3], ("-p", "hello", "--demo")], ids=" ".join)
def test_a_start_folder_that_is_gone_is_told(
    run: Run, command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    code, said = run(*command)
    assert code == 2 and "is gone" in said


def test_a_settings_file_in_the_way_of_a_rule_is_told(run: Run) -> None:
    (Path.home() / ".config").write_text("a file")
    code, said = run("rules", "add", "allow", "bash: make")
    assert code == 1 and "Not a directory" in said
