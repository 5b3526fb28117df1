"""Real git repositories, made with nobody's configuration."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=n", "-c", "user.email=e@x", "-c", "protocol.file.allow=always")
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *identity, *words],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def make(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    (folder / "f").write_text("one\n")
    git(folder, "add", "f")
    git(folder, "commit", "-qm", "first")
    return folder
