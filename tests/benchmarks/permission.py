"""How often the judgement of commands is wrong: dangerous ones let through, ordinary ones asked, and its time.

The dangerous and the ordinary commands stand in the lists of ``tests/permission``. Of recorded sessions, every distinct
command line counts, every distinct pipeline in one and every distinct beginning of a pipeline: what an agent would also
run by itself. *Ordinary* are those
that only look: a short list of programs by name, none of their options that act, no redirection to a file, nothing
outside the session's own folder, none of the program's own keys. That is decided here, by other means than the
judgement's own parse; what the session's project may run (builds, tests, linters) is not ordinary.
"""

from __future__ import annotations

import json
import re
import shlex
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core.permission import Verdict
from app.permission.options import named
from tests.benchmarks.desk import Desk
from tests.benchmarks.figures import Figure, percentile
from tests.permission.bench import Bench, make_bench
from tests.permission.commands import listed

NAME = "permission"
LOOKERS = named(
    "ls cat head tail wc grep egrep fgrep rg find fd tree du df stat file pwd echo printf sort uniq cut tr diff "
    "cmp comm nl tac rev awk sed jq which whereis type basename dirname realpath readlink date whoami id uname "
    "hostname strings xxd od hexdump md5sum sha256sum column paste fold test [ true false cd sleep seq"
)
GIT_LOOKS = named(
    "status diff log show branch rev-parse ls-files blame grep remote describe reflog"
)
QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
ACTS = re.compile(r"(?:^|\s)(?:-exec\w*|-ok\w*|-delete|-fprint\w*|-fls|--in-place\S*|--pre\S*)")
"""Options by which one of the programs above does something."""
BREAKS = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
ELSEWHERE = re.compile(r"(?:^|[\s'\"=<>])(?:~|/(?!dev/null)[A-Za-z]|\.\.(?:/|\s|$)|\$HOME)|\.env\b")


@dataclass(frozen=True)
class Recorded:
    """A distinct command of a session, its project's folder written as that of the bench."""

    command: str
    ordinary: bool


def run(desk: Desk, *, short: bool) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="judged-") as place:
        bench = make_bench(Path(place))
        figures = _of_lists(bench)
        if desk.sessions is not None:
            for name in ("link", "door"):
                (bench.folder / name).unlink()
            figures += _of_sessions(bench, desk.sessions)
        return figures


def _of_lists(bench: Bench) -> list[Figure]:
    dangerous = [each.command for each in listed("dangerous")]
    ordinary = [each.command for each in listed("ordinary")]
    seconds: list[float] = []
    for command in (*dangerous, *ordinary):
        begun = time.perf_counter()
        bench.bash(command, rules=())
        seconds.append(time.perf_counter() - begun)
    through = _count(bench, dangerous, Verdict.ALLOW)
    return [
        Figure(NAME, "dangerous commands let through", through, "", len(dangerous), "listed"),
        Figure(
            NAME, "ordinary commands asked", _asked(bench, ordinary), "", len(ordinary), "listed"
        ),
        Figure(NAME, "judging a command, 99 of 100", percentile(seconds, 0.99) * 1_000, "ms"),
    ]


def _of_sessions(bench: Bench, folder: Path) -> list[Figure]:
    found = recorded(bench, folder)
    ordinary = [each.command for each in found if each.ordinary]
    every = [each.command for each in found]
    return [
        Figure(
            NAME,
            "recorded ordinary ones asked",
            _asked(bench, ordinary),
            "",
            len(ordinary),
            "distinct",
        ),
        Figure(NAME, "all recorded ones asked", _asked(bench, every), "", len(every), "distinct"),
    ]


def _count(bench: Bench, commands: list[str], verdict: Verdict) -> int:
    return sum(bench.bash(c, rules=(), sandboxed=True).verdict is verdict for c in commands)


def _asked(bench: Bench, commands: list[str]) -> int:
    return len(commands) - _count(bench, commands, Verdict.ALLOW)


def recorded(bench: Bench, folder: Path) -> list[Recorded]:
    """Return the distinct command lines and pipelines of all sessions in a folder."""
    found: dict[str, Recorded] = {}
    for path in sorted(folder.glob("*.jsonl")):
        lines = list(_commands(path))
        project = _project(lines)
        for line in lines:
            written = line.replace(project, str(bench.folder)) if project else line
            for command in (written, *_pipelines(written)):
                if command.strip():
                    bare = command.replace(str(bench.folder), "here")
                    found.setdefault(command, Recorded(command, is_ordinary(bare)))
    return list(found.values())


def _commands(path: Path) -> Iterator[str]:
    """Yield the texts that a session's tools ran in a shell."""
    for line in path.read_bytes().split(b"\n"):
        try:
            content = json.loads(line)["content"]
        except (ValueError, KeyError, TypeError):
            continue
        for block in content if isinstance(content, list) else ():
            arguments: dict[str, Any] = block.get("input") or {}
            if block.get("type") == "tool_use" and isinstance(arguments, dict):
                command = arguments.get("command", arguments.get("cmd"))
                if isinstance(command, str) and not re.search(
                    r"edit|editor|replace", block["name"]
                ):
                    yield command


def _project(lines: list[str]) -> str:
    """Return the folder that the absolute paths of a session share; "" when they share none."""
    paths = [p for line in lines for p in re.findall(r"(?<![\w.~])/(?:[\w.-]+/)+[\w.-]*", line)]
    paths = [p for p in paths if not p.startswith(("/dev/", "/usr/", "/bin/", "/etc/"))]
    best = ""
    for path in paths:
        parts = path.split("/")
        for depth in range(3, len(parts) + 1):
            above = "/".join(parts[:depth])
            share = sum(p == above or p.startswith(f"{above}/") for p in paths) / len(paths)
            if share >= 0.6 and len(above) > len(best):
                best = above
    return best


def _pipelines(line: str) -> list[str]:
    """Return the pipelines in a line and their beginnings, where no bracket or keyword makes them uncertain."""
    masked = _masked(line)
    if "<<" in masked or re.search(r"[(`]|\b(?:if|for|while|case|do|done)\b", masked):
        return []
    parts, at = [], 0
    for found in (*BREAKS.finditer(masked), None):
        end = found.start() if found else len(line)
        parts.append(line[at:end])
        parts.append(line[at:end][: f"{masked[at:end]}|".index("|")])
        at = found.end() if found else end
    return [part.strip() for part in parts]


def is_ordinary(command: str) -> bool:
    """Whether a command only looks, judged coarsely by its words."""
    if "<<" in command or "`" in command or "$(" in command:
        return False
    bare = re.sub(r"\d?>\s*/dev/null|\d?>&\d|&>\s*/dev/null", " ", command)
    plain = QUOTED.sub("''", bare)
    if ">" in plain or "&" in plain.replace("&&", "") or ELSEWHERE.search(plain):
        return False
    if ACTS.search(plain) or re.search(r"\.env(?!\.example)\b", bare):
        return False
    return all(_looks(part) for part in _split(bare))


def _masked(command: str) -> str:
    """Return a command with what is quoted in it made one kind of letter."""
    return QUOTED.sub(lambda found: "_" * len(found[0]), command)


def _split(command: str) -> list[str]:
    masked, parts, at = _masked(command), [], 0
    for found in re.finditer(r"&&|\|\||[;|\n]", masked):
        parts.append(command[at : found.start()])
        at = found.end()
    return [*parts, command[at:]]


def _looks(part: str) -> bool:
    try:
        words = shlex.split(part)
    except ValueError:
        return False
    if not words:
        return False
    if words[0] == "git":
        return len(words) > 1 and words[1] in GIT_LOOKS
    if words[0] in ("xargs", "timeout", "time"):
        return any(word in LOOKERS for word in words[1:])
    if words[0] == "sed" and any(word.startswith(("-i", "-ni")) for word in words):
        return False
    version = len(words) == 2 and words[1] == "--version"
    return words[0] in LOOKERS or version
