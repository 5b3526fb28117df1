"""Repositories that confined commands make: none of them runs a program outside of the sandbox."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from app.adapters.sandbox import probe
from app.core.permission import Mode
from app.launch.confinement import Confinement
from app.launch.new_repositories import disable_new, repositories
from app.permission.places import Places
from app.settings import Settings
from tests.fakes.repositories import git, make

IDENTITY = "-c user.name=n -c user.email=e@x"
RUNS = 'git config core.fsmonitor "touch {ran}; echo"'
WAYS = {
    "a submodule": "git init -q sub; cd sub; echo x > f; git add f; git {me} commit -qm x; {runs}; cd ..; "
    "git -c core.fsmonitor=false add sub",
    "a submodule in a large folder": "git init -q venv/x; cd venv/x; echo x > f; git add f; git {me} commit -qm x; "
    "{runs}; cd ../..; git -c core.fsmonitor=false add -f venv/x",
    "a folder of its own": "git init -q own; cd own; {runs}",
    "a repository by its layout": "git init -q --bare src; cd src; {runs}",
    "a file that points to it": "git init -q --bare store; mv store/HEAD store/H; mkdir own; "
    "echo 'gitdir: ../store' > own/.git; cd store; mv H HEAD; {runs}",
    "another common folder": "git init -q a; cd a; {runs}; cd ..; git init -q own; echo ../../a/.git > own/.git/commondir",
    "a link": "git init -q a; cd a; {runs}; cd ..; mkdir own; ln -s ../a/.git own/.git",
}


@pytest.mark.parametrize("way", WAYS)
def test_git_outside_runs_nothing_of_a_repository_made_inside(tmp_path: Path, way: str) -> None:
    root, ran = make(tmp_path / "project"), tmp_path / "ran"
    sandbox = probe(root)
    if not sandbox.works:
        pytest.skip(sandbox.describe())
    confined = Confinement(Settings(folder=root), sandbox, lambda: Mode.AUTO, Places.of(root, root))
    script = WAYS[way].format(me=IDENTITY, runs=RUNS.format(ran=ran))
    argv = confined.wrap(("/bin/bash", "-ec", script), root)
    done = subprocess.run(argv, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not ran.exists()
    said = confined.remark()
    assert "put out of use" in said
    assert ".disabled" in said
    for folder in [root, *(path for path in root.rglob("*") if path.is_dir())]:
        if ".git" not in folder.relative_to(root).parts:
            subprocess.run(["git", "status"], cwd=folder, capture_output=True, check=False)
    assert not ran.exists()
    assert confined.remark() == "", "it is done once"
    sandbox.close()


def test_a_repository_made_inside_that_runs_nothing_stays(tmp_path: Path) -> None:
    root = make(tmp_path / "project")
    known = repositories(root)
    make(root / "new")
    git(root, "init", "-q", "--bare", "store.git")
    assert disable_new(root, known) == ""
    assert git(root / "new", "status", "--short") == ""


def test_a_repository_with_hooks_is_put_out_of_use_only_when_it_is_new(tmp_path: Path) -> None:
    root = make(tmp_path / "project")
    for name in ("old", "new"):
        before = repositories(root)
        hook = make(root / name) / ".git" / "hooks" / "pre-commit"
        hook.write_text("#!/bin/sh\n")
    assert "new/.git/HEAD" in disable_new(root, before)
    assert (root / "old" / ".git" / "HEAD").exists()
    assert not (root / "new" / ".git" / "HEAD").exists()
