"""Kinds of loss on disk: several programs in one folder, names and encodings of other systems."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.adapters.journal import Journal
from app.adapters.journal_reading import SessionReader
from app.core.history import Commit, Entry
from app.core.messages import user
from app.core.ports import CommitDraft
from app.core.reports import Layer
from tests.fakes.clock import FakeClock

ROOT = Path(__file__).parents[2]
WORK = """
import asyncio, sys
from pathlib import Path
from app.adapters.journal import Journal
from app.core.messages import user
from app.core.ports import CommitDraft
from app.core.reports import Layer
from tests.fakes.clock import FakeClock

async def main(root, me, rounds):
    for turn in range(rounds):
        journal = await Journal.create(Path(root), clock=FakeClock())
        first = await journal.append(user(f"{me} begins {turn}"), spoken=(0,))
        draft = CommitDraft(Layer.AUTO, lambda path: user(f"{me} sums up {turn} in {path}"), (first.id, first.id))
        await journal.commit(draft)
        await journal.append(user(f"{me} goes on {turn}"), spoken=(0,))
        await journal.close()

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


def test_programs_that_compact_in_one_folder_in_the_same_second_lose_nothing(
    tmp_path: Path,
) -> None:
    rounds, names = 10, ("a", "b", "c")
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WORK, str(tmp_path / ".transcripts"), name, str(rounds)],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in names
    ]
    for process in running:
        _, errors = process.communicate(timeout=100)
        assert process.returncode == 0, errors
    folders = [path for path in (tmp_path / ".transcripts").iterdir() if path.is_dir()]
    assert len(folders) == rounds * len(names)
    said = set()
    for folder in folders:
        first, commit, last = SessionReader(folder).walk()
        assert isinstance(first, Entry) and isinstance(commit, Commit) and isinstance(last, Entry)
        name, _, turn = first.words.split()
        assert commit.head.text.startswith(f"{name} sums up {turn} in ")
        assert last.words == f"{name} goes on {turn}"
        said.add((name, turn))
    assert len(said) == rounds * len(names)


async def test_every_name_on_disk_is_one_that_any_system_takes(tmp_path: Path) -> None:
    root = tmp_path / ".transcripts"
    journal = await Journal.create(root, clock=FakeClock(step=1))
    entry = await journal.append(user("hi"), spoken=(0,))
    await journal.store_output("r1.txt", "text")
    await journal.commit(CommitDraft(Layer.AUTO, lambda _: user("sum"), (entry.id, entry.id)))
    await journal.close()
    reserved = {"con", "prn", "aux", "nul", *(f"{n}{i}" for n in ("com", "lpt") for i in range(10))}
    names = [path.name for path in root.rglob("*")]
    assert len(names) >= 5
    for name in names:
        assert not set(name) & set('<>:"/\\\\|?*') and name.isascii() and name.isprintable()
        assert name == name.strip(" ") and not name.endswith(".") and len(name) < 100
        assert name.split(".")[0].lower() not in reserved


STRICT = """
import sys, warnings
warnings.filterwarnings("error", category=EncodingWarning, module="app")
from app.cli import main
sys.exit(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("-p", "read a.py", "--demo", "--set", "mask_secrets=record"),
        ("-p", "create b.py with x = 1", "--demo", "--accept-edits"),
        ("sessions", "list"),
        ("sessions", "show"),
        ("doctor", "--set", "demo=true"),
    ],
    ids=" ".join,
)
def test_no_file_is_read_or_written_in_the_encoding_of_the_system(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text("print('ä')\n", encoding="utf-8")
    (project / "AGENTS.md").write_text("Mind the ä.\n", encoding="utf-8")
    if arguments[0] == "sessions":
        pal("-p", "hi", "--demo", cwd=project, home=tmp_path)
    done = pal(
        *arguments, cwd=project, home=tmp_path, start=("-X", "warn_default_encoding", "-c", STRICT)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "EncodingWarning" not in done.stdout + done.stderr


def test_no_source_opens_a_text_without_naming_its_encoding() -> None:
    for path in ROOT.glob("app/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                given = [a.value for a in node.args if isinstance(a, ast.Constant)]
                named = {k.arg for k in node.keywords} | {
                    "encoding" for v in given if v in ("utf-8", "ascii")
                }
                opens = node.func.attr in ("read_text", "write_text") or (
                    node.func.attr == "fdopen" and not any(str(v).endswith("b") for v in given)
                )
                assert not opens or "encoding" in named, f"{path}:{node.lineno}"


def pal(
    *arguments: str, cwd: Path, home: Path, start: tuple[str, ...] = ("-m", "app")
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *start, *arguments],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
    )


@pytest.mark.slow
def test_a_resume_without_a_session_says_what_there_is(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    empty = pal("-p", "hello there", "--demo", "--continue", cwd=project, home=home)
    assert empty.returncode == 0 and "no earlier session" in empty.stderr
    wrong = pal("-p", "hi", "--demo", "--resume", "nonsense", cwd=project, home=home)
    assert wrong.returncode != 0 and "Traceback" not in wrong.stderr
    assert "nonsense" in wrong.stderr and "There are: 20" in wrong.stderr
    listed = pal("sessions", "list", cwd=project, home=home)
    assert "hello there" in listed.stdout
    (folder,) = (p for p in (project / ".transcripts").iterdir() if p.is_dir())
    assert folder.name in listed.stdout or folder.name[:19] in listed.stdout
    lines = (folder / "transcript_0001.jsonl").read_text("utf-8").splitlines()
    assert json.loads(lines[0])["role"] == "user"
