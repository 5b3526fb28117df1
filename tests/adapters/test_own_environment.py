"""What is forgotten is gone from the environment, from children, and from what the system shows of the start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KEY = "marked-key-7f3a9c1e5b"
CODE = """
import os, subprocess, sys
from app.adapters.own_environment import forget_keys
forget_keys(("short", sys.argv[1].partition("=")[2]))
print(os.environ.get("OUR_KEY"), os.environ.get("OTHER"), os.environ.get("SHORT"))
print(subprocess.run(["env"], capture_output=True, text=True, check=True).stdout)
for name in ("environ", "cmdline"):
    print(subprocess.run(["cat", f"/proc/{os.getpid()}/{name}"], capture_output=True, text=True).stdout)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")
def test_a_key_is_gone_from_this_process_its_children_and_its_start() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE, f"api_key={KEY}"],
        env={"OUR_KEY": f" {KEY}\n", "OTHER": "stays", "SHORT": "short", "PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )  # fmt: skip
    assert done.stdout.startswith("None stays short\n")
    assert KEY not in done.stdout
    assert "x" * len(KEY) in done.stdout and "OTHER=stays" in done.stdout
