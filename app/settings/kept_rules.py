"""Rules that the user added with "always", kept for each folder until they are taken back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from app.core.own_folders import CONFIG_FOLDER
from app.core.permission import Rule, Verdict
from app.permission.rules import parse_rule
from app.settings.dotenv_file import read_small_text
from app.settings.private_file import write_private

GRANTED = "always, in this folder"
"""Source of these rules in lists."""


def granted_file(home: Path) -> Path:
    """Return the path of the file that keeps these rules."""
    return home / CONFIG_FOLDER / "granted.json"


def granted_rules(folder: Path, *, home: Path) -> tuple[Rule, ...]:
    """Return the rules that hold for a folder, oldest first; what is damaged is left out, so that it is asked again."""
    rules = []
    for verdict, text in _read(home).get(str(folder.resolve()), ()):
        try:
            rules.append(parse_rule(text, Verdict(verdict), source=GRANTED))
        except ValueError:
            continue
    return tuple(rules)


def grant(rule: Rule, folder: Path, *, home: Path) -> Rule:
    """Keep a rule for a folder and return it as it will be listed.

    Raises:
        OSError: It cannot be stored.
    """
    kept = _read(home)
    entries = kept.setdefault(str(folder.resolve()), [])
    entry = (rule.verdict.value, str(rule))
    if entry not in entries:
        entries.append(entry)
        _write(kept, home)
    return Rule(rule.verdict, rule.tool, rule.pattern, GRANTED)


def withdraw(rule: Rule, folder: Path, *, home: Path) -> bool:
    """Take a kept rule back; return whether it was kept.

    Raises:
        OSError: The file cannot be written.
    """
    kept = _read(home)
    entries = kept.get(str(folder.resolve()), [])
    entry = (rule.verdict.value, str(rule))
    if entry not in entries:
        return False
    entries.remove(entry)
    _write({place: rules for place, rules in kept.items() if rules}, home)
    return True


def _read(home: Path) -> dict[str, list[tuple[str, str]]]:
    text, _ = read_small_text(granted_file(home))
    try:
        folders: dict[str, Any] = json.loads(text or "{}")["folders"]
        return {
            str(folder): [(str(verdict), str(rule)) for verdict, rule in rules]
            for folder, rules in folders.items()
        }
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return {}


def _write(kept: dict[str, list[tuple[str, str]]], home: Path) -> None:
    write_private(granted_file(home), json.dumps({"v": 1, "folders": kept}, indent=1) + "\n")
