"""What the arguments ask for, and the settings and trust that hold with it."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from app.settings import (
    Level,
    Settings,
    TrustQuestion,
    TrustState,
    load_settings,
    pending_trust,
    read_settings,
    read_trust,
    trust_now,
)
from app.settings.sources import ENVIRONMENT
from app.settings.spec import Kind
from app.settings.specs import find_spec

KEPT_NO = (
    "This folder's own settings are ignored, as you answered before; pal --ask-trust asks again."
)


@dataclass(frozen=True, slots=True)
class Launch:
    """What the arguments ask for."""

    folder: Path
    """The project folder, absolute."""
    flags: dict[str, str]
    """Settings by name, as text."""
    trust: bool = False
    """Whether the folder's own files count in this run."""
    ask_trust: bool = False
    """Whether trust is asked for although it was answered before."""
    resume: str | None = None
    """A session's name or its beginning; "" to choose; None for a new one."""
    go_on: bool = False
    """Whether to go on with the session that was used last."""
    fork: bool = False
    """Whether to go on with a copy of the session instead."""


def trust_question(launch: Launch) -> TrustQuestion | None:
    """Return what must be asked before the folder's own files count."""
    return pending_trust(
        launch.folder,
        environ=os.environ,
        home=Path.home(),
        flags=launch.flags,
        again=launch.trust or launch.ask_trust,
    )


def trust_of(launch: Launch, question: TrustQuestion | None) -> TrustState:
    """Return the trust of this run: what was remembered, or all of it with ``--trust``."""
    state = read_trust(launch.folder, home=Path.home())
    return trust_now(question, state, Level.ALL) if launch.trust else state


def with_kept_no(settings: Settings, trust: TrustState) -> Settings:
    """Let the settings say that the folder's files are ignored where the user once wanted that."""
    if not trust.fingerprint or trust.level is not Level.NOTHING:
        return settings
    return replace(settings, problems=(*settings.problems, KEPT_NO))


def settings_of(launch: Launch, trust: TrustState) -> Settings:
    """Return the settings in force.

    Raises:
        ConfigError: A value cannot be used.
    """
    return load_settings(
        launch.folder, environ=os.environ, home=Path.home(), flags=launch.flags, trust=trust
    )


def usable_settings_of(launch: Launch, trust: TrustState) -> Settings:
    """Return the settings in force, without the unusable plain values of files: `Settings.problems` tells of those.

    Raises:
        ConfigError: A flag, a variable, an endpoint, a credential, a mode or a rule cannot be used.
    """
    settings, errors = read_settings(
        launch.folder, environ=os.environ, home=Path.home(), flags=launch.flags, trust=trust
    )
    for error in errors:
        spec = find_spec(error.name)
        from_file = error.source != ENVIRONMENT and not error.source.startswith("--")
        if spec is None or spec.kind is not Kind.PLAIN or not from_file:
            raise error
    told = tuple(f"{error}. It is left out." for error in errors)
    return replace(settings, problems=(*settings.problems, *told))


def named_session(launch: Launch, settings: Settings, *, for_screen: bool = False) -> str | None:
    """Return the name of the session that the arguments name, before any copy; None for a new one."""
    from app.adapters.session_list import find_session, latest_session

    root = settings.transcripts
    if launch.resume:
        return find_session(root, launch.resume)
    if launch.go_on or launch.resume == "":
        return latest_session(root, for_screen=for_screen)
    return None


def wanted_session(launch: Launch, settings: Settings, *, for_screen: bool = False) -> str | None:
    """Return the name of the session that the arguments ask for, a copy where they say so; None for a new one."""
    from app.adapters.session_changes import fork_session

    name = named_session(launch, settings, for_screen=for_screen)
    return fork_session(settings.transcripts, name) if launch.fork and name else name
