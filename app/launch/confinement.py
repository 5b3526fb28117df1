"""The sandbox of a run: what confines commands, and when."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.adapters import git_stores
from app.core.own_folders import CONFIG_FOLDER
from app.core.permission import Mode, usable_modes
from app.errors import ConfigError
from app.launch.new_repositories import disable_new, repositories
from app.permission.collecting import needs_confinement
from app.permission.script import parse_script
from app.settings import Settings

if TYPE_CHECKING:
    from app.adapters.sandbox import Sandbox
    from app.permission.places import Places

SCRATCH = (
    "/tmp is a folder for confined commands alone: it lasts until the end, other tools do not see it; "
    "write into the project what they shall read"
)


def find_sandbox(settings: Settings) -> Sandbox:
    """Return the sandbox that works here, tried once, or the one that confines nothing; blocks for some seconds."""
    from app.adapters import sandbox

    if settings.sandbox == "off":
        return sandbox.switched_off(settings.folder)
    return sandbox.probe(
        settings.folder,
        protected=[settings.transcripts],
        hidden=[Path.home() / CONFIG_FOLDER],
        home=Path.home(),
        environment=os.environ,
    )


def check_sandbox(settings: Settings, sandbox: Sandbox) -> None:
    """Refuse settings that need a sandbox where none works.

    Raises:
        ConfigError: There is none, and it is required, by itself or by mode auto.
    """
    if settings.sandbox == "require" and not sandbox.works:
        raise ConfigError(
            "sandbox",
            f"it is required, but there is none: {sandbox.detail}",
            source=settings.source("sandbox"),
            hint="Install bubblewrap, or set sandbox to auto.",
        )
    if settings.mode not in usable_modes(confined=sandbox.works):
        raise ConfigError(
            "mode",
            f"auto needs a working sandbox, and there is none: {sandbox.detail}",
            source=settings.source("mode"),
            hint="Install bubblewrap, or use --accept-edits.",
        )


@dataclass(slots=True)
class Confinement:
    """Puts commands into the sandbox.

    In mode auto nobody has seen the command, so it is confined and without network. In the other modes the user has
    allowed it, and it runs as the user would run it, unless the setting asks for the sandbox always. What runs the
    project's own code only to look is not asked for and can write nothing.
    """

    settings: Settings
    sandbox: Sandbox
    mode: Callable[[], Mode]
    places: Places
    _confined: bool = False
    """Whether the last command was, and could write."""
    _told: bool = False
    _known: frozenset[Path] = frozenset()
    """Repositories in the project before the last command, if it was confined and could write."""

    def wrap(self, argv: Sequence[str], cwd: Path) -> Sequence[str]:
        """Return the command line that runs ``argv`` as it has to be run. Blocks."""
        automatic = self.mode() is Mode.AUTO
        self._confined = False
        if needs_confinement(parse_script(argv[-1], str(self.places.folder)), self.places):
            return self.sandbox.wrap(argv, cwd, writable=False)
        if automatic or self.settings.sandbox == "require":
            self._confined = self.sandbox.works
            root = self.sandbox.root
            stores = git_stores.find(root) if self._confined else ()
            self._known = repositories(root, stores) if self._confined else frozenset()
            return self.sandbox.wrap(argv, cwd, network=not automatic, stores=stores)
        return argv

    def remark(self) -> str:
        """Return what the model and the user must know of where the last command ran, "" for nothing. Blocks."""
        if not self._confined:
            return ""
        said = [disable_new(self.sandbox.root, self._known)]
        if not self._told and self.sandbox.scratch_in_use:
            self._told = True
            said.append(SCRATCH)
        return "; ".join(filter(None, said))


def shell_note(settings: Settings, sandbox: Sandbox) -> str:
    """Return what the model is told about commands; the same for a whole session, whatever the mode."""
    if settings.sandbox == "require":
        return sandbox.describe()
    return "they run in a shell of their own, without a terminal; standard input is closed"
