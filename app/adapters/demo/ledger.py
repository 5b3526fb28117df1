"""What was read, changed and run, as far as the view tells: calls, their stubs, and the facts in the head."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

from app.adapters.demo.describe import describe
from app.adapters.demo.head_facts import head_facts
from app.adapters.demo.notes import file_notes
from app.adapters.demo.reading import Outcome, Reading

_EXIT = re.compile(r"^\[(?:Previous: used bash.* -> )?exit (-?\d+)", re.M)
_STUB_OUTCOME = re.compile(r" -> (.+?)(?:; recall r\d+)?\]$")
_WRITES = re.compile(r"(?<![0-9&>])>>?\s*(?![&\s]|/dev/null)([^\s;|&<>]+)")
_CHANGERS = {"touch", "rm", "mkdir", "tee", "truncate"}
_MOVERS = {"mv", "cp"}


@dataclass(slots=True)
class Ledger:
    """Everything once, oldest first."""

    read: dict[str, str] = field(default_factory=dict)
    """Path to what it holds; "" when that is not known any more."""
    changed: dict[str, str] = field(default_factory=dict)
    """Path to how it was changed."""
    commands: dict[str, str] = field(default_factory=dict)
    """Command to how it ended last."""
    failures: list[str] = field(default_factory=list)
    searches: list[str] = field(default_factory=list)


def ledger_of(reading: Reading, calls: tuple[Outcome, ...] | None = None) -> Ledger:
    """Return what the view tells; with ``calls``, only these are counted beside the head."""
    ledger = Ledger()
    facts = head_facts(reading.head)
    known = file_notes(reading.own_words)
    for path in (*facts.read, *file_notes(reading.head)):
        ledger.read[path] = known.get(path, "")
    for path in facts.modified:
        ledger.changed[path] = "changed earlier"
    ledger.commands.update(facts.commands)
    for outcome in reading.everything if calls is None else calls:
        _count(outcome, ledger, known)
    return ledger


def exit_code(outcome: Outcome) -> int | None:
    """Return a command's exit code, as its result tells it (no word of it means 0), or None when it has none."""
    found = _EXIT.findall(outcome.text)
    if found:
        return int(found[-1])
    return None if outcome.is_error or outcome.cleared else 0


def ending(outcome: Outcome) -> str:
    """Return how a call ended, in a few words."""
    stub = _STUB_OUTCOME.search(outcome.text) if outcome.cleared else None
    if stub:
        return stub[1]
    if outcome.tool == "bash" and (code := exit_code(outcome)) is not None:
        return f"exit {code}"
    if outcome.is_error:
        return "failed: " + _first_line(outcome.text)
    return "done"


def files_written_by(command: str) -> list[str]:
    """Return the files that a command names as what it writes: redirections, ``sed -i``, ``touch``, ``mv`` and such."""
    written = [path.strip("'\"") for path in _WRITES.findall(command)]
    for part in re.split(r"[;&|\n]+", command):
        try:
            words = shlex.split(part)
        except ValueError:
            words = part.split()
        if not words:
            continue
        names = [word for word in words[1:] if not word.startswith(("-", ">", "<"))]
        if words[0] in _CHANGERS:
            written += names
        elif words[0] in _MOVERS and len(names) > 1:
            written += names if words[0] == "mv" else names[-1:]
        elif words[0] == "sed" and any(word.startswith("-i") for word in words):
            written += names[1:]
    return list(dict.fromkeys(written))


def _count(outcome: Outcome, ledger: Ledger, known: dict[str, str]) -> None:
    path, command = outcome.argument("path"), outcome.argument("command")
    if outcome.is_error and outcome.tool != "bash":
        ledger.failures.append(
            f"{outcome.tool} {path or command}: {_first_line(outcome.text)}".strip()
        )
        return
    match outcome.tool:
        case "read_file":
            ledger.read.pop(path, None)
            fresh = "" if outcome.cleared else describe(path, outcome.text)
            ledger.read[path] = known.get(path) or fresh
        case "write_file":
            ledger.changed[path] = "written"
        case "edit_file":
            old, new = outcome.argument("old_text"), outcome.argument("new_text")
            ledger.changed[path] = f"edited: {_short(old)} -> {_short(new)}"
        case "bash":
            ended = ending(outcome)
            ledger.commands.pop(command, None)
            ledger.commands[command] = ended
            if not ended.startswith("failed"):
                for written in files_written_by(command):
                    ledger.changed[written] = f"by the command {_short(command)}"
        case "search":
            ledger.searches.append(outcome.argument("pattern"))
        case _:
            pass


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:160]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line}”" if len(line) <= 60 else f"“{line[:59]}…”"
