from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from app.errors import OutsideFolder
from app.tools import atomic
from app.tools.workspace import Workspace
from tests.tools.conftest import Bench


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_new_file_is_made_with_its_folders(bench: Bench) -> None:
    outcome = await bench.call("write_file", path="a/b/c.txt", content="one\ntwo\n")
    assert (bench.root / "a/b/c.txt").read_text() == "one\ntwo\n"
    assert outcome.effects.outcome == "created, +2 -0, 8 bytes"
    assert outcome.effects.modified == ("a/b/c.txt",)
    assert outcome.diff.startswith("--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n")


async def test_overwriting_shows_the_difference_and_keeps_the_mode(bench: Bench) -> None:
    path = bench.write("s.sh", "a\nb\n")
    path.chmod(0o755)
    outcome = await bench.call("write_file", path="s.sh", content="a\nc\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    assert "-b\n+c\n" in outcome.diff


async def test_a_crlf_file_stays_crlf(bench: Bench) -> None:
    path = bench.write("f", b"\xef\xbb\xbfa\r\nb\r\n")
    outcome = await bench.call("write_file", path="f", content="x\ny\n")
    assert path.read_bytes() == b"\xef\xbb\xbfx\r\ny\r\n"
    assert "CRLF line ends kept" in str(outcome.content)


async def test_proposing_changes_nothing(bench: Bench) -> None:
    path = bench.write("f", "a\n")
    for tool, arguments in (
        ("write_file", {"path": "f", "content": "b\n"}),
        ("write_file", {"path": "new/f", "content": "b\n"}),
        ("edit_file", {"path": "f", "old_text": "a", "new_text": "b"}),
    ):
        proposal = await bench.tools[tool].propose(arguments)
        assert proposal.is_diff
        assert "+b" in proposal.detail
    assert path.read_text() == "a\n"
    assert names(bench.root) == ["f"]


async def test_an_edit_keeps_mode_link_and_target(bench: Bench) -> None:
    target = bench.write("real.sh", "echo one\n")
    target.chmod(0o755)
    link = bench.root / "link.sh"
    link.symlink_to("real.sh")
    outcome = await bench.call("edit_file", path="link.sh", old_text="one", new_text="two")
    assert link.is_symlink()
    assert target.read_text() == "echo two\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o755
    assert outcome.effects.modified == ("real.sh",)
    assert outcome.effects.outcome == "1 replacement, +1 -1"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("edit_file", {"old_text": "one", "new_text": "two"}),
        ("write_file", {"content": "two\n"}),
    ],
)
async def test_other_names_of_a_file_keep_the_old_bytes_and_this_is_said(
    bench: Bench, tmp_path: Path, tool: str, arguments: dict[str, str]
) -> None:
    path = bench.write("f", "one\n")
    outside = tmp_path / "store"
    os.link(path, outside)
    said = await bench.text(tool, path="f", **arguments)
    assert "another name of this file (hard links) still holds what it was" in said
    assert (path.read_text(), outside.read_text()) == ("two\n", "one\n")


async def test_extended_attributes_survive_an_edit(bench: Bench) -> None:
    path = bench.write("f", "one\n")
    try:
        os.setxattr(path, "user.note", b"kept")
    except OSError:
        pytest.skip("no extended attributes here")
    await bench.call("edit_file", path="f", old_text="one", new_text="two")
    assert os.getxattr(path, "user.note") == b"kept"


async def test_writes_outside_are_refused_also_through_links(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "out"
    outside.mkdir()
    secret = outside / "secret"
    secret.write_text("one")
    (bench.root / "folder").symlink_to(outside)
    (bench.root / "file").symlink_to(secret)
    for path in ("../out/secret", "folder/secret", "file", str(secret)):
        for tool, arguments in (
            ("write_file", {"content": "x"}),
            ("edit_file", {"old_text": "one", "new_text": "x"}),
        ):
            with pytest.raises(OutsideFolder):
                await bench.call(tool, path=path, **arguments)
            with pytest.raises(OutsideFolder):
                await bench.tools[tool].propose({"path": path, **arguments})
    assert secret.read_text() == "one"


async def test_the_record_and_the_settings_are_not_for_tools(bench: Bench) -> None:
    for path in (".transcripts/x", "palimpsest.toml"):
        assert "belongs to Palimpsest" in await bench.refusal("write_file", path=path, content="x")
        assert not (bench.root / path).exists()


async def test_a_file_that_changed_since_it_was_read_must_be_read_again(bench: Bench) -> None:
    path = bench.write("f", "one\n")
    await bench.call("read_file", path="f")
    path.write_text("one, two\n")
    for tool, arguments in (
        ("edit_file", {"old_text": "one", "new_text": "x"}),
        ("write_file", {"content": "x"}),
    ):
        assert "read it again first" in await bench.refusal(tool, path="f", **arguments)
    assert path.read_text() == "one, two\n"
    await bench.call("read_file", path="f")
    await bench.call("edit_file", path="f", old_text="one", new_text="x")
    await bench.call("edit_file", path="f", old_text="x", new_text="y")
    assert path.read_text() == "y, two\n"


async def test_what_was_approved_is_not_applied_to_a_file_that_changed_meanwhile(
    bench: Bench,
) -> None:
    path = bench.write("f", "one\n")
    await bench.tools["edit_file"].propose({"path": "f", "old_text": "one", "new_text": "x"})
    path.write_text("something else, one\n")
    assert "read it again first" in await bench.refusal(
        "edit_file", path="f", old_text="one", new_text="x"
    )


async def test_an_undecodable_file_is_not_edited(bench: Bench) -> None:
    path = bench.write("f", "café old\n".encode("latin-1"))
    assert "not valid UTF-8" in await bench.refusal(
        "edit_file", path="f", old_text="old", new_text="new"
    )
    assert path.read_bytes() == "café old\n".encode("latin-1")


async def test_a_lone_surrogate_is_a_clean_error(bench: Bench) -> None:
    bench.write("f", "a\n")
    assert "surrogate" in await bench.refusal("write_file", path="f", content="\ud800")
    assert "surrogate" in await bench.refusal(
        "edit_file", path="f", old_text="a", new_text="\udfff"
    )


async def test_a_folder_without_write_right_is_a_clean_error(bench: Bench) -> None:
    path = bench.write("locked/f", "one\n")
    path.parent.chmod(0o555)
    if os.access(path.parent, os.W_OK):
        pytest.skip("this user may write everywhere")
    assert "permission denied" in await bench.refusal("write_file", path="locked/f", content="x")
    assert "permission denied" in await bench.refusal(
        "write_file", path="locked/new/f", content="x"
    )
    path.parent.chmod(0o755)
    path.chmod(0o444)
    assert "permission denied" in await bench.refusal(
        "edit_file", path="locked/f", old_text="one", new_text="x"
    )
    assert path.read_text() == "one\n"


async def test_a_write_that_fails_half_way_leaves_the_original_and_no_trace(bench: Bench) -> None:
    path = bench.write("f", "one\n")
    old_limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    old_handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, old_limit[1]))
    try:
        message = await bench.refusal("write_file", path="f", content="x" * 50_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old_limit)
        signal.signal(signal.SIGXFSZ, old_handler)
    assert "nothing was changed" in message
    assert path.read_text() == "one\n"
    assert names(bench.root) == ["f"]


WRITER = """
import sys
from pathlib import Path
from app.tools import atomic
from app.tools.workspace import Workspace
workspace = Workspace(Path(sys.argv[1]))
for turn in range(1_000_000):
    atomic.write(workspace, workspace.resolve("f"), bytes([65 + turn % 2]) * 2_000_000)
"""


def test_a_writer_killed_at_any_instant_leaves_old_or_new_bytes_and_readers_never_see_a_mix(
    tmp_path: Path,
) -> None:
    path = tmp_path / "f"
    whole = {letter * 2_000_000 for letter in (b"A", b"B")}
    path.write_bytes(b"A" * 2_000_000)
    environment = {"PYTHONPATH": str(Path(atomic.__file__).parents[2]), "PATH": os.defpath}
    for reads in range(1, 4):
        seen: set[bytes] = set()
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], env=environment
        ) as writer:
            try:
                while len(seen) < 2 or reads:
                    content = path.read_bytes()
                    assert content in whole
                    seen.add(content)
                    reads -= len(seen) == 2
            finally:
                writer.kill()
        assert path.read_bytes() in whole
    atomic.remove_leftovers(tmp_path)
    assert names(tmp_path) == ["f"]


def test_only_temporary_files_of_dead_writers_are_removed(tmp_path: Path) -> None:
    mine = tmp_path / f".pal-write-{os.getpid()}-01234567"
    other = tmp_path / ".pal-write-notes"
    for path in (mine, other):
        path.write_text("x")
    assert atomic.remove_leftovers(tmp_path) == 0
    assert mine.exists()
    assert other.exists()


def test_a_folder_cannot_be_overwritten_by_a_file(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    workspace = Workspace(tmp_path)
    with pytest.raises(Exception, match="nothing was changed"):
        atomic.write(workspace, workspace.resolve("d"), b"x")
