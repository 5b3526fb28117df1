"""The graph of a session: record, model, tools, sandbox and permission put together, in this one place.

It imports everything, so the screen imports it in a thread after the first paint.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from app.adapters.anthropic_model import AnthropicModel
from app.adapters.clock import SystemClock
from app.adapters.demo import DEMO_MODEL_ID
from app.adapters.journal import Journal
from app.adapters.journal_masking import Masking
from app.adapters.own_environment import hide_environment
from app.adapters.sandbox import Sandbox
from app.adapters.shfmt import find_shfmt, programs_named
from app.agent.own_commands import MOST_SECONDS
from app.agent.parts import SessionParts, ToolNeeds
from app.agent.prompt import Surroundings
from app.agent.session import Session
from app.core import remarks
from app.core.messages import JsonObject
from app.core.permission import Judgement, Mode, Rule, Verdict
from app.core.ports import Approver, Tool
from app.launch.confinement import Confinement, check_sandbox, shell_note
from app.launch.crash import tool_fault
from app.launch.endpoint import build_model, is_tour, never, uses_demo, window_finder
from app.launch.masking import mask_of, own_keys
from app.permission.judge import judge
from app.permission.places import Places
from app.settings import Settings
from app.settings.granted import grant, withdraw
from app.tools.atomic import remove_leftovers
from app.tools.bash import BashTool
from app.tools.checkpoints import Checkpoints
from app.tools.environment import child_environment
from app.tools.process import Processes
from app.tools.read_file import read_lines
from app.tools.registry import CheckedTool, build_tools
from app.tools.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Opened:
    """A session and what must be ended after it."""

    session: Session
    model: AnthropicModel
    processes: Processes


async def open_session(
    settings: Settings, sandbox: Sandbox, approver: Approver, name: str | None
) -> Opened:
    """Open a session by name, or a new one for None.

    Raises:
        ConfigError: The settings need a sandbox, and none works.
        RecordError: The record cannot be opened or written.
    """
    check_sandbox(settings, sandbox)
    hide_environment()
    folder, root = settings.folder, settings.transcripts
    await asyncio.to_thread(remove_leftovers, folder)
    record = await _record(settings, name)
    workspace = Workspace(folder, protected=[root])
    environment = child_environment(os.environ, project=folder)
    places = Places.of(folder, Path.home(), [root], search_path=environment.get("PATH", ""))
    shfmt = find_shfmt(folder)
    second = partial(programs_named, shfmt=shfmt) if shfmt else None
    processes = Processes(folder, environment)
    checkpoints = Checkpoints(workspace, record.contents, partial(record.remark, remarks.FILES))
    demo = uses_demo(settings)
    model = build_model(settings, demo=demo)

    def tools(needs: ToolNeeds) -> Mapping[str, Tool]:
        confinement = Confinement(settings, sandbox, needs.mode, places)
        return build_tools(
            workspace,
            record=record,
            set_todo=needs.set_todo,
            processes=processes,
            wrap=confinement.wrap,
            remark=confinement.remark,
            checkpoints=checkpoints,
            changes_nothing=changes_nothing,
            room=needs.room,
            bash_seconds=round(settings.bash_timeout),
            bash_max_seconds=round(settings.bash_max_timeout),
            keys=own_keys(settings),
        )

    def changes_nothing(command: str) -> bool:
        looked = judge("bash", {"command": command}, mode=Mode.ASK, rules=(), places=places)
        return looked.verdict is Verdict.ALLOW

    def judge_call(
        tool: str, arguments: JsonObject, mode: Mode, rules: tuple[Rule, ...]
    ) -> Judgement:
        return judge(
            tool,
            arguments,
            mode=mode,
            rules=rules,
            places=places,
            sandboxed=sandbox.works,
            second=second,
        )

    def admit(tool: str, arguments: JsonObject) -> None:
        """Let a tool read an outside path that the rules or the user allowed."""
        path = arguments.get("path")
        place = places.look(path) if isinstance(path, str) else None
        if place is not None and not place.inside:
            workspace.grant(str(path))

    async def refuge() -> str:
        place = Path(tempfile.mkdtemp(prefix="pal-record-"))
        await record.move(place, display_root=str(place))
        return str(place)

    session = await Session.open(
        SessionParts(
            record=record,
            model=model,
            approver=approver,
            clock=SystemClock(),
            surroundings=Surroundings(
                folder=folder,
                date=datetime.now(UTC).date().isoformat(),
                shell_note=shell_note(settings, sandbox),
            ),
            tools=tools,
            judge=judge_call,
            checkpoints=checkpoints,
            read_lines=lambda path, first, last: read_lines(workspace, path, first, last),
            policy=settings.policy,
            model_id=DEMO_MODEL_ID if demo else settings.model,
            window_of=window_finder(settings, demo=demo),
            admitted=admit,
            keep_rule=partial(grant, folder=folder, home=Path.home()),
            drop_rule=partial(withdraw, folder=folder, home=Path.home()),
            refuge=refuge,
            fault=lambda error: tool_fault(error, mask_of(settings)),
            own_shell=CheckedTool(
                # What the user's own commands change is the user's, and no rewind takes it back.
                BashTool(
                    folder,
                    processes,
                    _as_it_is,
                    checkpoints,
                    lambda _command: True,
                    max_seconds=MOST_SECONDS,
                ),
                own_keys(settings),
            ),
            is_tour=is_tour if demo else never,
            max_output_tokens=settings.max_output_tokens,
            mode=settings.mode,
            rules=settings.rules,
        )
    )
    return Opened(session, model, processes)


def _as_it_is(argv: Sequence[str], _folder: Path) -> Sequence[str]:
    """Confine nothing: what users run themselves has their rights."""
    return argv


async def _record(settings: Settings, name: str | None) -> Journal:
    root, clock, display = settings.transcripts, SystemClock(), _display_root(settings)
    masking = Masking(mask_of(settings), in_view=settings.mask_secrets == "view")
    if name is not None:
        return await Journal.open(root, name, clock=clock, display_root=display, masking=masking)
    return await Journal.create(
        root,
        clock=clock,
        display_root=display,
        ignored=not settings.commit_transcripts,
        masking=masking,
    )


def _display_root(settings: Settings) -> str:
    root = settings.transcripts
    if root.is_relative_to(settings.folder):
        return root.relative_to(settings.folder).as_posix()
    return str(root)
