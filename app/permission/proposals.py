"""The narrow rule that "always for this" would add, where there is one."""

from __future__ import annotations

import re
import shlex

from app.core.permission import Rule, Verdict
from app.permission.commands import Command
from app.permission.hazards import hazards
from app.permission.options import named
from app.permission.places import Place
from app.permission.wrappers import INTERPRETERS, base_name, innermost

_WHOLE = named(
    "pytest mypy ruff black isort flake8 pylint pyright tox nox tsc eslint prettier jest vitest mocha "
    "rubocop rspec golangci-lint shellcheck"
)
"""Programs for which every argument is as good as another: ``pytest *``."""
_BY_SUBCOMMAND: dict[str, frozenset[str]] = {
    "git": named("add commit fetch"),
    "cargo": named("build check test clippy fmt doc"),
    "go": named("build vet fmt test"),
    "npm": named("test"),
    "yarn": named("test lint build"),
    "pnpm": named("test lint build"),
    "dotnet": named("build test"),
    "mix": named("test format"),
    "ruff": named("check format"),
}
_RUNNERS = frozenset({"npm", "yarn", "pnpm", "make", "just", "task", "gradle", "mvn", "bun"})
"""Programs that run what the project defines: only the very same command is proposed."""
_MODULES = named("pytest mypy ruff black unittest flake8 isort pylint compileall")
_NEVER = INTERPRETERS | named(
    "rm rmdir mv dd curl wget nc ncat socat telnet ftp sftp scp rsync docker podman kubectl helm "
    "terraform aws gcloud az chmod chown chgrp kill pkill killall crontab at batch systemctl "
    "launchctl npx pipx uvx find xargs env tee sed awk gawk tar ln dig nslookup host ping "
    "getent export alias trap set unset cd pushd popd git"
)
_SAFE_WORD = re.compile(r"[A-Za-z0-9_@%+=:,./~^-]+")


def propose_command(command: Command, tool: str = "bash") -> Rule | None:
    """Return the rule for one command, or None when it should be asked each time."""
    inner, complete, changes = innermost(command)
    texts = [word.text for word in inner.words]
    if not complete or changes or command.assignments or not texts or None in texts:
        return None
    words = [text for text in texts if text is not None]
    if hazards(inner) or not inner.words[0].plain or any(word.pattern for word in inner.words):
        return None
    pattern = _pattern(words)
    return Rule(Verdict.ALLOW, tool, pattern) if pattern else None


def propose_path(tool: str, place: Place) -> Rule | None:
    """Return the rule for one file and tool; None for what is asked each time."""
    path = place.relative if place.inside else place.path
    if place.protected or place.own or place.secret or re.search(r"[*?\[\]\s:]", path):
        return None
    return Rule(Verdict.ALLOW, tool, path)


def _pattern(words: list[str]) -> str:
    name = words[0]
    if base_name(name) in ("python", "python3") and words[1:2] == ["-m"] and len(words) > 2:
        return f"{name} -m {words[2]} *" if words[2] in _MODULES and "/" not in name else ""
    if name in _BY_SUBCOMMAND and len(words) > 1 and words[1] in _BY_SUBCOMMAND[name]:
        return f"{name} {words[1]} *"
    if name in _WHOLE:
        return f"{name} *"
    if base_name(name) in _NEVER or "/" in name:
        return ""
    exact = shlex.join(words)
    plain = all(_SAFE_WORD.fullmatch(word) for word in words) and len(exact) <= 120
    return exact if plain and (name in _RUNNERS or len(words) <= 4) else ""
