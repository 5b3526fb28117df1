"""The command line from outside: what it imports, what it refuses, how it exits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import _parser as parser
from app.cli import flags_of, main
from app.errors import ConfigError

ROOT = Path(__file__).resolve().parent.parent


def pal(
    *arguments: str, cwd: Path, env: dict[str, str] | None = None, stdin: str | None = None
) -> subprocess.CompletedProcess:
    """Run ``pal`` as a user does: its own process, a home of its own, no credentials."""
    clean = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("ANTHROPIC", "PAL_", "MODEL_ID", "PYTEST", "COV"))
    }
    home = cwd.parent / "home"
    home.mkdir(exist_ok=True)
    clean |= {"HOME": str(home), "PYTHONPATH": str(ROOT), **(env or {})}
    code = "import sys; from app.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-P", "-c", code, *arguments],
        cwd=cwd,
        env=clean,
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        timeout=100,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_version_and_help_import_neither_sdk_nor_screen(project: Path, flag: str) -> None:
    code = (
        "import sys; from app.cli import main\n"
        "try: main([sys.argv[1]])\n"
        "except SystemExit: pass\n"
        "print(sorted({'anthropic', 'textual', 'rich', 'httpx2', 'asyncio'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, flag], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert run.stdout.splitlines()[-1] == "[]"
    assert "pal" in run.stdout


def test_modules_in_the_start_folder_never_run(project: Path) -> None:
    for name in ("json.py", "anthropic.py", "sitecustomize.py", "tree_sitter.py", "dotenv.py"):
        (project / name).write_text(f"open('ran-{name}', 'w').close()\n")
    run = pal("-p", "hello", "--demo", cwd=project)
    assert run.returncode == 0, run.stderr
    assert not list(project.glob("ran-*"))


def test_the_programs_own_key_in_a_file_reaches_neither_screen_nor_record(project: Path) -> None:
    key = "sk-ant-probe-0000"
    (project / "notes.txt").write_text(f"before\nkey={key}\nafter\n")
    run = pal("-p", "read notes.txt", "--demo", cwd=project, env={"ANTHROPIC_API_KEY": key})
    record = "".join(p.read_text() for p in (project / ".transcripts").rglob("*.jsonl"))
    assert run.returncode == 0 and "before" in record
    assert key not in run.stdout + run.stderr + record


def test_a_folder_that_does_not_exist_is_wrong_use(project: Path) -> None:
    run = pal("nowhere", cwd=project)
    assert run.returncode == 2 and "nowhere does not exist" in run.stderr
    assert "Did you mean" not in run.stderr
    assert "Did you mean pal sessions?" in pal("sesions", cwd=project).stderr


def test_without_key_and_demo_a_turn_without_a_screen_is_wrong_use(project: Path) -> None:
    run = pal("-p", "hello", cwd=project)
    assert run.returncode == 2
    assert "ANTHROPIC_API_KEY" in run.stderr and "--demo" in run.stderr


def test_the_whole_question_can_be_piped_in(project: Path) -> None:
    run = pal("--demo", "-p", cwd=project, stdin="what can you do?")
    assert run.returncode == 0 and "demo model" in run.stdout
    assert "nothing to ask" in pal("--demo", "-p", cwd=project).stderr


def test_a_key_without_a_model_is_wrong_use(project: Path) -> None:
    run = pal(
        "-p",
        "hello",
        cwd=project,
        env={"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"},
    )
    assert run.returncode == 2 and "MODEL_ID" in run.stderr


def test_a_bad_value_names_setting_source_and_what_is_allowed(project: Path) -> None:
    run = pal("-p", "hello", "--demo", "--set", "micro_policy=sometimes", cwd=project)
    assert run.returncode == 2
    assert "micro_policy" in run.stderr and "--set" in run.stderr and "every-turn" in run.stderr


def test_the_screen_needs_a_terminal(project: Path) -> None:
    run = pal("--demo", cwd=project)
    assert run.returncode == 2 and "pal -p" in run.stderr


def test_an_unknown_session_is_told_with_what_there_is(project: Path) -> None:
    run = pal("-p", "hi", "--demo", "--resume", "nope", cwd=project)
    assert run.returncode != 0 and "nope" in run.stderr and "Traceback" not in run.stderr


def test_flags_become_settings_with_their_names() -> None:
    options = parser().parse_args(
        [
            "--demo",
            "--set",
            "threshold=9k",
            "--allow",
            "bash: ls *",
            "--allow",
            "search",
            "--accept-edits",
        ]
    )
    assert flags_of(options) == {
        "threshold": "9k",
        "--mode": "accept-edits",
        "--demo": "true",
        "--allow": "bash: ls *\nsearch",
    }


@pytest.mark.parametrize("arguments", [["--set", "threshold"], ["--auto", "--read-only"]])
def test_flags_that_mean_nothing_are_refused(arguments: list[str]) -> None:
    with pytest.raises(ConfigError):
        flags_of(parser().parse_args(arguments))


def test_main_prints_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("pal ")


def test_the_doctor_tells_of_a_sandbox_that_is_required_and_missing(project: Path) -> None:
    nowhere = {"PATH": str(project)}
    done = pal("doctor", "--json", "--set", "sandbox=require", cwd=project, env=nowhere)
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert checks["sandbox"]["state"] == "failed"
    assert done.returncode == 1
