"""Repositories that would run a program at a mere look, each tried with the real git."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.permission import Verdict
from app.permission.git_repository import repository_runs
from tests.fakes.repositories import git, make
from tests.permission.bench import Bench

PROBE = "touch ran; echo"


def configure(folder: Path, text: str) -> None:
    with (folder / ".git" / "config").open("a") as file:
        file.write(text)


def two_headers(folder: Path) -> None:
    configure(folder, f'[a] [core] fsmonitor = "{PROBE}"\n')


def bracket_in_a_name(folder: Path) -> None:
    (folder / ".gitattributes").write_text("* filter=a]b\n")
    configure(folder, f'[filter "a]b"] clean = "{PROBE}"\n')
    (folder / "f").write_text("two\n")


def other_common_folder(folder: Path) -> None:
    elsewhere = make(folder.parent / "elsewhere")
    configure(elsewhere, f'[core]\nfsmonitor = "{PROBE}"\n')
    (folder / ".git" / "commondir").write_text(str(elsewhere / ".git"))


def submodule(folder: Path) -> None:
    inner = make(folder / "inner")
    configure(inner, '[core]\nfsmonitor = "touch ../ran; echo"\n')
    git(folder, "add", "inner")


def fetching(folder: Path) -> None:
    blob = subprocess.run(
        ["git", "rev-parse", "HEAD:f"], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()
    (folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    configure(
        folder,
        '[extensions]\npartialClone = o\n[remote "o"]\npromisor = true\n'
        f'url = {folder.parent}\nuploadpack = "touch {folder}/ran; git-upload-pack"\n',
    )


WAYS: tuple[Callable[[Path], None], ...] = (
    two_headers,
    bracket_in_a_name,
    other_common_folder,
    submodule,
    fetching,
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_repository_that_runs_a_program_at_a_look_is_asked(
    way: Callable[[Path], None], bench: Bench, tmp_path: Path
) -> None:
    made = make(tmp_path / "probe")
    way(made)
    for command in (["status"], ["show"]):
        subprocess.run(["git", *command], cwd=made, capture_output=True, check=False)
    assert (made / "ran").exists(), "the way really runs something"
    subprocess.run(["rm", "-rf", bench.folder / ".git"], check=True)
    subprocess.run(["cp", "-r", f"{made}/.", bench.folder], check=True)
    for line in ("git status", "git diff", "git log -p"):
        judgement = bench.bash(line)
        assert judgement.verdict is Verdict.ASK, line
        assert "git may run a program of this repository" in judgement.reason


def test_worktrees_and_submodules_as_git_makes_them_run_nothing(tmp_path: Path) -> None:
    library, project = make(tmp_path / "library"), make(tmp_path / "project")
    git(project, "submodule", "add", str(library), "vendor/library")
    git(project, "commit", "-qm", "second")
    git(project, "worktree", "add", "../tree")
    for version in "234":
        git(project, "update-index", "--index-version", version)
        assert repository_runs(project) == ""
    assert repository_runs(tmp_path / "tree") == repository_runs(project / "vendor/library") == ""
    inner = project / ".git" / "modules" / "vendor" / "library" / "config"
    inner.write_text(inner.read_text() + "[core] fsmonitor = ./x\n")
    assert "in its submodule vendor/library" in repository_runs(project)


def test_a_git_file_that_names_a_repository_which_does_not_name_it_back_is_asked(
    tmp_path: Path,
) -> None:
    other = make(tmp_path / "other")
    project = tmp_path / "project"
    project.mkdir()
    (project / ".git").write_text(f"gitdir: {other / '.git'}\n")
    assert repository_runs(project) == "its .git points elsewhere"
