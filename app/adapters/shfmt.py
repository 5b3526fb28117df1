"""shfmt's parser as a second opinion on a command line, where the program is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.core.search_path import outside_of

SECONDS = 2.0
NOT_LITERAL = ""
"""Stands for a program whose name only the shell knows."""


def find_shfmt(project: Path) -> str | None:
    """Return the program's path, never one in the project; None when it is not installed."""
    return shutil.which("shfmt", path=outside_of(project, os.environ.get("PATH", os.defpath)))


def programs_named(command: str, shfmt: str) -> frozenset[str] | None:
    """Return the first words of all calls that shfmt sees in a command line; None when it cannot read it."""
    try:
        done = subprocess.run(
            [shfmt, "-ln", "bash", "--to-json"],
            input=command.encode("utf-8", "surrogateescape"),
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        return frozenset(_names(json.loads(done.stdout))) if done.returncode == 0 else None
    except (OSError, ValueError, subprocess.TimeoutExpired, RecursionError):
        return None


def _names(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for child in node:
            yield from _names(child)
    elif isinstance(node, dict):
        if node.get("Type") == "CallExpr" and node.get("Args"):
            yield _literal(node["Args"][0].get("Parts", []))
        for child in node.values():
            if isinstance(child, dict | list):
                yield from _names(child)


def _literal(parts: list[dict[str, Any]]) -> str:
    if len(parts) != 1 or parts[0].get("Type") not in ("Lit", "SglQuoted"):
        return NOT_LITERAL
    return str(parts[0].get("Value", ""))
