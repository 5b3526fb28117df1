"""``pal sessions``: the record for people."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.adapters.journal import Journal
from app.adapters.session_lock import SessionLock
from app.core.messages import Message, Text, Thinking, ToolResult, ToolUse, user
from app.core.ports import CommitDraft
from app.core.reports import Layer
from app.sessions_cli import run
from tests.fakes.clock import FakeClock

ROOT = Path(__file__).parents[1]


@pytest.fixture
def root(tmp_path):
    return tmp_path / ".transcripts"


@pytest.fixture
def name(root):
    """One session with a compaction that was taken back."""

    async def make():
        journal = await Journal.create(root, clock=FakeClock(step=1))
        await journal.append(user("fix\x1b]0;title\x07 the bug", "a note"), spoken=(0,))
        thinking = Thinking({"type": "thinking", "thinking": "hm, a bug", "signature": "s"})
        call = ToolUse("t", "bash", {"command": "cat ```x```"})
        await journal.append(Message("assistant", (thinking, Text("I look."), call)))
        output = "\n".join(f"line {n} ````" for n in range(1, 101))
        await journal.append(Message("user", (ToolResult("t", output, True),)))
        await journal.commit(
            CommitDraft(
                Layer.AUTO, lambda p: user("head"), ("m1", "m3"), ("m3",), summary="the summary"
            )
        )
        await journal.undo(1)
        await journal.append(Message("assistant", (Text("done \ud800\u202e"),)))
        await journal.close()
        return journal.session

    return asyncio.run(make())


def test_the_list_has_a_row_for_each_session(root, name, capsys):
    assert run([], root) == 0
    header, row = capsys.readouterr().out.splitlines()
    assert header.startswith("SESSION") and row.startswith(name)
    assert "fix the bug" in row and "\x1b" not in row
    assert run(["list", "--json"], root) == 0
    assert json.loads(capsys.readouterr().out)["messages"] == 4


def test_an_empty_folder_is_said_to_be_empty(root, capsys):
    assert run(["list"], root) == 0
    assert "No sessions in" in capsys.readouterr().out
    assert run(["show"], root) == 1
    assert "there are no sessions" in capsys.readouterr().err


def test_show_is_readable_and_obeys_nothing_in_it(root, name, capsys):
    assert run(["show", name[:10]], root) == 0
    out = capsys.readouterr().out
    assert not {c for c in out if (ord(c) < 32 and c != "\n") or c == "\u202e"}
    for part in (
        "## You · m1 ·", "fix the bug", "> *Note of the program*", "## Assistant · m2",
        "**Result r1, failed**", "… 80 more lines", "`````\nline 1 ````",
        "**Compaction 1 (auto, taken back later): m1 to m3**", "> the summary", "⟨U+202E⟩",
    ):  # fmt: skip
        assert part in out, part
    assert "hm, a bug" not in out and "line 21" not in out
    assert run(["show", "--full", "--thinking"], root) == 0
    out = capsys.readouterr().out
    assert "hm, a bug" in out and "line 100" in out


def test_jsonl_has_one_message_a_line_and_nothing_else(root, name, tmp_path, capsys):
    path = tmp_path / "out.jsonl"
    assert run(["export", name, "-o", str(path)], root) == 0
    messages = [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
    assert [set(message) for message in messages] == [{"role", "content"}] * 4
    assert messages[0]["content"][0]["text"] == "fix\x1b]0;title\x07 the bug"
    assert messages[3]["content"][0]["text"] == "done \ud800\u202e"
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_export_replaces_no_file_unless_told_to(root, name, tmp_path, capsys):
    path = tmp_path / "out.md"
    path.write_text("mine")
    assert run(["export", "-o", str(path)], root) == 1
    assert "exists already" in capsys.readouterr().err and path.read_text() == "mine"
    assert run(["export", "--force", "-o", str(path)], root) == 0
    assert path.read_text("utf-8").startswith("# Session ")
    assert run(["export", "-o", str(tmp_path / "no" / "such" / "x.md")], root) == 1


def test_damage_is_told_beside_the_text(root, name, capsys):
    path = root / name / "transcript_0001.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"I look."', b'"I lo\x00\x00k.'))
    assert run(["show"], root) == 0
    assert "1 damaged line was skipped (line 2)" in capsys.readouterr().err


def test_all_that_was_said_is_searched(root, name, capsys):
    assert run(["search", "BUG", "fix"], root) == 0
    assert capsys.readouterr().out == f"{name}  you m1: fix the bug\n"
    assert run(["search", "--json", "line 99"], root) == 0
    hit = json.loads(capsys.readouterr().out)
    assert (hit["session"], hit["id"], hit["who"]) == (name, "r1", "result")
    assert run(["search", "nowhere to be found"], root) == 1
    assert "nothing was found" in capsys.readouterr().err


def test_a_session_is_copied_named_and_found_by_its_name(root, name, capsys):
    assert run(["fork"], root) == 0
    out, err = capsys.readouterr()
    copy = out.strip()
    assert copy != name and f"pal --resume {copy}" in err
    assert run(["rename", copy, "the other way"], root) == 0
    assert "is called the other way" in capsys.readouterr().out
    assert run(["show", "the other way"], root) == 0
    assert capsys.readouterr().out.startswith(f"# Session {copy}")
    assert run(["list"], root) == 0
    assert "“the other way” fix" in capsys.readouterr().out
    assert run(["rename", "the other way", ""], root) == 0
    assert "no name of its own" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "gone"), [("y\n", True), ("\n", False), ("no\n", False), ("", False)]
)
def test_a_session_is_deleted_only_after_a_yes(root, name, capsys, monkeypatch, answer, gone):
    terminal = io.StringIO(answer)
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", terminal)
    assert run(["delete", name], root) == (0 if gone else 1)
    assert "for good (4 messages," in capsys.readouterr().err
    assert (root / name).exists() is not gone


def test_without_a_terminal_a_session_is_deleted_only_by_flag(root, name, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert run(["delete", name], root) == 1
    assert "--yes" in capsys.readouterr().err and (root / name).exists()
    assert run(["delete", "--yes", name], root) == 0
    assert not (root / name).exists()


def test_the_list_says_what_is_open_and_what_a_newer_version_wrote(root, name, capsys):
    lock = SessionLock(root / name)
    assert run([], root) == 0
    assert f"(open in process {os.getpid()} since " in capsys.readouterr().out
    assert run(["list", "--json"], root) == 0
    assert json.loads(capsys.readouterr().out)["holder"]["process"] == os.getpid()
    lock.release()
    with (root / name / "events.jsonl").open("ab") as file:
        file.write(b'{"v":3,"seq":99}\n')
    assert run([], root) == 0
    assert "(written by a newer version, format 3)" in capsys.readouterr().out
    assert run(["show"], root) == 1
    assert "format 3" in capsys.readouterr().err


def test_archive_by_day_says_what_it_did_and_how_to_undo_it(root, name, capsys):
    today = FakeClock("2026-11-30T08:00:00.000Z")
    assert run(["archive", "--dry-run"], root, clock=today) == 0
    assert "2026-11-29: 1 session," in capsys.readouterr().out
    assert run(["archive", "--keep-days", "1"], root, clock=today) == 0
    assert "No sessions from before 2026-11-29" in capsys.readouterr().out
    assert run(["archive"], root, clock=today) == 0
    out = capsys.readouterr().out
    assert f"1 session in {root / 'archive' / '2026-11-29.tar.gz'}" in out
    subprocess.run(["tar", "-xzf", root / "archive" / "2026-11-29.tar.gz", "-C", root], check=True)
    assert run(["show", name], root) == 0


@pytest.mark.parametrize(
    "argv",
    [["bad"], ["archive", "--before", "soon"], ["list", "-n", "-1"], ["export", "-f", "pdf"]],
)
def test_wrong_use_ends_with_2(root, argv, capsys):
    assert run(argv, root) == 2


def test_an_unknown_session_is_named_with_what_there_is(root, name, capsys):
    assert run(["show", "zz"], root) == 1
    err = capsys.readouterr().err
    assert "there is no session 'zz'" in err and name in err


def test_a_reader_that_stops_early_is_no_error(root, name):
    code = "import sys; from pathlib import Path; from app.sessions_cli import run; sys.exit(run(['show', '--full'], Path(sys.argv[1])))"
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-c", code, str(root)],
        cwd=ROOT,
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
