from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from app.tools import changes
from app.tools.list_files import folded
from app.tools.search import SearchTool
from app.tools.tree import Found, Glob, Ignore, walk
from tests.tools.conftest import Bench


async def test_files_come_sorted_without_what_git_ignores(bench: Bench) -> None:
    bench.write(".gitignore", "*.log\n/build/\n!keep.log\n")
    bench.write("src/.gitignore", "gen*\n!keep_gen.py\n")
    for name in (
        "b.py",
        "a.log",
        "keep.log",
        "build/x.o",
        "src/z.py",
        "src/gen_a.py",
        "src/keep_gen.py",
        "src/deep/a.log",
        ".git/config",
        "node_modules/m.js",
    ):
        bench.write(name, "x")
    outcome = await bench.call("list_files")
    assert str(outcome.content).split("\n") == [
        ".gitignore",
        "b.py",
        "keep.log",
        "src/.gitignore",
        "src/keep_gen.py",
        "src/z.py",
    ]
    assert outcome.effects.outcome == "6 files"
    assert await bench.text("list_files", path="src", glob="*.py") == "src/keep_gen.py\nsrc/z.py"
    assert "build/x.o" in await bench.text("list_files", ignored=True)


async def test_links_are_shown_and_never_followed(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "secret").write_text("needle")
    (bench.root / "link").symlink_to(tmp_path / "out")
    assert await bench.text("list_files") == f"link -> {tmp_path / 'out'}"
    assert await bench.text("search", pattern="needle") == "(no matches)"


async def test_listing_what_is_no_folder_is_a_clean_error(bench: Bench) -> None:
    bench.write("f", "")
    assert "not a folder" in await bench.refusal("list_files", path="f")
    assert "does not exist" in await bench.refusal("list_files", path="missing")
    assert "leads out" in await bench.refusal("list_files", path="..")
    assert await bench.text("list_files", glob="*.zig") == "(no files)"


def test_many_files_fold_into_folders() -> None:
    files = [Found(f"src/m{m}/f{f}.py") for m in range(3) for f in range(10)] + [Found("README")]
    assert folded(sorted(files, key=lambda f: f.relative), limit=5) == [
        "README",
        "src/m0/ (10 files)",
        "src/m1/ (10 files)",
        "src/m2/ (10 files)",
    ]
    assert folded(files, limit=2) == ["README", "src/ (30 files)"]
    assert folded([Found(f"f{n}") for n in range(9)], limit=2)[-1] == "… 7 more"


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a/b.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/**/*.py", "src/deep/er/a.py", True),
        ("src/**/*.py", "src/a.py", True),
        ("**/test_*", "a/test_x", True),
        ("*.{ts,tsx}", "a/b.tsx", True),
        ("[ab].c", "b.c", True),
        ("[!ab].c", "b.c", False),
        ("a+b?.c", "a+bc.c", True),
        ("*.{py", "x.{py", True),
    ],
)
def test_globs(pattern: str, path: str, expected: bool) -> None:
    assert Glob(pattern).matches(path) is expected


async def test_a_search_shows_path_number_and_line(bench: Bench) -> None:
    bench.write("a.py", "one\nTwo = 2\n")
    bench.write("b/c.py", "two\nx\ntwo\n")
    bench.write("b/d.txt", "two\n")
    outcome = await bench.call("search", pattern=r"[tT]wo\b", glob="*.py")
    assert outcome.content == "a.py\n2│Two = 2\nb/c.py\n1│two\n3│two"
    assert outcome.effects.outcome == "3 matches in 2 files"
    assert (
        await bench.text("search", pattern="TWO", ignore_case=True, path="b/c.py", context=1)
        == "b/c.py\n1│two\n2:x\n3│two"
    )


async def test_a_search_skips_binary_files_and_bounds_long_lines_and_many_matches(
    bench: Bench,
) -> None:
    bench.write("bin", b"needle\0")
    bench.write("long", "x" * 100_000 + "needle" + "y" * 100_000)
    bench.write("many", "needle\n" * 500)
    outcome = await bench.call("search", pattern="needle")
    text = str(outcome.content)
    assert "bin" not in text
    assert len(text) < 20_000
    assert outcome.effects.outcome == "more than 200 matches in 2 files"
    assert "narrow the pattern" in text


async def test_a_pattern_that_would_never_end_is_ended(bench: Bench) -> None:
    bench.write("f", "a" * 40 + "!\n")
    tool = SearchTool(bench.workspace, seconds=1.0)
    outcome = await asyncio.wait_for(tool.run({"pattern": "(a+)+$"}, bench.emitted.append), 5)
    assert "stopped after 1 s" in str(outcome.content)


@pytest.mark.parametrize("pattern", ["(", "[a", "*"])
async def test_a_pattern_that_is_none_is_a_clean_error(bench: Bench, pattern: str) -> None:
    assert "no regular expression" in await bench.refusal("search", pattern=pattern)


def test_ignore_rules_hold_for_files_below_an_ignored_folder(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("out/\n*.tmp\n")
    ignore = Ignore(tmp_path)
    assert ignore.hides("out/a/b")
    assert ignore.hides("x.tmp")
    assert not ignore.hides("src/out.py")


def test_a_walk_from_a_subfolder_knows_the_rules_above_it(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name in ("x.log", "y.py"):
        (tmp_path / "a" / "b" / name).write_text("")
    assert [found.relative for found in walk(tmp_path, "a/b")] == ["a/b/y.py"]


def test_a_scan_is_bounded_and_says_so(tmp_path: Path) -> None:
    for number in range(10):
        (tmp_path / f"f{number}").write_text("x")
    whole, part = changes.scan(tmp_path), changes.scan(tmp_path, limit=4)
    assert whole.complete
    assert not part.complete
    assert len(part.files) == 4
    assert changes.changed(part, whole, tmp_path) == ()
