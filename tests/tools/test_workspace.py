from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.errors import OutsideFolder, ToolError
from app.tools.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "wd"
    root.mkdir()
    (tmp_path / "wd-evil").mkdir()
    (tmp_path / "wd-evil" / "f").write_text("secret")
    return Workspace(root)


@pytest.mark.parametrize(
    "path", ["../wd-evil/f", "a/../../f", "~/f", "../f", "/etc/passwd", "..", "/"]
)
def test_paths_that_lead_out_are_reported_for_reads_and_refused_for_writes(
    workspace: Workspace, path: str
) -> None:
    assert not workspace.resolve(path).inside
    with pytest.raises(OutsideFolder):
        workspace.resolve(path, write=True)
    with pytest.raises(OutsideFolder):
        workspace.readable(path)


@pytest.mark.parametrize("path", ["a\0b", "", "  "])
def test_no_path_at_all_is_a_clean_error(workspace: Workspace, path: str) -> None:
    with pytest.raises(ToolError):
        workspace.resolve(path)


@pytest.mark.parametrize("path", ["f", "./a/../f", "new/deep/f"])
def test_paths_inside_resolve_to_a_relative_name(workspace: Workspace, path: str) -> None:
    resolved = workspace.resolve(path, write=True)
    assert resolved.inside
    assert resolved.relative == os.path.normpath(path)


def test_an_absolute_path_into_the_project_is_inside(workspace: Workspace) -> None:
    assert workspace.resolve(str(workspace.root / "x")).relative == "x"


def test_links_are_judged_by_where_they_lead(workspace: Workspace, tmp_path: Path) -> None:
    (workspace.root / "real").mkdir()
    (workspace.root / "inner").symlink_to("real")
    (workspace.root / "file").symlink_to(tmp_path / "wd-evil" / "f")
    (workspace.root / "folder").symlink_to(tmp_path / "wd-evil")
    (workspace.root / "dangling").symlink_to(tmp_path / "not-there")
    assert workspace.resolve("inner/x", write=True).relative == "real/x"
    for name in ("file", "folder/f", "folder/new", "dangling"):
        with pytest.raises(OutsideFolder):
            workspace.resolve(name, write=True)


def test_a_ring_of_links_is_an_error_or_outside_but_never_a_crash(workspace: Workspace) -> None:
    (workspace.root / "a").symlink_to("b")
    (workspace.root / "b").symlink_to("a")
    with pytest.raises(ToolError):
        workspace.open(workspace.resolve("a"))


@pytest.mark.parametrize(
    "path",
    [".transcripts/x", ".transcripts", "palimpsest.toml", ".Transcripts/x", "a/../palimpsest.toml"],
)
def test_what_belongs_to_the_program_itself_is_not_for_writing(
    workspace: Workspace, path: str
) -> None:
    assert workspace.resolve(path).protected
    with pytest.raises(ToolError, match="belongs to Palimpsest"):
        workspace.resolve(path, write=True)


def test_the_protection_holds_through_a_link(workspace: Workspace) -> None:
    (workspace.root / ".transcripts").mkdir()
    (workspace.root / "innocent").symlink_to(".transcripts")
    with pytest.raises(ToolError, match="belongs to Palimpsest"):
        workspace.resolve("innocent/x", write=True)


def test_a_link_swapped_in_after_the_check_is_not_followed(
    workspace: Workspace, tmp_path: Path
) -> None:
    (workspace.root / "d").mkdir()
    (workspace.root / "d" / "f").write_text("mine")
    resolved = workspace.resolve("d/f")
    (workspace.root / "d" / "f").unlink()
    (workspace.root / "d").rmdir()
    (workspace.root / "d").symlink_to(tmp_path / "wd-evil")
    with pytest.raises(ToolError):
        workspace.open(resolved)


def test_an_outside_path_is_read_once_it_was_granted_but_never_a_system_file(
    workspace: Workspace,
) -> None:
    with pytest.raises(OutsideFolder):
        workspace.readable("../wd-evil/f")
    workspace.grant("../wd-evil")
    with workspace.open(workspace.readable("../wd-evil/f")) as file:
        assert file.read() == b"secret"
    with pytest.raises(OutsideFolder):
        workspace.resolve("../wd-evil/f", write=True)
    workspace.grant("/proc")
    with pytest.raises(ToolError, match="system"):
        workspace.readable("/proc/self/environ")


def test_a_file_seen_and_left_alone_may_be_edited(workspace: Workspace) -> None:
    path = workspace.root / "f"
    path.write_text("one")
    resolved = workspace.resolve("f")
    workspace.remember(resolved)
    workspace.require_unchanged(resolved)
    os.utime(path, ns=(1, 1))
    workspace.require_unchanged(resolved)


def test_a_file_that_changed_appeared_or_vanished_must_be_read_again(workspace: Workspace) -> None:
    path = workspace.root / "f"
    resolved = workspace.resolve("f")
    workspace.remember(resolved)
    path.write_text("one")
    with pytest.raises(ToolError, match="created by something else"):
        workspace.require_unchanged(resolved)
    workspace.remember(resolved)
    path.write_text("two")
    os.utime(path, ns=(1, 1))
    with pytest.raises(ToolError, match="read it again first"):
        workspace.require_unchanged(resolved)
    path.unlink()
    with pytest.raises(ToolError, match="deleted"):
        workspace.require_unchanged(resolved)
