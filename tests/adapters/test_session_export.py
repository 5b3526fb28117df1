"""A session as a file: whole or not at all, for its owner only, and never over another file unasked."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.adapters.journal import Journal
from app.adapters.session_export import export_session, write_export
from app.core.messages import Message, Text, user
from app.errors import RecordError, RecordUnwritable
from tests.fakes.clock import FakeClock


@pytest.fixture
async def record(tmp_path: Path) -> Journal:
    record = await Journal.create(tmp_path / "sessions", clock=FakeClock())
    for number in range(3):
        await record.append(user(f"question {number}"), spoken=(0,))
        await record.append(Message("assistant", (Text(f"answer {number}"),)))
    return record


async def test_an_open_session_is_exported_while_it_goes_on(
    record: Journal, tmp_path: Path
) -> None:
    await record.export(tmp_path / "a.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [line["role"] for line in lines] == ["user", "assistant"] * 3
    await record.append(user("one more"), spoken=(0,))
    await record.export(tmp_path / "b.md")
    text = (tmp_path / "b.md").read_text()
    assert text.startswith("# Session ") and text.index("question 0") < text.index("one more")
    await record.close()


async def test_an_export_replaces_nothing_unless_it_is_told_to(
    record: Journal, tmp_path: Path
) -> None:
    path = tmp_path / "README.md"
    path.write_text("mine")
    with pytest.raises(RecordUnwritable, match="exists already"):
        await record.export(path)
    assert path.read_text() == "mine"
    await record.export(path, replace=True)
    assert "answer 2" in path.read_text()
    await record.close()


@pytest.mark.parametrize("replace", [True, False])
async def test_only_the_owner_can_read_an_export(
    record: Journal, tmp_path: Path, replace: bool
) -> None:
    path = tmp_path / "a.md"
    if replace:
        path.write_text("old")
        path.chmod(0o644)
    await record.close()
    export_session(record.folder, path, replace=replace)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def broken() -> Iterator[str]:
    yield "half of it\n"
    raise RecordError("a segment is missing")


@pytest.mark.parametrize("before", [None, "the whole of the last one"])
def test_an_export_that_fails_leaves_what_was_there(tmp_path: Path, before: str | None) -> None:
    path = tmp_path / "a.md"
    if before is not None:
        path.write_text(before)
    with pytest.raises(RecordError):
        write_export(path, broken(), replace=before is not None)
    assert [p.read_text() for p in tmp_path.iterdir()] == ([] if before is None else [before])


def test_a_link_stays_a_link_and_a_pipe_a_pipe(tmp_path: Path) -> None:
    real = tmp_path / "real.md"
    real.write_text("old")
    link = tmp_path / "link.md"
    link.symlink_to(real)
    write_export(link, ["new"], replace=True)
    assert link.is_symlink() and real.read_text() == "new"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_export(pipe, ["through"], replace=True)
        assert os.read(reading, 100) == b"through" and stat.S_ISFIFO(pipe.stat().st_mode)
    finally:
        os.close(reading)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordUnwritable, match="nowhere"):
        write_export(tmp_path / "nowhere" / "a.md", ["x"])
