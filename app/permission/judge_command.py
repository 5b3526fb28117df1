"""The judgement of a command line: each simple command, each redirection, and all of it together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.core.permission import Judgement, Mode, Rule, Verdict
from app.permission.collecting import needs_confinement
from app.permission.commands import Command, Script
from app.permission.dangerous import dangerous
from app.permission.matching import Match, forbids, of_tool, permits, speaks_of_path
from app.permission.places import Place, Places, is_stream
from app.permission.proposals import offer_for_command
from app.permission.read_only import HOLDS_KEYS, LEADS_OUT, REPOSITORY_RUNS, why_not_read_only
from app.permission.read_only_commands import TABLE
from app.permission.script import parse_script
from app.permission.words import Word
from app.permission.wrappers import SHELLS, base_name, harmless_assignment, innermost, layers

SecondOpinion = Callable[[str], frozenset[str] | None]
"""Another parser: returns the first words of all calls in a command line, None when it cannot read it."""

SHOWN = 3
"""Reasons that a question names at most."""


@dataclass(frozen=True, slots=True)
class Case:
    """What a command is judged against."""

    tool: str
    mode: Mode
    rules: Sequence[Rule]
    places: Places
    sandboxed: bool
    second: SecondOpinion | None = None

    @property
    def free(self) -> bool:
        """Whether commands run without a question."""
        return self.mode is Mode.AUTO and self.sandboxed


def judge_command(
    source: str,
    *,
    tool: str,
    mode: Mode,
    rules: Sequence[Rule],
    places: Places,
    sandboxed: bool,
    second: SecondOpinion | None = None,
) -> Judgement:
    """Judge a command line, see `judge`."""
    case = Case(tool, mode, rules, places, sandboxed, second)
    script = parse_script(source, str(places.folder))
    why = dangerous(script, places)
    if why:
        return Judgement(Verdict.DENY, f"Dangerous command blocked: {why}")
    forbidden = _forbidden(script, case, Verdict.DENY)
    if forbidden is not None and forbidden.verdict is Verdict.DENY:
        return forbidden
    own = _touches_own(script, case)
    if own:
        return Judgement(
            Verdict.DENY, f"{own} is Palimpsest's own record or settings; no tool writes it."
        )
    other = _read_otherwise(source, script, case)
    if other:
        return _unsure(f"The command could not be judged: {other}.", case)
    if script.unread:
        return _unsure(f"The command could not be judged: {script.unread}.", case)
    changing = _changing(script, case)
    if mode is Mode.READ_ONLY:
        return _in_read_only(script, changing, case)
    asked = forbidden or _forbidden(script, case, Verdict.ASK)
    if asked is not None:
        return asked
    protected = _touches_protected(script, case)
    if protected:
        return Judgement(Verdict.ASK, protected)
    if not script.doubts and not _writes(script, case):
        if not changing:
            return Judgement(Verdict.ALLOW, "It only looks at files in the project.")
        if case.sandboxed and needs_confinement(script, case.places):
            return Judgement(Verdict.ALLOW, "It only collects tests, confined to looking.")
    if case.free:
        return Judgement(Verdict.ALLOW, "The mode auto runs commands in the sandbox.")
    return _by_allow_rules(script, changing, case)


def _covering(rules: Sequence[Rule], commands: Iterable[Command]) -> str:
    """Return the sentence that names the rules by which these commands run."""
    first = (next((rule for rule in rules if permits(rule, each)), None) for each in commands)
    found = list(dict.fromkeys(rule for rule in first if rule is not None))
    named = [f"{str(rule)!r}" + (f" (from {rule.source})" if rule.source else "") for rule in found]
    return f"It is allowed by the rule{'s' if len(named) > 1 else ''} {', '.join(named)}."


def _by_allow_rules(script: Script, changing: list[tuple[Command, str]], case: Case) -> Judgement:
    allowing = of_tool(case.rules, case.tool, Verdict.ALLOW)
    open_ones = [
        (command, why)
        for command, why in changing
        if not any(permits(rule, command) for rule in allowing)
        or _odd_assignment(command)
        or _reads_outside(command, case)
        or why.startswith(REPOSITORY_RUNS)
        or why.endswith(LEADS_OUT)
    ]
    reasons = [f"{_named(command)}: {why}" for command, why in open_ones]
    reasons += [f"{doubt}" for doubt in script.doubts]
    writes = _writes(script, case)
    reasons += writes
    if not reasons:
        return Judgement(Verdict.ALLOW, _covering(allowing, [command for command, _ in changing]))
    offers: tuple[Rule, ...] = ()
    if len(open_ones) == 1 and not script.doubts and not writes:
        offers = offer_for_command(open_ones[0][0], case.tool)
    shown = list(dict.fromkeys(reasons))
    more = f" (and {len(shown) - SHOWN} more)" if len(shown) > SHOWN else ""
    why = "; ".join(shown[:SHOWN]) + more + "."
    return Judgement(Verdict.ASK, why, next(iter(offers), None), offers[1:])


def _changing(script: Script, case: Case) -> list[tuple[Command, str]]:
    found = []
    for command in script.commands:
        why = why_not_read_only(command, script, case.places)
        if why:
            found.append((command, why))
    return found


def _in_read_only(script: Script, changing: list[tuple[Command, str]], case: Case) -> Judgement:
    writes = _writes(script, case)
    reasons = [f"{_named(command)}: {why}" for command, why in changing]
    reasons += [*script.doubts, *writes]
    if not reasons:
        asked = _forbidden(script, case, Verdict.ASK)
        return asked or Judgement(Verdict.ALLOW, "It only looks at files in the project.")
    return Judgement(
        Verdict.DENY,
        f"The mode is read-only: only commands known to change nothing run ({reasons[0]}).",
    )


def _read_otherwise(source: str, script: Script, case: Case) -> str:
    """Return how another parser reads a command that this one takes for a harmless one; "" when alike."""
    if case.second is None or script.unread or _changing(script, case):
        return ""
    names = case.second(source)
    if names is None:
        return "a second parser does not understand it"
    seen = (layer for command in script.commands for layer in layers(command) if layer.words)
    known = {layer.words[0].text for layer in seen}
    strange = sorted(names - known)
    return (
        f"a second parser sees {strange[0] or 'a program that is not written out'!r} run"
        if strange
        else ""
    )


def _unsure(reason: str, case: Case) -> Judgement:
    if case.mode is Mode.READ_ONLY:
        return Judgement(Verdict.DENY, f"The mode is read-only. {reason}")
    return Judgement(Verdict.ASK, reason)


def _forbidden(script: Script, case: Case, verdict: Verdict) -> Judgement | None:
    """Return what rules of one verdict say; a deny rule that may apply makes a question."""
    unsure: Judgement | None = None
    for rule in of_tool(case.rules, case.tool, verdict):
        for command in script.commands:
            match = forbids(rule, command)
            said = f"by the rule {str(rule)!r}" + (f" (from {rule.source})" if rule.source else "")
            if match is Match.YES:
                word = "denied" if verdict is Verdict.DENY else "asked"
                return Judgement(verdict, f"{_named(command)} is {word} {said}.")
            if match is Match.MAYBE or _could_hide(command):
                unsure = Judgement(
                    Verdict.ASK, f"{_named(command)} may do what is forbidden {said}."
                )
    return _forbidden_files(script, case, verdict) or unsure


def _forbidden_files(script: Script, case: Case, verdict: Verdict) -> Judgement | None:
    """Let rules about files hold for the paths in a command too."""
    reading = [r for r in of_tool(case.rules, "read_file", verdict) if r.pattern]
    writing = [
        r
        for tool in ("write_file", "edit_file")
        for r in of_tool(case.rules, tool, verdict)
        if r.pattern
    ]
    if not reading and not writing:
        return None
    for command in script.commands:
        for word, place in _places_in(command, case.places):
            for rule in reading:
                if speaks_of_path(rule, place, case.places, word.text or ""):
                    return Judgement(verdict, f"{word.raw} falls under the rule {str(rule)!r}.")
        for redirect in command.redirects:
            for place in _targets(redirect.target, command, case.places) if redirect.writes else ():
                for rule in writing:
                    if speaks_of_path(rule, place, case.places):
                        return Judgement(
                            verdict, f"{redirect.target.raw} falls under the rule {str(rule)!r}."
                        )
    return None


def _could_hide(command: Command) -> bool:
    """Whether a command runs another one that its words do not show."""
    if not command.words:
        return False
    if command.words[0].text is None:
        return True
    name = base_name(innermost(command)[0].words[0].text or "")
    return name in SHELLS or name in ("eval", "source", ".", "xargs", "find", "env", "")


def _touches_own(script: Script, case: Case) -> str:
    for command in script.commands:
        reads = not why_not_read_only(command, script, case.places)
        for redirect in command.redirects:
            if redirect.writes:
                for place in _targets(redirect.target, command, case.places):
                    if place.own:
                        return place.relative
        if reads:
            continue
        for _, place in _places_in(command, case.places):
            if place.own:
                return place.relative
    return ""


def _touches_protected(script: Script, case: Case) -> str:
    for command in script.commands:
        for redirect in command.redirects:
            if redirect.writes:
                for place in _targets(redirect.target, command, case.places):
                    if place.protected:
                        return f"{place.relative} is protected: {place.protected}."
        why = why_not_read_only(command, script, case.places)
        if not why:
            continue
        for _, place in _places_in(command, case.places):
            if place.secret and why.endswith(HOLDS_KEYS):
                return f"{_named(command)}: {why}."
            if place.protected:
                return f"{_named(command)} touches {place.relative}: {place.protected}."
    return ""


def _writes(script: Script, case: Case) -> list[str]:
    """Return the reasons to ask about redirections that write; none when mode or rules cover them."""
    reasons = []
    allowing = of_tool(case.rules, "write_file", Verdict.ALLOW)
    edits = case.mode is Mode.ACCEPT_EDITS or case.free
    for command in script.commands:
        for redirect in command.redirects:
            target = redirect.target
            if not redirect.writes or is_stream(target):
                continue
            if target.text is None or target.pattern:
                reasons.append(f"where {target.raw} leads is not known")
                continue
            for place in _targets(target, command, case.places):
                covered = any(speaks_of_path(rule, place, case.places) for rule in allowing)
                if not place.inside:
                    reasons.append(f"it writes to {target.raw}, outside the project")
                elif not edits and not covered:
                    reasons.append(f"it writes to {target.raw}")
    return reasons


def _targets(word: Word, command: Command, places: Places) -> list[Place]:
    if word.text is None or is_stream(word):
        return []
    found = (places.look(word.text, base) for base in command.dirs)
    return [place for place in found if place is not None]


def _places_in(command: Command, places: Places) -> Iterable[tuple[Word, Place]]:
    """Yield the paths that the words of a command may name, also behind ``=`` and in ``-opath``."""
    for word in [w for layer in layers(command)[-1:] for w in layer.words[1:]]:
        if word.text is None or "\0" in word.text:
            continue
        texts = [word.text]
        if "=" in word.text:
            texts.append(word.text.partition("=")[2])
        if word.text.startswith("-") and len(word.text) > 2:
            texts.append(word.text[2:])
        for text in texts:
            for base in command.dirs:
                names = places.matches(word.pattern, base) if word.pattern else [text]
                for name in names or ():
                    place = places.look(name, base) if name else None
                    if place is not None:
                        yield word, place
    for redirect in command.redirects:
        if not redirect.writes:
            for place in _targets(redirect.target, command, places):
                yield redirect.target, place


def _odd_assignment(command: Command) -> bool:
    return any(not harmless_assignment(name, value.text) for name, value in command.assignments)


def _reads_outside(command: Command, case: Case) -> bool:
    """Whether a program of the read-only table is used on something outside, or on keys, that no rule spells."""
    inner = innermost(command)[0]
    name = inner.words[0].text if inner.words else None
    if name not in TABLE and name not in ("find", "git", "cd"):
        return False
    rules = of_tool(case.rules, case.tool, Verdict.ALLOW)
    spelled = {token for rule in rules for token in rule.pattern.split()}
    for word, place in _places_in(command, case.places):
        text = word.text or ""
        if text in spelled:
            continue
        written_so = "/" in text or text.startswith("~")
        if place.secret or (not place.inside and (written_so or Path(place.path).exists())):
            return True
    return False


def _named(command: Command) -> str:
    text = " ".join(command.source.split())
    return f"`{text[:77]}…`" if len(text) > 78 else f"`{text}`"
