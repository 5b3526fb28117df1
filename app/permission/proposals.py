"""The rules that "always for this" offers, where there are any: a narrow one, and wider ones to choose knowingly."""

from __future__ import annotations

import posixpath
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
_MODULES = named("pytest mypy ruff black unittest flake8 isort pylint compileall")
_NEVER = INTERPRETERS | named(
    "rm rmdir mv dd curl wget nc ncat socat telnet ftp sftp scp rsync docker podman kubectl helm "
    "terraform aws gcloud az chmod chown chgrp kill pkill killall crontab at batch systemctl "
    "launchctl npx pipx uvx find xargs env tee sed awk gawk tar ln dig nslookup host ping "
    "getent export alias trap set unset cd pushd popd git"
)
LONGEST = 120
"""Characters of a command that is proposed as it stands."""
_SAFE_WORD = re.compile(r"[A-Za-z0-9_@%+=:,./~^-]+")


def offer_for_command(command: Command, tool: str = "bash") -> tuple[Rule, ...]:
    """Return the rules for one command from this very command to every command; () when it is asked each time."""
    inner, complete, changes = innermost(command)
    texts = [word.text for word in inner.words]
    if not complete or changes or command.assignments or not texts or None in texts:
        return ()
    words = [text for text in texts if text is not None]
    if hazards(inner) or not inner.words[0].plain or any(word.pattern for word in inner.words):
        return ()
    exact = _exact(words)
    family = _family(words) or (f"{words[0]} *" if exact and words[0] not in _BY_SUBCOMMAND else "")
    patterns = [pattern for pattern in (exact, family) if pattern]
    if not patterns:
        return ()
    return (
        *(Rule(Verdict.ALLOW, tool, pattern) for pattern in patterns),
        Rule(Verdict.ALLOW, tool),
    )


def offer_for_path(tool: str, place: Place) -> tuple[Rule, ...]:
    """Return the rules for one file and tool: this file, its folder, every file of the project."""
    path = place.relative if place.inside else place.path
    if place.protected or place.own or place.secret or re.search(r"[*?\[\]\s:]", path):
        return ()
    folder = posixpath.dirname(path)
    rules = [Rule(Verdict.ALLOW, tool, path)]
    suffix = posixpath.splitext(path)[1]
    if folder.strip("/"):
        rules.append(Rule(Verdict.ALLOW, tool, f"{folder}/**"))
    elif place.inside and suffix:
        rules.append(Rule(Verdict.ALLOW, tool, f"*{suffix}"))
    if place.inside:
        rules.append(Rule(Verdict.ALLOW, tool))
    return tuple(rules)


def _exact(words: list[str]) -> str:
    """Return the pattern for this very command; "" for what should be asked each time."""
    name, exact = words[0], shlex.join(words)
    if "/" in name or (base_name(name) in _NEVER and not _family(words)):
        return ""
    plain = all(_SAFE_WORD.fullmatch(word) for word in words) and len(exact) <= LONGEST
    return exact if plain else ""


def _family(words: list[str]) -> str:
    """Return the pattern for all commands of which one is as good as another; "" when there are none."""
    name = words[0]
    if base_name(name) in ("python", "python3") and words[1:2] == ["-m"] and len(words) > 2:
        return f"{name} -m {words[2]} *" if words[2] in _MODULES and "/" not in name else ""
    if name in _BY_SUBCOMMAND and len(words) > 1 and words[1] in _BY_SUBCOMMAND[name]:
        return f"{name} {words[1]} *"
    return f"{name} *" if name in _WHOLE else ""
