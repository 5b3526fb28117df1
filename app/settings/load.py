"""From sources to the settings in force: precedence, narrowing, conflicts, and the errors that name a source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from app.core.permission import Mode, Rule, Verdict
from app.errors import ConfigError
from app.permission.rules import parse_rule
from app.settings.base_url import is_plain_http
from app.settings.kept_rules import granted_rules
from app.settings.sources import (
    DOTENV,
    ENVIRONMENT,
    Given,
    ProjectFiles,
    Source,
    from_variables,
    read_home,
    read_project,
)
from app.settings.spec import Kind, SettingSpec
from app.settings.specs import (
    BY_NAME,
    RULE_NAMES,
    SPECS,
    TEXTBOOK,
    find_spec,
    nearest_name,
)
from app.settings.trust_state import UNTRUSTED, Level, TrustState
from app.settings.values import Conflict, Settings

NAMED = ("api_key", "auth_token", "base_url", "model")
"""Settings whose differing sources are told to the user."""
_STRICTNESS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "mode": (Mode.READ_ONLY, Mode.ASK, Mode.ACCEPT_EDITS, Mode.AUTO),
        "sandbox": ("require", "auto", "off"),
        "mask_secrets": ("view", "record", "off"),
    }
)
"""Values of the narrowing settings, the strictest first."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value that one source proposes for a setting."""

    spec: SettingSpec
    value: Any
    written: str
    source: Source


@dataclass(slots=True)
class _Found:
    """What is gathered while the sources are gone through."""

    errors: list[ConfigError] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def load_settings(
    folder: Path,
    *,
    environ: Mapping[str, str],
    home: Path,
    flags: Mapping[str, str] | None = None,
    trust: TrustState = UNTRUSTED,
) -> Settings:
    """Return the settings in force.

    Args:
        folder: The project folder.
        environ: The environment; nothing is read from `os.environ`.
        home: The home folder.
        flags: Name to text, from ``--set`` (``threshold``) and from flags of their own (``--demo``). The names
            ``allow``, ``ask`` and ``deny`` hold rules, one a line.
        trust: What the user confirmed; with the default, the project's files do nothing.

    Raises:
        ConfigError: A value cannot be used; the first one found.
    """
    settings, errors = read_settings(folder, environ=environ, home=home, flags=flags, trust=trust)
    if errors:
        raise errors[0]
    return settings


def read_settings(
    folder: Path,
    *,
    environ: Mapping[str, str],
    home: Path,
    flags: Mapping[str, str] | None = None,
    trust: TrustState = UNTRUSTED,
) -> tuple[Settings, tuple[ConfigError, ...]]:
    """Return the settings with unusable values left out, and an error for each of those."""
    found = _Found()
    sources = ordered_sources(folder, environ=environ, home=home, flags=flags or {}, trust=trust)
    for source in sources:
        found.problems += source.problems
    candidates = [c for source in sources for c in _candidates(source, found)]
    settings = Settings(folder=folder)
    origins: dict[str, str] = {}
    chosen: dict[str, Candidate] = {}
    for spec in SPECS:
        mine = [candidate for candidate in candidates if candidate.spec is spec]
        if spec.kind is Kind.NARROWING:
            mine = _narrowed(spec, mine, found)
        if mine:
            chosen[spec.name] = mine[0]
            settings = spec.put(settings, mine[0].value)
            origins[spec.name] = mine[0].source.name
    conflicts = _conflicts(candidates, chosen)
    settings, withheld = _withhold(settings, chosen, trust)
    found.problems += withheld
    if settings.api_key and settings.auth_token:
        found.problems.append(
            f"ANTHROPIC_API_KEY (from {origins['api_key']}) and ANTHROPIC_AUTH_TOKEN "
            f"(from {origins['auth_token']}) are both set; the key is used, the token is not sent"
        )
        settings = replace(settings, auth_token=None)
    if is_plain_http(settings.base_url) and settings.base_url not in trust.plain_http:
        found.errors.append(
            ConfigError(
                chosen["base_url"].written,
                f"{settings.base_url} is not encrypted and not on this machine",
                source=origins["base_url"],
                hint="Use https://, or confirm the address once when asked (--trust).",
            )
        )
    settings = replace(
        settings,
        rules=(*_rules(sources, found), *granted_rules(folder, home=home)),
        sources=MappingProxyType(origins),
        conflicts=conflicts,
        problems=tuple(dict.fromkeys(found.problems)),
    )
    return settings, tuple(found.errors)


def ordered_sources(
    folder: Path,
    *,
    environ: Mapping[str, str],
    home: Path,
    flags: Mapping[str, str],
    trust: TrustState,
) -> tuple[Source, ...]:
    """Return the sources that count, the winning one first.

    Raises:
        ConfigError: A flag names no setting.
    """
    files = _trusted(read_project(folder, home), trust)
    environment = from_variables(ENVIRONMENT, environ)
    user = read_home(home)
    upper = [environment, files.dotenv]
    flagged = _flag_sources(flags)
    order = [*flagged, *upper, files.toml, files.claude, *user]
    if _is_on("env_file_wins", order):
        upper.reverse()
        order = [*flagged, *upper, files.toml, files.claude, *user]
    for at, source in enumerate(order):
        if _is_on("textbook", [source]):
            given = tuple(Given(name, "--textbook", text) for name, text in TEXTBOOK.items())
            above = max(at + 1, len(flagged) if source.name.startswith("--") else 0)
            order.insert(above, Source("--textbook", given, project=source.project))
            break
    return tuple(order)


def _flag_sources(flags: Mapping[str, str]) -> list[Source]:
    given: dict[str, list[Given]] = {}
    rules: dict[str, list[Given]] = {}
    for written, text in flags.items():
        name = written.removeprefix("--")
        source = written if written.startswith("--") else "--set"
        if name in RULE_NAMES:
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            rules.setdefault(source, []).extend(Given(name, written, line) for line in lines)
            continue
        spec = find_spec(name)
        if spec is None:
            near = nearest_name(name)
            raise ConfigError(
                written,
                "there is no such setting" + (f"; did you mean {near}?" if near else ""),
                source=source,
            )
        given.setdefault(source, []).append(Given(spec.name, written, text))
    return [
        Source(name, tuple(given.get(name, ())), tuple(rules.get(name, ())))
        for name in dict.fromkeys([*given, *rules])
    ]


def _trusted(files: ProjectFiles, trust: TrustState) -> ProjectFiles:
    """Leave out what the user did not confirm."""
    if (
        trust.level is Level.NOTHING
        or (trust.fingerprint or files.fingerprint) != files.fingerprint
    ):
        problems = tuple(
            problem
            for source in files.all
            for problem in (
                source.problems  # it sets nothing, so that nobody is asked; what is wrong is still said
                if source.empty
                else (f"{source.name} is ignored: this folder is not trusted",)
            )
        )
        return replace(ProjectFiles(), dotenv=Source(DOTENV, project=True, problems=problems))
    if trust.level is Level.ALL:
        return files
    return ProjectFiles(*(_without_power(source) for source in files.all))


def _without_power(source: Source) -> Source:
    kept = tuple(g for g in source.given if BY_NAME[g.name].kind is not Kind.POWER)
    dropped = tuple(
        f"{g.written} (from {source.name}) is ignored: it was not confirmed"
        for g in source.given
        if g not in kept
    )
    return replace(source, given=kept, problems=(*source.problems, *dropped))


def _candidates(source: Source, found: _Found) -> list[Candidate]:
    candidates = []
    for given in source.given:
        spec = BY_NAME[given.name]
        try:
            value = spec.parser.read(given.value)
        except (ValueError, TypeError, OverflowError) as error:
            found.errors.append(bad_value(spec, given.value, given.written, source.name, error))
        else:
            candidates.append(Candidate(spec, value, given.written, source))
    return candidates


def bad_value(
    spec: SettingSpec, value: Any, written: str, source: str, error: Exception
) -> ConfigError:
    """Return the error that names a setting, its source, and what is allowed."""
    why = str(error) if type(error) is ValueError else ""
    shown = "" if spec.secret else f"{str(value)[:80]!r} "
    explained = bool(why) and (spec.secret or spec.name == "base_url")
    problem = f"{shown}cannot be used: {why}" if explained else f"{shown}is not allowed"
    return ConfigError(written, f"{problem}; allowed: {spec.parser.allowed}", source=source)


def _narrowed(spec: SettingSpec, mine: list[Candidate], found: _Found) -> list[Candidate]:
    """Leave out what a project would loosen against all that is not the project's."""
    order = list(_STRICTNESS[spec.name])
    own = [candidate for candidate in mine if not candidate.source.project]
    limit = own[0].value if own else spec.value(Settings())
    kept = []
    for candidate in mine:
        if candidate.source.project and order.index(candidate.value) > order.index(limit):
            found.problems.append(
                f"{candidate.written} (from {candidate.source.name}): a project may only narrow "
                f"{spec.name}; {spec.shown(candidate.value)} is ignored"
            )
        else:
            kept.append(candidate)
    return kept


def _rules(sources: Sequence[Source], found: _Found) -> tuple[Rule, ...]:
    rules = []
    for source in sources:
        for given in source.rules:
            if source.project and given.name == "allow":
                found.problems.append(
                    f"{given.written} (from {source.name}): a project may only narrow what is "
                    f"allowed; {given.value!r} is ignored"
                )
                continue
            try:
                rules.append(parse_rule(str(given.value), Verdict(given.name), source=source.name))
            except ValueError as error:
                found.errors.append(ConfigError(given.written, str(error), source=source.name))
    return tuple(rules)


def _conflicts(
    candidates: Sequence[Candidate], chosen: Mapping[str, Candidate]
) -> tuple[Conflict, ...]:
    return tuple(
        Conflict(
            chosen[c.spec.name].written,
            c.spec.shown(chosen[c.spec.name].value),
            chosen[c.spec.name].source.name,
            c.spec.shown(c.value),
            c.source.name,
        )
        for c in candidates
        if c.spec.name in NAMED and c.value != chosen[c.spec.name].value
    )


def _withhold(
    settings: Settings, chosen: Mapping[str, Candidate], trust: TrustState
) -> tuple[Settings, list[str]]:
    """Keep a key from elsewhere away from a project's endpoint until that was confirmed."""
    endpoint = chosen.get("base_url")
    if endpoint is None or not endpoint.source.project or trust.foreign_key:
        return settings, []
    problems = []
    for name in ("api_key", "auth_token"):
        credential = chosen.get(name)
        if credential is not None and not credential.source.project:
            problems.append(
                f"{credential.written} (from {credential.source.name}) is not sent to "
                f"{settings.base_url} (from {endpoint.source.name}) before you confirm it"
            )
            settings = BY_NAME[name].put(settings, None)
    return settings, problems


def _is_on(name: str, sources: Sequence[Source]) -> bool:
    spec = BY_NAME[name]
    for source in sources:
        for given in source.given:
            if given.name == name:
                try:
                    return bool(spec.parser.read(given.value))
                except (ValueError, TypeError):
                    return False
    return False
