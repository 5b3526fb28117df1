"""The subcommands: what ``pal replay`` prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.subcommands import replay


def test_a_replay_names_lines_that_are_no_messages_and_keeps_its_table_in_one_piece(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = tmp_path / "2026-11-30T03-35-06Z-dcad.jsonl"
    recording.write_text(json.dumps({"role": "user", "content": "hi"}) + "\nno JSON\n")
    assert replay([str(recording)]) == 0
    printed = capsys.readouterr().out
    assert "lines that are no messages: 1" in printed
    assert any(line.startswith("2026-11-30T03-35-06Z-dcad ") for line in printed.splitlines())
    assert "compactions" in printed
