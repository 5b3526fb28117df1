"""The judgement of one call: allow, ask or deny, and why.

The order: what is refused always, deny rules, ask rules, protected files, the mode, allow rules, the tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.core.permission import Judgement, Mode, Rule, Verdict
from app.permission.judge_command import SecondOpinion, judge_command
from app.permission.matching import of_tool, speaks_of_path
from app.permission.places import Place, Places
from app.permission.proposals import offer_for_path

COMMANDS = frozenset({"bash"})
READERS = frozenset({"read_file", "list_files", "search"})
WRITERS = frozenset({"write_file", "edit_file"})
FREE = frozenset({"todo", "recall", "compact"})
"""Tools that touch nothing but the session."""


def judge(
    tool: str,
    arguments: Mapping[str, Any],
    *,
    mode: Mode,
    rules: Sequence[Rule],
    places: Places,
    sandboxed: bool = False,
    second: SecondOpinion | None = None,
) -> Judgement:
    """Judge one call.

    Args:
        tool: Name of the tool.
        arguments: What the model gave, unchecked.
        mode: The mode in force.
        rules: All rules in force, in any order; deny beats ask beats allow.
        places: The project's folders, see `Places.of`.
        sandboxed: Whether commands run in a working sandbox; without one `Mode.AUTO` asks.
        second: Another parser; a command that it reads otherwise is asked.
    """
    if tool in COMMANDS:
        command = arguments.get("command")
        if not isinstance(command, str):
            forbidden = [r for r in of_tool(rules, tool, Verdict.DENY) if not r.pattern]
            if forbidden:
                return _by_rule(forbidden[0])
            if isinstance(arguments.get("job"), str):
                return Judgement(Verdict.ALLOW, "It reads or ends a job of this session.")
            return Judgement(
                Verdict.ALLOW, "The call has no command and will be refused by the tool."
            )
        return judge_command(
            command,
            tool=tool,
            mode=mode,
            rules=rules,
            places=places,
            sandboxed=sandboxed,
            second=second,
        )
    if tool in READERS or tool in WRITERS:
        return _judge_file(
            tool, arguments, mode=mode, rules=rules, places=places, sandboxed=sandboxed
        )
    for verdict in (Verdict.DENY, Verdict.ASK, Verdict.ALLOW):
        for rule in of_tool(rules, tool, verdict):
            return _by_rule(rule)
    if tool in FREE:
        return Judgement(Verdict.ALLOW, f"{tool} changes nothing but the session.")
    return Judgement(Verdict.ASK, f"Nothing is known about the tool {tool}.", None)


def _judge_file(
    tool: str,
    arguments: Mapping[str, Any],
    *,
    mode: Mode,
    rules: Sequence[Rule],
    places: Places,
    sandboxed: bool,
) -> Judgement:
    path = arguments.get("path", "." if tool in READERS else None)
    if path is None or path == "":
        path = "." if tool in READERS and tool != "read_file" else path
    if not isinstance(path, str) or not path.strip():
        return Judgement(Verdict.ALLOW, "The call has no path and will be refused by the tool.")
    place = places.look(path)
    if place is None:
        return Judgement(Verdict.DENY, "The path is not one: it has a NUL or cannot be resolved.")
    writes = tool in WRITERS
    for rule in of_tool(rules, tool, Verdict.DENY):
        if speaks_of_path(rule, place, places, path):
            return _by_rule(rule)
    if writes and not place.inside:
        return Judgement(
            Verdict.DENY,
            f"{path} leads out of the project folder; files are written inside it only.",
        )
    if writes and place.own:
        return Judgement(
            Verdict.DENY,
            f"{place.relative} is Palimpsest's own record or settings; no tool writes it.",
        )
    if writes and mode is Mode.READ_ONLY:
        return Judgement(Verdict.DENY, "The mode is read-only: no file is changed.")
    for rule in of_tool(rules, tool, Verdict.ASK):
        if speaks_of_path(rule, place, places, path):
            return _by_rule(rule)
    return _ask_or_allow(
        tool, path, place, mode=mode, rules=rules, places=places, sandboxed=sandboxed
    )


def _ask_or_allow(
    tool: str,
    path: str,
    place: Place,
    *,
    mode: Mode,
    rules: Sequence[Rule],
    places: Places,
    sandboxed: bool,
) -> Judgement:
    writes = tool in WRITERS
    if writes and place.protected:
        return Judgement(Verdict.ASK, f"{place.relative} is protected: {place.protected}.")
    allowed = next(
        (r for r in of_tool(rules, tool, Verdict.ALLOW) if speaks_of_path(r, place, places)), None
    )
    if not writes and place.secret:
        spelled = allowed is not None and bool(allowed.pattern)
        if not spelled:
            return Judgement(Verdict.ASK, f"{place.relative} may hold keys.")
    if allowed is not None and (allowed.pattern or place.inside):
        return _by_rule(allowed)
    offers = offer_for_path(tool, place)
    narrow, wider = next(iter(offers), None), offers[1:]
    if not place.inside:
        return Judgement(Verdict.ASK, f"{path} lies outside the project folder.", narrow, wider)
    if not writes:
        return Judgement(Verdict.ALLOW, "Reading in the project folder changes nothing.")
    if mode is Mode.ACCEPT_EDITS or (mode is Mode.AUTO and sandboxed):
        return Judgement(
            Verdict.ALLOW, f"The mode {mode.value} lets files in the project be changed."
        )
    return Judgement(Verdict.ASK, f"It changes {place.relative}.", narrow, wider)


def _by_rule(rule: Rule) -> Judgement:
    source = f" (from {rule.source})" if rule.source else ""
    verb = {Verdict.DENY: "denied", Verdict.ASK: "asked", Verdict.ALLOW: "allowed"}[rule.verdict]
    return Judgement(rule.verdict, f"It is {verb} by the rule {str(rule)!r}{source}.")
