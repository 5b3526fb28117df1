"""``pal rules list|why|add|remove``: what runs without a question in a folder, and what would become of a command."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.permission import Verdict, explained
from app.core.visible_text import one_line
from app.errors import PalError
from app.permission.rules import parse_rule
from app.settings import Settings
from app.settings.kept_rules import GRANTED, grant, withdraw

if TYPE_CHECKING:
    from app.agent.parts import JudgeCall


def run(argv: list[str], settings: Settings, home: Path, *, judge: JudgeCall) -> int:
    """Run a command on the rules of a folder.

    Args:
        argv: The words after ``pal rules``; none of them means ``list``.
        settings: What holds in the folder.
        home: The home folder, where added rules are kept.
        judge: Judges calls in that folder.

    Returns:
        Exit code: 0 done, 1 failed, 2 wrong use.
    """
    try:
        options = _parser().parse_args(argv or ["list"])
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    try:
        match options.command:
            case "list":
                return _list(settings, as_json=options.json)
            case "why":
                return _why(settings, options, judge)
            case "add":
                return _add(settings, home, options)
            case _:
                return _remove(settings, home, options.rule)
    except OSError as error:
        if error.filename is None:  # it was the output
            raise
        print(f"pal rules: {one_line(str(error))}", file=sys.stderr)
        return 1
    except (ValueError, PalError) as error:
        print(f"pal rules: {one_line(str(error))}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pal rules", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="the mode and all rules of this folder")
    listing.add_argument("--json", action="store_true", help="one JSON object")
    why = commands.add_parser("why", help="what would become of a command, or a call, and why")
    why.add_argument("--tool", default="bash", help="judge this tool with a path instead")
    why.add_argument("--json", action="store_true", help="one JSON object")
    why.add_argument("words", nargs=argparse.REMAINDER, help="the command, or the path")
    adding = commands.add_parser("add", help="keep a rule for this folder")
    adding.add_argument("verdict", choices=[verdict.value for verdict in Verdict])
    adding.add_argument("rule", help='such as "bash: pytest *" or "write_file: src/**"')
    removing = commands.add_parser("remove", help="take an added rule back")
    removing.add_argument("rule", help="its number in the list, or the rule itself")
    return parser


def _list(settings: Settings, *, as_json: bool) -> int:
    if as_json:
        rules = [{"verdict": r.verdict, "rule": str(r), "source": r.source} for r in settings.rules]
        print(json.dumps({"v": 1, "mode": settings.mode, "rules": rules}, indent=1))
        return 0
    print(f"mode {settings.mode} (from {settings.source('mode')})")
    for number, rule in enumerate(settings.rules, 1):
        print(f"{number:>3}. {rule.verdict:<5}  {one_line(str(rule))}  ({one_line(rule.source)})")
    if not settings.rules:
        print("There are no rules; “always” at a question adds one.")
    return 0


def _why(settings: Settings, options: argparse.Namespace, judge: JudgeCall) -> int:
    text = options.words[0] if len(options.words) == 1 else shlex.join(options.words)
    if not text.strip():
        raise ValueError("say the command, for example: pal rules why 'git push'")
    arguments = {"command": text} if options.tool == "bash" else {"path": text}
    found = judge(options.tool, arguments, settings.mode, settings.rules)
    if options.json:
        offered = [str(rule) for rule in found.offers]
        told = {"v": 1, "verdict": found.verdict, "reason": found.reason, "offers": offered}
        print(json.dumps(told, indent=1))
    else:
        print("\n".join(explained(found)))
    return 0


def _add(settings: Settings, home: Path, options: argparse.Namespace) -> int:
    rule = parse_rule(options.rule, Verdict(options.verdict))
    grant(rule, settings.folder, home=home)
    print(f"Added: {rule.verdict} {one_line(str(rule))} ({GRANTED})")
    return 0


def _remove(settings: Settings, home: Path, wanted: str) -> int:
    rules = settings.rules
    if wanted.isdecimal():
        found = rules[int(wanted) - 1] if 0 < int(wanted) <= len(rules) else None
    else:
        found = next((rule for rule in rules if str(rule) == wanted.strip()), None)
    if found is None:
        raise ValueError(f"there is no rule {wanted}; pal rules list shows them")
    if found.source != GRANTED:
        raise ValueError(f"{found} stands in {found.source}: take it out there")
    withdraw(found, settings.folder, home=home)
    print(f"Removed: {one_line(str(found))}. It is asked again.")
    return 0
