"""Trust in a folder: what its files would set, asked once, remembered by real path and content."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core.own_folders import CONFIG_FOLDER
from app.core.visible_text import escaped
from app.settings.base_url import is_plain_http
from app.settings.dotenv_file import read_small_text
from app.settings.load import read_settings
from app.settings.private_file import write_private
from app.settings.sources import PROJECT_SOURCES, ProjectFiles, read_project
from app.settings.spec import Kind
from app.settings.specs import BY_NAME
from app.settings.trust_state import Level, TrustState
from app.settings.values import Settings


@dataclass(frozen=True, slots=True)
class TrustItem:
    """One value that a project's file would set."""

    file: str
    name: str
    """As written in the file."""
    value: str
    """As people read it: endpoints in full, keys masked, control characters escaped."""
    power: bool
    """Whether it is an endpoint, a credential or the transcript folder."""


@dataclass(frozen=True, slots=True)
class TrustQuestion:
    """What is to be asked before a folder's files count."""

    folder: Path
    """Real path."""
    items: tuple[TrustItem, ...]
    """() when the files are settled and only `plain_http` is asked."""
    fingerprint: str
    changed: bool
    """Whether the folder was trusted before with other content."""
    endpoint: str = ""
    """The project's endpoint that would be used, in full; "" when it would not."""
    foreign_key: str = ""
    """Where the key stands that would be sent to that endpoint, when not in the project; else ""."""
    plain_http: str = ""
    """The unencrypted address that would be used, from whatever source; "" when there is none."""

    @property
    def power(self) -> bool:
        """Whether anything in it is a power setting."""
        return any(item.power for item in self.items)


def trust_file(home: Path) -> Path:
    """Return the path of the file that remembers trust."""
    return home / CONFIG_FOLDER / "trust.json"


def read_trust(folder: Path, *, home: Path) -> TrustState:
    """Return what was confirmed for the folder as it is now; changed content is not trusted."""
    return _state(folder, read_project(folder, home), _read_memory(home))


def pending_trust(
    folder: Path,
    *,
    environ: Mapping[str, str],
    home: Path,
    flags: Mapping[str, str] | None = None,
    again: bool = False,
) -> TrustQuestion | None:
    """Return what must be asked before the settings are loaded, or None when all is settled.

    Args:
        folder: The project folder.
        environ: The process environment.
        home: The user's home.
        flags: Settings by name, as text.
        again: Whether an answer that was kept is not enough.
    """
    files, memory = read_project(folder, home), _read_memory(home)
    state = _state(folder, files, memory)
    then = _if_trusted(folder, files, environ, home, flags)
    endpoint = then.base_url if then.source("base_url") in PROJECT_SOURCES else ""
    holder = then.source(then.credential) if then.credential else ""
    foreign = holder if endpoint and holder and holder not in PROJECT_SOURCES else ""
    answered = bool(state.fingerprint) and not again
    enough = state.level is not Level.ALL or not foreign or state.foreign_key
    settled = files.empty or (answered and enough)
    used = read_settings(folder, environ=environ, home=home, flags=flags, trust=state)[0]
    address = used.base_url if settled else then.base_url
    http = address if is_plain_http(address) and address not in state.plain_http else ""
    if settled and not http:
        return None
    return TrustQuestion(
        folder=folder.resolve(),
        items=() if settled else _items(files),
        fingerprint=files.fingerprint,
        changed=not settled and _was_trusted(folder, files, memory),
        endpoint="" if settled else endpoint,
        foreign_key="" if settled else foreign,
        plain_http=http,
    )


def remember_trust(question: TrustQuestion, level: Level, *, home: Path) -> TrustState:
    """Store the answer to a question and return the trust that now holds.

    `Level.ALL` confirms all that the question named, the key from elsewhere and the unencrypted address included;
    the other levels confirm neither.

    Raises:
        OSError: The answer cannot be stored.
    """
    memory = _read_memory(home)
    everything = level is Level.ALL
    if question.items:
        memory["folders"][str(question.folder)] = {
            "hash": question.fingerprint,
            "level": level.value,
            "foreign_key": everything and bool(question.foreign_key),
        }
    if everything and question.plain_http:
        memory["http"] = sorted({*memory["http"], question.plain_http})
    write_private(trust_file(home), json.dumps({"v": 1, **memory}, indent=1) + "\n")
    return read_trust(question.folder, home=home)


def trust_now(question: TrustQuestion | None, state: TrustState, level: Level) -> TrustState:
    """Return the trust that an answer gives for this run alone, nothing stored; ``--trust`` is `Level.ALL`."""
    if question is None:
        return state
    everything = level is Level.ALL
    http = {question.plain_http} if everything and question.plain_http else set()
    plain_http = state.plain_http | http
    if not question.items:
        return TrustState(state.level, state.fingerprint, state.foreign_key, plain_http)
    foreign = everything and bool(question.foreign_key)
    return TrustState(level, question.fingerprint, foreign, plain_http)


def forget_trust(folder: Path, *, home: Path) -> bool:
    """Take back what was confirmed for a folder; return whether there was anything."""
    memory = _read_memory(home)
    if memory["folders"].pop(str(folder.resolve()), None) is None:
        return False
    write_private(trust_file(home), json.dumps({"v": 1, **memory}, indent=1) + "\n")
    return True


def _if_trusted(
    folder: Path,
    files: ProjectFiles,
    environ: Mapping[str, str],
    home: Path,
    flags: Mapping[str, str] | None,
) -> Settings:
    everything = TrustState(Level.ALL, files.fingerprint, foreign_key=True)
    return read_settings(folder, environ=environ, home=home, flags=flags, trust=everything)[0]


def _state(folder: Path, files: ProjectFiles, memory: dict[str, Any]) -> TrustState:
    plain_http = frozenset(memory["http"])
    kept = memory["folders"].get(str(folder.resolve()))
    if not isinstance(kept, dict) or files.empty or kept.get("hash") != files.fingerprint:
        return TrustState(plain_http=plain_http)
    try:
        level = Level(kept.get("level", ""))
    except ValueError:
        return TrustState(plain_http=plain_http)
    return TrustState(level, files.fingerprint, kept.get("foreign_key") is True, plain_http)


def _was_trusted(folder: Path, files: ProjectFiles, memory: dict[str, Any]) -> bool:
    """Whether other content of the folder was trusted than there is now."""
    kept = memory["folders"].get(str(folder.resolve()))
    trusted = isinstance(kept, dict) and kept.get("level") in (Level.PLAIN, Level.ALL)
    return trusted and kept.get("hash") != files.fingerprint


def _read_memory(home: Path) -> dict[str, Any]:
    """Return the stored answers; a damaged file is an empty one, so that everything is asked again."""
    text, _ = read_small_text(trust_file(home))
    try:
        stored = json.loads(text or "{}")
        folders, addresses = dict(stored.get("folders", {})), list(stored.get("http", []))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return {"folders": {}, "http": []}
    return {"folders": folders, "http": [item for item in addresses if isinstance(item, str)]}


def _items(files: ProjectFiles) -> tuple[TrustItem, ...]:
    found = []
    for source in files.all:
        for given in source.given:
            spec = BY_NAME[given.name]
            text = str(given.value)
            shown = spec.shown(text) if spec.secret else escaped(text)
            found.append(TrustItem(source.name, given.written, shown, spec.kind is Kind.POWER))
        found += [
            TrustItem(source.name, rule.written, escaped(str(rule.value)), power=False)
            for rule in source.rules
        ]
    return tuple(found)
