"""Programs that run another program: what they run, so that the judgement is about that."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from app.permission.commands import Command
from app.permission.words import Word

SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "ash", "csh", "tcsh", "busybox"})
INTERPRETERS = SHELLS | frozenset(
    {"python", "python2", "python3", "pypy", "pypy3", "perl", "ruby", "node", "nodejs", "deno"}
    | {"bun", "php", "lua", "luajit", "osascript", "tclsh", "Rscript", "R", "irb", "ipython"}
    | {"ts-node", "tsx", "scala", "groovy", "julia", "pwsh", "powershell", "ghci", "bc", "dc"}
    | {"eval", "source", ".", "ssh", "psql", "mysql", "sqlite3", "ed", "ex", "vim", "vi", "m4"}
)
"""Programs that run what they read."""


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A command with a wrapper taken off."""

    command: Command
    appended: bool = False
    """Whether more arguments come from its input (xargs)."""
    changes: str = ""
    """What the wrapper changes for the inner command so that it is no longer the same; "" when nothing."""


def base_name(name: str) -> str:
    """Return the program's own name; a version at the end of an interpreter's is left off."""
    base = posixpath.basename(name)
    stem = base.rstrip("0123456789.")
    return stem if stem in INTERPRETERS and base not in INTERPRETERS else base


def unwrap(command: Command) -> Unwrapped | None:
    """Return the command inside a wrapper; None when it is no wrapper or cannot be seen through."""
    if not command.words or command.words[0].text is None:
        return None
    skip = _WRAPPERS.get(base_name(command.words[0].text))
    if skip is None:
        return None
    found = skip(command.words)
    if found is None or found[0] >= len(command.words):
        return None
    at, changes = found
    return Unwrapped(
        replace(command, words=command.words[at:]),
        appended=base_name(command.words[0].text) == "xargs",
        changes=changes,
    )


def innermost(command: Command) -> tuple[Command, bool, str]:
    """Return the command under all wrappers, whether its arguments are complete, and what wrappers change."""
    complete, changes = True, ""
    for _ in range(20):
        inner = unwrap(command)
        if inner is None:
            break
        command, complete = inner.command, complete and not inner.appended
        changes = changes or inner.changes
    return command, complete, changes


def layers(command: Command) -> list[Command]:
    """Return a command and all commands inside its wrappers, the outermost first."""
    found = [command]
    while len(found) < 20:
        inner = unwrap(found[-1])
        if inner is None:
            break
        found.append(inner.command)
    return found


def _options(
    words: Sequence[Word], *, flags: str = "", values: str = "", long: Sequence[str] = ()
) -> int | None:
    """Return the position after the options of ``words[0]``; None when one is not known."""
    at = 1
    while at < len(words):
        text = words[at].text
        if text is None:
            return None
        if text == "--":
            return at + 1
        if not text.startswith("-") or text == "-":
            return at
        if text.startswith("--"):
            name, _, value = text.partition("=")
            if name not in long:
                return None
            at += 1 if value or f"{name}=" not in long else 2
            continue
        at = _short(text, at, flags, values)
        if at < 0:
            return None
    return at


def _short(text: str, at: int, flags: str, values: str) -> int:
    for position, letter in enumerate(text[1:], 1):
        if letter in values:
            return at + (1 if position < len(text) - 1 else 2)
        if letter not in flags:
            return -1
    return at + 1


def _plain(
    *, flags: str = "", values: str = "", long: Sequence[str] = ()
) -> Callable[[Sequence[Word]], tuple[int, str] | None]:
    def skip(words: Sequence[Word]) -> tuple[int, str] | None:
        at = _options(words, flags=flags, values=values, long=long)
        return None if at is None else (at, "")

    return skip


def _timeout(words: Sequence[Word]) -> tuple[int, str] | None:
    at = _options(
        words,
        flags="v",
        values="ks",
        long=("--preserve-status", "--foreground", "--verbose", "--signal", "--kill-after"),
    )
    return None if at is None else (at + 1, "")


def _nice(words: Sequence[Word]) -> tuple[int, str] | None:
    if len(words) > 1 and words[1].text and words[1].text.lstrip("-").isdigit():
        return 2, ""
    at = _options(words, values="n", long=("--adjustment",))
    return None if at is None else (at, "")


def _env(words: Sequence[Word]) -> tuple[int, str] | None:
    at = _options(words, flags="i0", values="u", long=("--ignore-environment", "--unset", "--null"))
    if at is None:
        return None
    changes = ""
    while at < len(words):
        text = words[at].text
        if text is None or "=" not in text:
            break
        name, _, value = text.partition("=")
        if not harmless_assignment(name, value):
            changes = f"it sets {name}"
        at += 1
    return at, changes


_WRAPPERS: dict[str, Callable[[Sequence[Word]], tuple[int, str] | None]] = {
    "timeout": _timeout,
    "nice": _nice,
    "ionice": _plain(flags="t", values="cn"),
    "nohup": _plain(),
    "setsid": _plain(flags="fwc"),
    "stdbuf": _plain(values="ioe", long=("--input", "--output", "--error")),
    "time": _plain(flags="pv"),
    "command": _plain(flags="p"),
    "builtin": _plain(),
    "exec": _plain(flags="cl", values="a"),
    "env": _env,
    "xargs": _plain(
        flags="0rtx",
        values="nLPIdEs",
        long=("--null", "--no-run-if-empty", "--verbose", "--max-args", "--max-procs"),
    ),
    "chronic": _plain(),
    "unbuffer": _plain(),
}

_HARMLESS = frozenset(
    {"LANG", "LANGUAGE", "TZ", "TERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR"}
    | {"CLICOLOR_FORCE", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONIOENCODING", "CI"}
    | {
        "PYTHONHASHSEED",
        "PYTHONUTF8",
        "RUST_BACKTRACE",
        "GIT_TERMINAL_PROMPT",
        "GIT_OPTIONAL_LOCKS",
    }
)
_PAGERS = frozenset({"PAGER", "GIT_PAGER", "MANPAGER"})


def harmless_assignment(name: str, value: str | None) -> bool:
    """Whether ``NAME=value`` in front of a command cannot change what it runs."""
    if value is None or not all(char.isalnum() or char in "_.-+@:," for char in value):
        return False
    if name in _PAGERS:
        return value in ("cat", "")
    return name in _HARMLESS or name.startswith("LC_")
