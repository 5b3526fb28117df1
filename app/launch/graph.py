"""The graph of a session: record, model, tools, sandbox and permission put together, in this one place.

It imports everything, so the screen imports it in a thread after the first paint.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from app.adapters.clock import SystemClock
from app.adapters.demo import DEMO_MODEL_ID
from app.adapters.journal import Journal
from app.adapters.journal_masking import Masking
from app.adapters.own_environment import hide_environment
from app.adapters.sandbox import Sandbox
from app.agent.parts import SessionParts
from app.agent.prompt import Surroundings
from app.agent.session import Session
from app.core.own_folders import STATE_FOLDER
from app.core.ports import Approver
from app.launch.confinement import check_sandbox, shell_note
from app.launch.crash import tool_fault
from app.launch.endpoint import build_model, is_tour, never, window_finder
from app.launch.hands import Hands
from app.launch.masking import mask_of
from app.settings import Settings
from app.settings.kept_rules import grant, withdraw
from app.tools.atomic import remove_leftovers
from app.tools.read_file import read_lines

UNSAVED_PREFIX = "pal-record-"
"""Begins the name of a temporary folder for a record that cannot be where it belongs."""


async def open_session(
    settings: Settings,
    sandbox: Sandbox,
    approver: Approver,
    name: str | None,
    *,
    now: Callable[[], Settings],
) -> Session:
    """Open a session by name, or a new one for None.

    Args:
        settings: What it begins with.
        sandbox: What confines its commands.
        approver: Whom it asks.
        name: Its name.
        now: Returns the settings in force, for those that change while it runs.

    Raises:
        ConfigError: The settings need a sandbox, and none works.
        RecordError: The record cannot be opened or written; it is let go of.
    """
    check_sandbox(settings, sandbox)
    hide_environment()
    await asyncio.to_thread(remove_leftovers, settings.folder)
    record = await _record(settings, name)
    try:
        return await Session.open(_parts(settings, sandbox, approver, record, now))
    except BaseException:
        await record.close()
        raise


def unsaved_place() -> Path:
    """Make a temporary folder for a record that cannot be where it belongs."""
    return Path(tempfile.mkdtemp(prefix=UNSAVED_PREFIX))


def _parts(
    settings: Settings,
    sandbox: Sandbox,
    approver: Approver,
    record: Journal,
    now: Callable[[], Settings],
) -> SessionParts:
    hands = Hands.of(settings, sandbox, record)
    demo, folder = settings.embedded, settings.folder
    return SessionParts(
        record=record,
        model=build_model(
            settings, demo=demo, price=lambda: now().price, state=Path.home() / STATE_FOLDER
        ),
        approver=approver,
        clock=SystemClock(),
        surroundings=Surroundings(
            folder=folder,
            date=datetime.now(UTC).date().isoformat(),
            shell_note=shell_note(settings, sandbox),
        ),
        tools=hands.tools,
        judge=hands.judge,
        checkpoints=hands.checkpoints,
        read_lines=partial(read_lines, hands.workspace),
        policy=settings.policy,
        model_id=DEMO_MODEL_ID if demo else settings.model,
        window_of=window_finder(now, demo=demo),
        admitted=hands.admit,
        keep_rule=partial(grant, folder=folder, home=Path.home()),
        drop_rule=partial(withdraw, folder=folder, home=Path.home()),
        refuge=partial(_move_away, record),
        fault=lambda error: tool_fault(error, mask_of(settings)),
        own_shell=hands.own_shell(),
        is_tour=is_tour if demo else never,
        release=hands.processes.close,
        max_output_tokens=settings.max_output_tokens,
        mode=settings.mode,
        rules=settings.rules,
    )


async def _move_away(record: Journal) -> str:
    place = unsaved_place()
    await record.move(place, display_root=str(place))
    return str(place)


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
