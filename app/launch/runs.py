"""What runs: the screen, one turn without it, the doctor."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import signal
import sys
from contextlib import aclosing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.adapters.own_environment import forget_keys
from app.core.own_folders import STATE_FOLDER
from app.errors import ConfigError, PalError
from app.launch.crash import crash_error, crashes_told
from app.launch.endpoint import build_model
from app.launch.launch_options import (
    Launch,
    settings_of,
    trust_of,
    trust_question,
    usable_settings_of,
    wanted_session,
    with_kept_no,
)
from app.launch.masking import mask_of, own_keys
from app.launch.opening import Opening
from app.settings import Settings, read_settings, read_trust, save_user_setting

if TYPE_CHECKING:
    from app.agent.session import Session
    from app.ui.app import PalApp

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Signals that end the screen in order: a closed terminal must not leave commands behind."""


def run_text(launch: Launch, text: str, output: str) -> int:
    """Run one turn without a screen; return the exit code."""
    from app.adapters.session_info import was_printed
    from app.headless import Output, Refuser, run_headless, stdin_text

    settings = _told_settings(launch)
    _require_model(settings)
    piped = stdin_text()
    prompt = "\n\n".join(part for part in (text, piped) if part.strip())
    if not prompt:
        raise ConfigError("-p", "there is nothing to ask", hint="Give a text, or pipe one in.")

    async def run() -> int:
        name = wanted_session(launch, settings)
        if name is None and (launch.go_on or launch.resume is not None):
            _say("there is no earlier session in this folder; a new one begins")
        async with aclosing(Opening(launch, settings)) as opening:
            printed = name is None or was_printed(settings.transcripts / name)
            session = await opening.open(Refuser(), name)
            if printed:
                session.without_screen()
            return await run_headless(
                session, prompt, Output(output), out=sys.stdout, err=sys.stderr
            )

    with crashes_told(mask_of(settings)):
        return asyncio.run(run())


def run_plain(launch: Launch) -> int:
    """Talk line by line, for a terminal that draws no screen; return the exit code."""
    from app.plain import PlainApprover, standard_lines, talk

    settings = _told_settings(launch)

    async def run() -> int:
        lines = standard_lines()
        approver = PlainApprover(lines, sys.stdout)
        async with aclosing(Opening(launch, settings)) as opening:
            name = wanted_session(launch, settings, for_screen=True)
            session = await opening.open(approver, name)
            learning = asyncio.create_task(_learn_model(session))
            try:
                return await talk(session, lines, out=sys.stdout, err=sys.stderr)
            finally:
                learning.cancel()
                await asyncio.wait([learning])

    with crashes_told(mask_of(settings)):
        return asyncio.run(run())


async def _learn_model(session: Session) -> None:
    """Load what reaches the endpoint, and ask it about the model, while the user types the first message."""
    with suppress(PalError):
        await session.learn_model()


def _told_settings(launch: Launch) -> Settings:
    """Return the settings in force where nobody can be asked about trust, and say what is left out of them.

    Raises:
        ConfigError: A value cannot be used.
    """
    question = trust_question(launch)
    trust = trust_of(launch, question)
    settings = with_kept_no(settings_of(launch, trust), trust)
    if question is not None and not launch.trust:
        _say("this folder's own settings are ignored: it is not trusted (--trust uses them)")
    for notice in (*settings.problems, *map(str, settings.conflicts)):
        _say(notice)
    return settings


def run_screen(launch: Launch) -> int:
    """Run the screen, or talk line by line where none can be drawn; return the exit code."""
    if os.environ.get("TERM") == "dumb":
        return run_plain(launch)
    gc.disable()  # until the session is open: nothing that is made on the way there is garbage
    app, opening = screen(launch)

    async def run() -> None:
        for number in ENDING:
            leave = partial(app.exit, return_code=128 + number)
            asyncio.get_running_loop().add_signal_handler(number, leave)
        async with aclosing(opening):  # on the loop that watches the commands
            await app.run_async()

    with crashes_told(opening.mask):
        asyncio.run(run())
    if app.parting and not app.return_code:
        print(app.parting)
    return app.return_code or 0


def screen(launch: Launch) -> tuple[PalApp, Opening]:
    """Return the app, not yet running, and what opens its sessions; close that afterwards."""
    from app.ui.app import PalApp
    from app.ui.wiring import Wiring

    question = trust_question(launch)
    trust = trust_of(launch, question)
    settings = usable_settings_of(launch, trust)
    settings = settings if question is not None else with_kept_no(settings, trust)
    asked = None if launch.trust else question
    opening = Opening(launch, settings)
    state = Path.home() / STATE_FOLDER
    wiring = Wiring(
        open_session=opening.open_first,
        settings=settings,
        reopen=opening.open,
        open_unsaved=opening.open_unsaved,
        shelf=opening.shelf,
        trust=asked,
        answer_trust=opening.answer_trust(asked) if asked is not None else None,
        save_setting=_save_setting,
        settings_changed=opening.use,
        state_folder=state,
        mask=opening.mask,
        crashed=lambda error: crash_error(error, opening.mask),
        first_run=not state.exists(),
        sandbox=opening.sandbox_name,
        choose=launch.resume == "" and not launch.go_on,
    )
    return PalApp(wiring), opening


def run_doctor_command(options: argparse.Namespace) -> int:
    """Run ``pal doctor``; return the exit code."""
    from app.adapters.retry import RetryPolicy
    from app.doctor import run_doctor
    from app.launch.confinement import find_sandbox
    from app.settings.flags import assignments

    launch = Launch(Path(options.folder).resolve(), assignments(options.set), options.trust)
    settings, errors = read_settings(
        launch.folder,
        environ=os.environ,
        home=Path.home(),
        flags=launch.flags,
        trust=trust_of(launch, trust_question(launch)),
    )
    forget_keys(own_keys(settings))
    sandbox = find_sandbox(settings)
    try:
        model = build_model(settings, demo=settings.demo, retry=RetryPolicy(attempts=1))
        with crashes_told(mask_of(settings)):
            return asyncio.run(
                run_doctor(
                    settings,
                    model=model,
                    errors=errors,
                    sandbox=sandbox.detail if sandbox.works else "",
                    why_no_sandbox=sandbox.detail,
                    as_json=options.json,
                )
            )
    finally:
        sandbox.close()


def run_rules_command(arguments: list[str]) -> int:
    """Run ``pal rules``; return the exit code."""
    from app.launch.confinement import find_sandbox
    from app.launch.judging import judge_of
    from app.rules_cli import run
    from app.tools.environment import child_environment

    launch, home = Launch(Path.cwd(), {}), Path.home()
    settings = settings_of(launch, read_trust(launch.folder, home=home))
    search_path = child_environment(os.environ, project=settings.folder).get("PATH", "")
    sandbox = find_sandbox(settings)
    try:
        judge = judge_of(settings, home=home, search_path=search_path, sandboxed=sandbox.works)
        return run(arguments, settings, home, judge=judge)
    finally:
        sandbox.close()


def transcripts_of(folder: Path) -> Path:
    """Return where the sessions of a folder are, under the settings that hold there."""
    trust = read_trust(folder, home=Path.home())
    return usable_settings_of(Launch(folder, {}), trust).transcripts


def _require_model(settings: Settings) -> None:
    """Stop where nobody can be asked: there must be a key and a model, or ``--demo``.

    Raises:
        ConfigError: One is missing.
    """
    if settings.demo:
        return
    if settings.needs_key:
        raise ConfigError(
            "ANTHROPIC_API_KEY",
            "no key is set",
            hint="Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN (environment or .env); with --demo the embedded "
            "demo model answers, which a script gets only when it asks for it.",
        )
    if not settings.model:
        raise ConfigError(
            "MODEL_ID",
            "there is a key but no model is chosen",
            hint="Set MODEL_ID or --model; pal doctor lists what the endpoint offers.",
        )


def _save_setting(name: str, value: str) -> None:
    save_user_setting(Path.home(), name, value)


def _say(text: str) -> None:
    from app.core.visible_text import visible_text

    print(f"pal: {visible_text(text)}", file=sys.stderr)
