"""What a session works with in its folder: tools, commands, kept files and permission, which share one workspace."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from app.adapters.journal import Journal
from app.adapters.sandbox import Sandbox
from app.agent.own_commands import MOST_SECONDS
from app.agent.parts import ToolNeeds
from app.core import remarks
from app.core.messages import JsonObject
from app.core.ports import Tool
from app.launch.confinement import Confinement
from app.launch.judging import Judge, judge_of
from app.launch.masking import own_keys
from app.settings import Settings
from app.tools.bash import BashTool
from app.tools.checkpoints import Checkpoints
from app.tools.environment import child_environment
from app.tools.process import Processes
from app.tools.registry import CheckedTool, build_tools
from app.tools.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Hands:
    """The hands of one session."""

    settings: Settings
    sandbox: Sandbox
    record: Journal
    workspace: Workspace
    processes: Processes
    checkpoints: Checkpoints
    judge: Judge

    @classmethod
    def of(cls, settings: Settings, sandbox: Sandbox, record: Journal) -> Hands:
        """Return what the settings give."""
        folder = settings.folder
        workspace = Workspace(folder, protected=[settings.transcripts])
        environment = child_environment(os.environ, project=folder)
        return cls(
            settings,
            sandbox,
            record,
            workspace,
            Processes(folder, environment),
            Checkpoints(workspace, record.contents, partial(record.remark, remarks.FILES)),
            judge_of(
                settings,
                home=Path.home(),
                search_path=environment.get("PATH", ""),
                sandboxed=sandbox.works,
            ),
        )

    def tools(self, needs: ToolNeeds) -> Mapping[str, Tool]:
        """Return the model's tools."""
        confinement = Confinement(self.settings, self.sandbox, needs.mode, self.judge.places)
        return build_tools(
            self.workspace,
            record=self.record,
            set_todo=needs.set_todo,
            processes=self.processes,
            wrap=confinement.wrap,
            remark=confinement.remark,
            checkpoints=self.checkpoints,
            changes_nothing=self.judge.changes_nothing,
            room=needs.room,
            bash_seconds=round(self.settings.bash_timeout),
            bash_max_seconds=round(self.settings.bash_max_timeout),
            keys=own_keys(self.settings),
        )

    def own_shell(self) -> Tool:
        """Return what runs the user's own commands: what they change is the user's, and no rewind takes it back."""
        shell = BashTool(
            self.workspace.root,
            self.processes,
            _as_it_is,
            self.checkpoints,
            lambda _command: True,
            max_seconds=MOST_SECONDS,
        )
        return CheckedTool(shell, own_keys(self.settings))

    def admit(self, tool: str, arguments: JsonObject) -> None:
        """Let a tool read an outside path that the rules or the user allowed."""
        path = arguments.get("path")
        place = self.judge.places.look(path) if isinstance(path, str) else None
        if place is not None and not place.inside:
            self.workspace.grant(str(path))


def _as_it_is(argv: Sequence[str], _folder: Path) -> Sequence[str]:
    """Confine nothing: what users run themselves has their rights."""
    return argv
