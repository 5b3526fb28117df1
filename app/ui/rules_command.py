"""What ``/rules`` answers: the rules in force, why a command is asked, and a rule added or removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.permission import Verdict, explained
from app.core.visible_text import one_line
from app.permission.rules import parse_rule

if TYPE_CHECKING:
    from app.agent.session import Session

USE = "Use /rules, /rules why COMMAND, /rules remove N, /rules allow|ask|deny RULE."


def answer_rules(session: Session, argument: str) -> tuple[str, bool]:
    """Return what to say, and whether it is a warning."""
    word, _, rest = argument.partition(" ")
    rest = rest.strip()
    match word:
        case "":
            return _listed(session), False
        case "why":
            return _why(session, rest)
        case "remove":
            return _remove(session, rest)
        case "allow" | "ask" | "deny" if rest:
            return _add(session, Verdict(word), rest)
        case _:
            return USE, True


def _listed(session: Session) -> str:
    lines = [
        f"{number}. {rule.verdict}  {one_line(str(rule))}  ({rule.source})"
        for number, rule in enumerate(session.rules, 1)
    ]
    if not lines:
        return f"mode {session.mode}. There are no rules; “always” at a question adds one."
    return "\n".join((f"mode {session.mode}", *lines, "/rules remove N takes one back."))


def _why(session: Session, command: str) -> tuple[str, bool]:
    if command:
        return "\n".join(explained(session.explain("bash", {"command": command}))), False
    asked = session.last_asked
    if asked is None:
        return "Nothing was asked in this session; /rules why COMMAND explains a command.", False
    return f"{one_line(asked.title)} was asked because: {one_line(asked.reason)}", False


def _remove(session: Session, number: str) -> tuple[str, bool]:
    rules = session.rules
    if not number.isdecimal() or not 0 < int(number) <= len(rules):
        return USE, True
    rule = rules[int(number) - 1]
    try:
        session.remove_rule(rule)
    except OSError as error:
        return f"{rule} is gone for this session only: {error.strerror}", True
    return f"Removed: {one_line(str(rule))}. It is asked again.", False


def _add(session: Session, verdict: Verdict, text: str) -> tuple[str, bool]:
    try:
        rule = session.add_rule(parse_rule(text, verdict))
    except ValueError as error:
        return one_line(str(error)), True
    return f"Added: {rule.verdict} {one_line(str(rule))} ({rule.source})", False
