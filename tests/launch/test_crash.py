"""What is told when the program itself fails, and what is kept of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.own_folders import STATE_FOLDER
from app.launch.crash import REPORT_FILE, crash_error, tool_fault
from app.launch.masking import mask_of
from app.settings import Settings
from tests.fakes.secret_samples import alnum

KEY = "sk-ant-probe-0000"
TOKEN = "gh" + "p_" + alnum(36)
HOSTILE = f"\x1b]0;title\x07{KEY} {TOKEN}\u202e\ud800[/red]\nsecond line"


@pytest.mark.parametrize("told_by", [crash_error, tool_fault])
def test_neither_the_line_nor_the_report_holds_secrets_or_control_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told_by: object
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    try:
        raise ValueError(HOSTILE)
    except ValueError as error:
        assert callable(told_by)
        told = str(told_by(error, mask_of(Settings(api_key=KEY))))
    report = (tmp_path / STATE_FOLDER / REPORT_FILE).read_text()
    assert "ValueError" in told and "\n" not in told
    assert "test_neither_the_line" in report
    for text in (told, report):
        assert KEY not in text and TOKEN not in text
        assert not any(char in text for char in "\x1b\x07\u202e\ud800")


def test_a_fault_is_told_also_where_no_report_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    (tmp_path / "file").write_text("")
    told = tool_fault(ValueError("x"), lambda text: text)
    assert told == "the tool failed, which is a fault of this program: ValueError: x."
