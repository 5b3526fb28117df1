"""Repositories in the project: nothing that git runs or obeys can be put into them from inside."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from app.adapters import git_stores
from app.adapters.sandbox import Sandbox, probe
from app.permission.git_repository import repository_runs
from tests.fakes.repositories import git, make


def confined(root: Path) -> Sandbox:
    made = probe(root)
    if not made.works:
        pytest.skip(made.describe())
    return made


def run(sandbox: Sandbox, script: str) -> subprocess.CompletedProcess[str]:
    argv = sandbox.wrap(("bash", "-c", script), sandbox.root)
    return subprocess.run(
        argv, capture_output=True, text=True, timeout=20, check=False, stdin=subprocess.DEVNULL
    )


def refused(sandbox: Sandbox, *scripts: str) -> None:
    """Run each of them from inside, and see that it fails."""
    lines = [f"( {script} ) 2>/dev/null && echo {number}" for number, script in enumerate(scripts)]
    done = run(sandbox, "\n".join([*lines, "echo end"])).stdout.split()
    assert done[-1:] == ["end"]
    assert [scripts[int(number)] for number in done[:-1]] == []


def state(root: Path) -> dict[str, bytes]:
    files = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


ATTACKS = (
    "echo evil > {git}/hooks/pre-commit",
    "mkdir -p {git}/hooks && echo evil > {git}/hooks/pre-commit",
    "rm -rf {git}/hooks && mkdir {git}/hooks && echo evil > {git}/hooks/pre-commit",
    "echo evil >> {git}/config",
    "rm -f {git}/config; mv {git}/config {git}/old; cp f {git}/config",
    "echo evil > {git}/config.worktree",
    "rm -f {git}/commondir; echo ../evil > {git}/commondir",
    "mkdir -p {git}/modules/m && echo evil > {git}/modules/m/config",
    "mkdir -p {git}/worktrees/w && echo evil > {git}/worktrees/w/commondir",
    "mv {git} {git}.old && mkdir {git} && echo evil > {git}/config",
    "git -C {tree} config core.fsmonitor evil",
    "ln -sfn /tmp {git}/hooks",
)


@pytest.mark.parametrize("where", [".", "libs/inner", "deep/er/and/deeper"])
@pytest.mark.parametrize("hooks", [True, False])
def test_what_git_runs_or_obeys_stays_as_it_is_in_every_repository_of_the_project(
    tmp_path: Path, where: str, hooks: bool
) -> None:
    root = make(tmp_path / "project")
    tree = root if where == "." else make(root / where)
    if not hooks:
        for hook in (tree / ".git" / "hooks").iterdir():
            hook.unlink()
        (tree / ".git" / "hooks").rmdir()
    before = state(tree)
    sandbox = confined(root)
    refused(sandbox, *(attack.format(git=f"{where}/.git", tree=where) for attack in ATTACKS))
    assert git(tree, "status", "--short", "--untracked=no") == "", "git works meanwhile"
    # The folder itself cannot be put aside and made anew.
    if where != ".":
        refused(sandbox, f"mv {where} elsewhere", f"mv {where.partition('/')[0]} elsewhere")
    run(sandbox, f"rm -rf {where}/.git")
    sandbox.close()
    kept = {n: t for n, t in before.items() if n.startswith((".git/hooks", ".git/config"))}
    after = state(tree)
    assert kept.items() <= after.items()
    assert not {n for n in after if "evil" in n or n.endswith(("commondir", "config.worktree"))}


def test_git_still_works_in_repositories_of_the_project(tmp_path: Path) -> None:
    root = make(tmp_path / "project")
    make(root / "inner")
    sandbox = confined(root)
    script = (
        "cd inner && echo two > f && git -c user.name=n -c user.email=e@x commit -qam second "
        "&& git log --oneline | wc -l && mv f g && mkdir sub && mv g sub/ && git status --short"
    )
    assert run(sandbox, script).stdout.split()[0] == "2"
    sandbox.close()
    assert git(root / "inner", "log", "--format=%s").split() == ["second", "first"]
    assert git(root, "fsck") == ""


def test_a_submodule_and_a_worktree_cannot_be_pointed_elsewhere(tmp_path: Path) -> None:
    other = make(tmp_path / "other")
    root = make(tmp_path / "project")
    git(root, "submodule", "--quiet", "add", str(other), "part")
    git(root, "worktree", "add", "-q", str(root / "second"))
    git(root, "worktree", "add", "-q", str(tmp_path / "third"))
    sandbox = confined(root)
    before = state(root / ".git")
    refused(
        sandbox,
        "echo 'gitdir: ../evil' > part/.git",
        "rm part/.git",
        "mv part/.git part/old",
        "mv part away",
        "echo 'gitdir: ../evil' > second/.git",
        "mv second away",
        "echo evil >> .git/modules/part/config",
        "echo evil > .git/worktrees/second/commondir",
        "echo evil > .git/worktrees/third/commondir",
        "echo evil > .git/worktrees/third/config.worktree",
    )
    sandbox.close()
    assert state(root / ".git") == before


def test_a_repository_without_a_working_tree_is_kept_too(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "-q", "--bare", "store.git")
    sandbox = confined(root)
    refused(
        sandbox,
        "echo evil > store.git/hooks/post-update",
        "echo evil >> store.git/config",
        "mv store.git other",
    )
    sandbox.close()


def test_folders_of_hooks_and_configurations_that_a_repository_names_are_kept(
    tmp_path: Path,
) -> None:
    root = make(tmp_path / "project")
    (root / "tools" / "hooks").mkdir(parents=True)
    (root / "tools" / "gitconfig").write_text("")
    git(root, "config", "core.hooksPath", "tools/hooks")
    git(root, "config", "include.path", "../tools/gitconfig")
    git(root, "config", "includeIf.onbranch:x.path", "../tools/missing")
    (root / "link").symlink_to("tools")
    other = make(root / "other")
    git(other, "config", "core.hooksPath", "../link/hooks")
    sandbox = confined(root)
    refused(
        sandbox,
        "echo evil > tools/hooks/pre-commit",
        "echo evil > tools/gitconfig",
        "echo evil > tools/missing",
        "mv tools away",
    )
    sandbox.close()
    assert sorted(path.name for path in (root / "tools").iterdir()) == ["gitconfig", "hooks"]


def test_links_in_the_place_of_a_repository_cannot_be_replaced(tmp_path: Path) -> None:
    root = make(tmp_path / "project")
    inner = make(root / "inner")
    (inner / ".git").rename(root / "store")
    (inner / ".git").symlink_to(root / "store")
    hooked = make(root / "hooked")
    for hook in (hooked / ".git" / "hooks").iterdir():
        hook.unlink()
    (hooked / ".git" / "hooks").rmdir()
    (root / "shared").mkdir()
    (hooked / ".git" / "hooks").symlink_to(root / "shared")
    sandbox = confined(root)
    refused(
        sandbox,
        "rm inner/.git",
        "ln -sfn ../evil inner/.git",
        "rm hooked/.git/hooks",
        "mkdir hooked/.git/new",
    )
    sandbox.close()


@pytest.mark.parametrize("name", [".git", "palimpsest.toml", ".transcripts"])
def test_there_is_no_sandbox_where_what_it_must_keep_is_a_link(tmp_path: Path, name: str) -> None:
    root = make(tmp_path / "project")
    if name == ".git":
        (root / name).rename(tmp_path / "store")
    (root / name).symlink_to(tmp_path / "store")
    made = probe(root)
    assert not made.works
    assert f"{name} is a link" in made.describe()


def test_there_is_no_sandbox_in_a_folder_that_holds_the_home(tmp_path: Path) -> None:
    for root in (tmp_path, tmp_path.parent):
        made = probe(root, home=tmp_path)
        assert not made.works
        assert "home" in made.describe()


def test_stand_ins_are_left_by_nobody(tmp_path: Path) -> None:
    root = make(tmp_path / "project")
    make(root / "inner")
    before = sorted(root.rglob("*"))
    sandbox = confined(root)
    run(sandbox, "true")
    assert (root / "inner" / ".git" / "commondir").read_bytes() == git_stores.ITSELF
    again = probe(root)  # as after a crash, which closed nothing
    run(again, "true")
    again.close()
    sandbox.close()
    assert sorted(root.rglob("*")) == before


def test_the_search_stays_out_of_large_folders_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project"
    for name in ("near", "node_modules/far", "deep/a/b/c"):
        make(root / name)
    (root / "loop").symlink_to(root)
    found = {store.work_tree.relative_to(root).as_posix() for store in git_stores.find(root)}
    assert found == {".", "near", "deep/a/b/c"}
    monkeypatch.setattr(git_stores, "MOST_FOLDERS", 4)
    found = {store.work_tree.relative_to(root).as_posix() for store in git_stores.find(root)}
    assert found == {".", "near"}


def test_stand_ins_change_nothing_of_what_is_judged_of_a_repository(tmp_path: Path) -> None:
    root = make(tmp_path / "project")
    sandbox = confined(root)
    run(sandbox, "true")
    assert (root / ".git" / "commondir").exists()
    assert repository_runs(root) == ""
    sandbox.close()
