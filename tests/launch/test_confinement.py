from __future__ import annotations

from pathlib import Path

import pytest

from app.adapters.sandbox import Sandbox, probe
from app.core.permission import Mode
from app.launch.confinement import Confinement
from app.permission.places import Places
from app.settings import Settings

SHELL = ("/bin/sh", "-c")


def confinement(root: Path, sandbox: Sandbox, mode: Mode) -> Confinement:
    return Confinement(Settings(folder=root), sandbox, lambda: mode, Places.of(root, root))


def test_what_a_confined_command_put_into_tmp_is_told_once(tmp_path: Path) -> None:
    sandbox = probe(tmp_path)
    if not sandbox.works or sandbox.scratch is None:
        pytest.skip(sandbox.describe())
    confined = confinement(tmp_path, sandbox, Mode.AUTO)
    assert confined.wrap((*SHELL, "make"), tmp_path)[0] != SHELL[0]
    assert confined.remark() == ""
    (sandbox.scratch / "left").touch()
    assert "/tmp is a folder" in confined.remark()
    assert confined.remark() == ""
    sandbox.close()


def test_a_command_that_the_user_allowed_runs_as_it_is_and_hears_nothing_of_a_sandbox(
    tmp_path: Path,
) -> None:
    sandbox = probe(tmp_path)
    if sandbox.scratch is not None:
        (sandbox.scratch / "left").touch()
    open_ = confinement(tmp_path, sandbox, Mode.ASK)
    assert open_.wrap((*SHELL, "make"), tmp_path) == (*SHELL, "make")
    assert open_.remark() == ""
    sandbox.close()
