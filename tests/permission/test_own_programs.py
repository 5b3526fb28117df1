"""Programs of the project that would run under a harmless name."""

from __future__ import annotations

import pytest

from app.core.permission import Verdict
from app.permission.places import Places
from tests.permission.bench import Bench


@pytest.mark.parametrize("entry", [".", "", "bin", "{wd}/bin", "{wd}/src/../bin"])
def test_a_program_of_the_project_on_the_search_path_is_asked_under_every_name(
    bench: Bench, entry: str
) -> None:
    (bench.folder / "bin").mkdir()
    for folder in (bench.folder, bench.folder / "bin"):
        for name in ("ls", "timeout", "python3"):
            (folder / name).write_text("#!/bin/sh\ntouch ran\n")
    path = f"{entry.format(wd=bench.folder)}:/usr/bin"
    bench.places = Places.of(bench.folder, bench.home, search_path=path)
    for command in ("ls", "timeout 5 cat f", "python3 --version", "cd src/.. && ls"):
        assert bench.bash(command, rules=()).verdict is Verdict.ASK, command
    assert bench.bash("cat f && echo x", rules=()).verdict is Verdict.ALLOW


def test_a_link_to_the_same_program_outside_is_none_of_the_project(bench: Bench) -> None:
    (bench.folder / "bin").mkdir()
    outside = bench.outside / "python3.11"
    outside.write_text("")
    (bench.outside / "rm").write_text("")
    (bench.folder / "bin" / "python3").symlink_to(outside)
    (bench.folder / "bin" / "ls").symlink_to(bench.outside / "rm")
    path = f"{bench.folder}/bin:/usr/bin"
    bench.places = Places.of(bench.folder, bench.home, search_path=path)
    assert bench.bash("python3 --version", rules=()).verdict is Verdict.ALLOW
    assert bench.bash("ls -r src", rules=()).verdict is Verdict.ASK


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("rust-toolchain.toml", "cargo --version"),
        (".yarnrc.yml", "yarn --version"),
        ("package.json", "pnpm --version"),
        ("global.json", "dotnet --version"),
        ("go.mod", "go version"),
    ],
)
def test_a_version_is_asked_for_where_the_project_chooses_the_program(
    bench: Bench, file: str, command: str
) -> None:
    assert bench.bash(command, rules=()).verdict is Verdict.ALLOW
    (bench.folder / file).write_text("")
    assert bench.bash(f"cd src && {command}", rules=()).verdict is Verdict.ASK


@pytest.mark.parametrize(
    "command", ["grep -R x .", "ls -LR", "find -L . -name x", "diff -r src .", "du -L"]
)
def test_going_through_links_is_asked_only_where_one_leads_out(bench: Bench, command: str) -> None:
    assert bench.bash(command).verdict is Verdict.ASK
    (bench.folder / "link").unlink()
    (bench.folder / "door").unlink()
    (bench.folder / "inner").symlink_to(bench.folder / "src")
    assert bench.bash(command, rules=()).verdict is Verdict.ALLOW
