"""Where values stand: environment, ``.env``, TOML files and ``.claude/settings.json``, each as what it gives."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.core.own_folders import CONFIG_FOLDER
from app.settings.dotenv_file import read_dotenv, read_small_text
from app.settings.spec import SettingSpec
from app.settings.specs import (
    BY_ENV,
    RULE_ENV,
    RULE_NAMES,
    find_spec,
    nearest_name,
)

ENVIRONMENT = "environment"
DOTENV = ".env"
PROJECT_FILE = "palimpsest.toml"
CLAUDE_FILE = ".claude/settings.json"
HOME_CLAUDE_FILE = "~/.claude/settings.json"
USER_FILE = f"~/{CONFIG_FOLDER.as_posix()}/settings.toml"
PROJECT_SOURCES = frozenset({DOTENV, PROJECT_FILE, CLAUDE_FILE})
"""Sources that may be somebody else's."""
OUR_PREFIX = "PAL_"


@dataclass(frozen=True, slots=True)
class Given:
    """One value as it stands in a source."""

    name: str
    """Of the setting."""
    written: str
    """The name as written there, such as ``PAL_THRESHOLD``."""
    value: Any
    """A text, or a TOML value."""


@dataclass(frozen=True, slots=True)
class Source:
    """All that one source gives."""

    name: str
    given: tuple[Given, ...] = ()
    rules: tuple[Given, ...] = ()
    """``name`` is allow, ask or deny; ``value`` one rule's text."""
    project: bool = False
    """Whether it lies in the project, so that it may be somebody else's."""
    problems: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether it sets nothing."""
        return not self.given and not self.rules


@dataclass(frozen=True, slots=True)
class ProjectFiles:
    """What lies in a project folder, and the mark by which a change of it is seen."""

    dotenv: Source = field(default_factory=lambda: Source(DOTENV, project=True))
    toml: Source = field(default_factory=lambda: Source(PROJECT_FILE, project=True))
    claude: Source = field(default_factory=lambda: Source(CLAUDE_FILE, project=True))

    @property
    def all(self) -> tuple[Source, ...]:
        """The three sources, the winning one first."""
        return self.dotenv, self.toml, self.claude

    @property
    def empty(self) -> bool:
        """Whether they set nothing."""
        return all(source.empty for source in self.all)

    @property
    def fingerprint(self) -> str:
        """SHA-256 over all they set; "" when that is nothing."""
        if self.empty:
            return ""
        import hashlib  # most folders hold no settings, and loading it takes time at the start

        held = [
            [source.name, item.name, item.written, item.value]
            for source in self.all
            for item in (*source.given, *source.rules)
        ]
        text = json.dumps(held, sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_project(folder: Path, home: Path) -> ProjectFiles:
    """Return what the folder's own files set; never a parent's."""
    values, problem = read_dotenv(folder / ".env")
    dotenv = from_variables(DOTENV, values, project=True, problem=problem)
    toml = from_toml(PROJECT_FILE, folder / PROJECT_FILE, project=True)
    at_home = (folder / CLAUDE_FILE).absolute() == (home / CLAUDE_FILE).absolute()
    claude = (
        Source(CLAUDE_FILE, project=True)
        if at_home
        else from_claude(CLAUDE_FILE, folder / CLAUDE_FILE, project=True)
    )
    return ProjectFiles(dotenv, toml, claude)


def read_home(home: Path) -> tuple[Source, Source]:
    """Return the home's ``.claude/settings.json`` and the user's settings file."""
    return (
        from_claude(HOME_CLAUDE_FILE, home / CLAUDE_FILE),
        from_toml(USER_FILE, user_file(home)),
    )


def user_file(home: Path) -> Path:
    """Return the path of the user's settings file."""
    return home / CONFIG_FOLDER / "settings.toml"


def from_variables(
    name: str, values: Mapping[str, str], *, project: bool = False, problem: str = ""
) -> Source:
    """Return the source of NAME=value pairs; only our names count, and an empty text is seldom a value."""
    problems = [f"{name} {problem}"] if problem else []
    given = [
        Given(spec.name, variable, values[variable])
        for variable, spec in BY_ENV.items()
        if values.get(variable, "").strip() or (spec.takes_empty and variable in values)
    ]
    rules = [
        Given(kind, variable, line.strip())
        for variable, kind in RULE_ENV.items()
        for line in values.get(variable, "").splitlines()
        if line.strip()
    ]
    for variable in values:
        if variable.startswith(OUR_PREFIX) and variable not in BY_ENV and variable not in RULE_ENV:
            problems.append(_unknown(variable, name, env=True))
    return Source(name, tuple(given), tuple(rules), project, tuple(problems))


def from_toml(name: str, path: Path, *, project: bool = False) -> Source:
    """Return the source of a TOML file; tables are names with a dot."""
    text, problem = read_small_text(path)
    if text is None:
        problems = (f"{name} {problem}; it is ignored",) if problem else ()
        return Source(name, project=project, problems=problems)
    import tomllib

    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return Source(
            name, project=project, problems=(f"{name} is not TOML and is ignored: {error}",)
        )
    given: list[Given] = []
    rules: list[Given] = []
    problems_found: list[str] = []
    for written, value in flat_names(table):
        kind = written.removeprefix("rules.")
        spec = find_spec(written)
        if kind in RULE_NAMES:
            items = value if isinstance(value, list) else [value]
            rules += [Given(kind, written, item) for item in items]
        elif spec is None:
            problems_found.append(_unknown(written, name))
        elif value != "":
            given.append(Given(spec.name, written, value))
    return Source(name, tuple(given), tuple(rules), project, tuple(problems_found))


def from_claude(name: str, path: Path, *, project: bool = False) -> Source:
    """Return the source of the ``env`` block of a ``.claude/settings.json``."""
    text, problem = read_small_text(path)
    if text is None:
        problems = (f"{name} {problem}; it is ignored",) if problem else ()
        return Source(name, project=project, problems=problems)
    try:
        block = json.loads(text).get("env", {})
        values = {
            str(variable): value if isinstance(value, str) else json.dumps(value)
            for variable, value in block.items()
        }
    except (ValueError, AttributeError, RecursionError):
        return Source(
            name, project=project, problems=(f"{name} is not a JSON object and is ignored",)
        )
    return from_variables(name, values, project=project)


def flat_names(table: Mapping[str, Any], above: str = "") -> Iterable[tuple[str, Any]]:
    """Yield the values of a TOML table with their names, those in tables with a dot."""
    for key, value in table.items():
        name = f"{above}{key}"
        spec: SettingSpec | None = find_spec(name)
        if isinstance(value, Mapping) and (spec is None or spec.name != "keymap"):
            yield from flat_names(value, f"{name}.")
        else:
            yield name, value


def _unknown(written: str, source: str, *, env: bool = False) -> str:
    near = nearest_name(written, env=env)
    return f"{written} (from {source}): there is no such setting" + (
        f"; did you mean {near}?" if near else ""
    )
