"""From settings to a running session: the one place where all parts are put together."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.core.permission import Mode
from app.core.prices import Price
from app.errors import ConfigError
from app.settings import (
    DEFAULT,
    Level,
    Settings,
    TrustQuestion,
    TrustState,
    load_settings,
    pending_trust,
    read_settings,
    read_trust,
    remember_trust,
    save_user_setting,
    trust_now,
)

if TYPE_CHECKING:
    from app.adapters.anthropic_model import AnthropicModel
    from app.adapters.sandbox import Sandbox
    from app.agent.session import Session
    from app.core.ports import Approver
    from app.core.requests import ModelInfo
    from app.tools.bash import Wrap
    from app.ui.app import PalApp
    from app.ui.wiring import SessionCard

WindowOf = Callable[["ModelInfo | None", str], tuple[int, str]]
STATE_FOLDER = Path(".local") / "state" / "palimpsest"
"""Prompt history and other things that may be deleted, in the home folder."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What the arguments ask for."""

    folder: Path
    """The project folder, absolute."""
    flags: dict[str, str]
    """Settings by name, as text."""
    trust: bool = False
    """Whether the folder's own files count in this run."""
    resume: str | None = None
    """A session's name or its beginning; "" to choose; None for a new one."""
    go_on: bool = False
    """Whether to go on with the session that was used last."""
    fork: bool = False
    """Whether to go on with a copy of the session instead."""


def run_text(launch: Launch, text: str, output: str) -> int:
    """Run one turn without a screen; return the exit code."""
    from app.headless import Output, Refuser, run_headless, stdin_text

    question = _question(launch)
    settings = _settings(launch, _trust(launch, question))
    if question is not None and not launch.trust:
        _say("this folder's own settings are ignored: it is not trusted (--trust uses them)")
    for notice in (*settings.problems, *map(str, settings.conflicts)):
        _say(notice)
    _require_model(settings)
    piped = stdin_text()
    prompt = "\n\n".join(part for part in (text, piped) if part.strip())
    if not prompt:
        raise ConfigError("-p", "there is nothing to ask", hint="Give a text, or pipe one in.")

    async def run() -> int:
        opening = Opening(launch, settings)
        name = _wanted_session(launch, settings)
        if name is None and (launch.go_on or launch.resume is not None):
            _say("there is no earlier session in this folder; a new one begins")
        session = await opening.open(Refuser(), name)
        try:
            return await run_headless(
                session, prompt, Output(output), out=sys.stdout, err=sys.stderr
            )
        finally:
            await session.close()
            await opening.close()

    return asyncio.run(run())


def run_screen(launch: Launch) -> int:
    """Run the screen; return the exit code."""
    gc.disable()  # until the session is open: nothing that is made on the way there is garbage
    app, opening = screen(launch)
    try:
        app.run()
    finally:
        asyncio.run(opening.close())
    return app.return_code or 0


def screen(launch: Launch) -> tuple[PalApp, Opening]:
    """Return the app, not yet running, and what opens its sessions; close that afterwards."""
    from app.ui.app import PalApp
    from app.ui.wiring import Wiring

    question = _question(launch)
    settings = _settings(launch, _trust(launch, question))
    asked = None if launch.trust else question
    opening = Opening(launch, settings)
    state = Path.home() / STATE_FOLDER
    wiring = Wiring(
        open_session=opening.open_first,
        settings=settings,
        reopen=opening.open,
        list_sessions=opening.cards,
        trust=asked,
        answer_trust=opening.answer_trust(asked) if asked is not None else None,
        save_setting=_save_setting,
        state_folder=state,
        first_run=not state.exists(),
        sandbox=opening.sandbox_name,
        choose=launch.resume == "" and not launch.go_on,
    )
    return PalApp(wiring), opening


def run_doctor_command(options: argparse.Namespace) -> int:
    """Run ``pal doctor``; return the exit code."""
    from app.adapters.retry import RetryPolicy
    from app.doctor import run_doctor
    from app.settings.flags import assignments

    launch = Launch(Path(options.folder).resolve(), assignments(options.set), options.trust)
    settings, errors = read_settings(
        launch.folder,
        environ=os.environ,
        home=Path.home(),
        flags=launch.flags,
        trust=_trust(launch, _question(launch)),
    )
    sandbox = _probe(settings)
    try:
        model = build_model(settings, demo=settings.demo, retry=RetryPolicy(attempts=1))
        return asyncio.run(
            run_doctor(
                settings,
                model=model,
                errors=errors,
                sandbox=sandbox.detail if sandbox.works else "",
                as_json=options.json,
            )
        )
    finally:
        sandbox.close()


def transcripts_of(folder: Path) -> Path:
    """Return where the sessions of a folder are, under the settings that hold there."""
    return _settings(Launch(folder, {}), read_trust(folder, home=Path.home())).transcripts


class Opening:
    """Opens the sessions of one run: the same folder and settings, each with a record of its own."""

    def __init__(self, launch: Launch, settings: Settings) -> None:
        self._launch = launch
        self._settings = settings
        self._sandbox: Sandbox | None = None
        self._processes: list[Any] = []
        self._warming: asyncio.Task[None] | None = None
        """Loads the SDK in a thread while the user types the first message."""

    async def open_first(self, approver: Approver) -> Session:
        """Open the session that the arguments name, or a new one; without a name the screen lets choose."""
        launch = self._launch
        choosing = launch.resume == "" and not launch.go_on
        name = (
            None if choosing else await asyncio.to_thread(_wanted_session, launch, self._settings)
        )
        return await self.open(approver, name)

    async def open(self, approver: Approver, name: str | None) -> Session:
        """Open a session by name, or a new one for None."""
        await asyncio.to_thread(_import_parts)
        from app.adapters.clock import SystemClock
        from app.adapters.journal import Journal
        from app.adapters.sandbox import hide_environment
        from app.agent.parts import SessionParts, ToolNeeds
        from app.agent.prompt import Surroundings
        from app.agent.session import Session
        from app.permission.judge import judge
        from app.permission.places import Places
        from app.tools.atomic import remove_leftovers
        from app.tools.environment import child_environment
        from app.tools.process import Processes
        from app.tools.read_file import read_lines
        from app.tools.registry import build_tools
        from app.tools.workspace import Workspace

        settings = self._settings
        hide_environment()
        await asyncio.to_thread(remove_leftovers, settings.folder)
        folder, root = settings.folder, settings.transcripts
        clock = SystemClock()
        if self._sandbox is None:
            self._sandbox = await asyncio.to_thread(_probe, settings)
        sandbox = self._sandbox
        _check_mode(settings, sandbox)
        display = _display_root(settings)
        if name is None:
            record = await Journal.create(
                root, clock=clock, display_root=display, ignored=not settings.commit_transcripts
            )
        else:
            record = await Journal.open(root, name, clock=clock, display_root=display)
        workspace = Workspace(folder, protected=[root])
        places = Places.of(folder, Path.home(), [root])
        processes = Processes(folder, child_environment(os.environ, project=folder))
        self._processes.append(processes)
        demo = uses_demo(settings)
        model_id = _demo_id() if demo else settings.model

        async def refuge() -> str:
            place = Path(tempfile.mkdtemp(prefix="pal-record-"))
            await record.move(place, display_root=str(place))
            return str(place)

        def tools(needs: ToolNeeds) -> Any:
            return build_tools(
                workspace,
                record=record,
                set_todo=needs.set_todo,
                processes=processes,
                wrap=_confinement(settings, sandbox, needs.mode),
                policy=needs.policy,
                bash_seconds=round(settings.bash_timeout),
            )

        model = build_model(settings, demo=demo)
        session = await Session.open(
            SessionParts(
                record=record,
                model=model,
                approver=approver,
                clock=clock,
                surroundings=Surroundings(
                    folder=folder,
                    date=datetime.now(UTC).date().isoformat(),
                    shell_note=_shell_note(settings, sandbox),
                ),
                tools=tools,
                judge=lambda tool, arguments, mode, rules: judge(
                    tool,
                    arguments,
                    mode=mode,
                    rules=rules,
                    places=places,
                    sandboxed=sandbox.works,
                ),
                read_lines=lambda path, first, last: read_lines(workspace, path, first, last),
                policy=settings.policy,
                model_id=model_id,
                window_of=_window_of(settings, demo=demo),
                admitted=lambda tool, arguments: _grant(workspace, places, arguments),
                refuge=refuge,
                is_tour=_is_tour if demo else _never,
                max_output_tokens=settings.max_output_tokens,
                mode=settings.mode,
                rules=settings.rules,
            )
        )
        self._warming = asyncio.create_task(model.warm_up())
        return session

    def sandbox_name(self) -> str:
        """Return what confines commands; "" when nothing does, or before a session is open."""
        return self._sandbox.kind.value if self._sandbox is not None and self._sandbox.works else ""

    async def cards(self) -> tuple[SessionCard, ...]:
        """Return the earlier sessions of this folder, the last used one first."""
        from app.adapters.session_list import list_sessions
        from app.ui.wiring import SessionCard

        infos = await asyncio.to_thread(list_sessions, self._settings.transcripts)
        return tuple(
            SessionCard(
                name=info.name,
                first_words=info.title or info.words,
                time=info.last,
                messages=info.messages,
                compactions=info.compactions,
                model=info.model,
                size=info.size,
            )
            for info in infos
        )

    def answer_trust(self, question: TrustQuestion) -> Any:
        """Return what stores the answer to a question and gives the settings that hold with it.

        It raises `ConfigError`, and stores nothing, when the folder's files cannot be used.
        """

        def answer(level: Level) -> Settings:
            state = read_trust(self._launch.folder, home=Path.home())
            self._settings = _settings(self._launch, trust_now(question, state, level))
            remember_trust(question, level, home=Path.home())
            return self._settings

        return answer

    async def close(self) -> None:
        """End the commands that still run and delete the sandbox's folder."""
        for processes in self._processes:
            await processes.close()
        if self._sandbox is not None:
            self._sandbox.close()


def build_model(settings: Settings, *, demo: bool, retry: Any = None) -> AnthropicModel:
    """Return the model: the endpoint of the settings, or the embedded one behind the same client."""
    from app.adapters.anthropic_model import DEFAULT_RETRY, AnthropicModel
    from app.adapters.demo import DEMO_API_KEY, DEMO_BASE_URL

    retry = retry or replace(DEFAULT_RETRY, attempts=settings.attempts)
    if demo:
        return AnthropicModel(
            base_url=DEMO_BASE_URL,
            api_key=DEMO_API_KEY,
            transport=_demo_transport,
            retry=retry,
            price=Price(0, 0, 0, 0),
        )
    chosen = settings.source("request_timeout") != DEFAULT
    return AnthropicModel(
        base_url=settings.base_url,
        api_key=settings.api_key,
        auth_token=settings.auth_token,
        retry=retry,
        silence=settings.request_timeout if chosen else None,
        price=settings.price,
    )


def _window_of(settings: Settings, *, demo: bool) -> WindowOf:
    from app.adapters.demo import DEMO_WINDOW
    from app.adapters.model_table import window_of

    def find(info: ModelInfo | None, model: str) -> tuple[int, str]:
        if demo:
            return min(settings.context_window or DEMO_WINDOW, DEMO_WINDOW), "endpoint"
        return window_of(model, info, settings.context_window, official=settings.official)

    return find


def _confinement(settings: Settings, sandbox: Sandbox, mode: Callable[[], Mode]) -> Wrap:
    """Return what puts a command into the sandbox.

    In mode auto nobody has seen the command, so it is confined and without network. In the other modes the user has
    allowed it, and it runs as the user would run it, unless the setting asks for the sandbox always.
    """

    def wrap(argv: Sequence[str], cwd: Path) -> Sequence[str]:
        automatic = mode() is Mode.AUTO
        if automatic or settings.sandbox == "require":
            return sandbox.wrap(argv, cwd, network=not automatic)
        return argv

    return wrap


def _shell_note(settings: Settings, sandbox: Sandbox) -> str:
    """Return what the model is told about commands; the same for a whole session, whatever the mode."""
    if settings.sandbox == "require":
        return sandbox.describe()
    return "they run in a shell of their own, without a terminal; standard input is closed"


def uses_demo(settings: Settings) -> bool:
    """Whether the embedded model answers: asked for, or nothing else can."""
    return settings.demo or settings.needs_key


def _demo_transport() -> Any:
    from app.adapters.demo.transport import DemoTransport

    return DemoTransport()


def _is_tour(text: str) -> bool:
    from app.adapters.demo.understanding import understand
    from app.adapters.demo.wishes import Kind

    return understand(text).kind is Kind.TOUR


def _never(text: str) -> bool:
    return False


def _demo_id() -> str:
    from app.adapters.demo import DEMO_MODEL_ID

    return DEMO_MODEL_ID


def _import_parts() -> None:
    """Import what a session needs, away from the event loop: the screen goes on taking keys."""
    import app.adapters.anthropic_model
    import app.adapters.journal
    import app.agent.session
    import app.permission.judge
    import app.tools.registry  # noqa: F401


def _question(launch: Launch) -> TrustQuestion | None:
    return pending_trust(launch.folder, environ=os.environ, home=Path.home(), flags=launch.flags)


def _trust(launch: Launch, question: TrustQuestion | None) -> TrustState:
    state = read_trust(launch.folder, home=Path.home())
    return trust_now(question, state, Level.ALL) if launch.trust else state


def _settings(launch: Launch, trust: TrustState) -> Settings:
    return load_settings(
        launch.folder, environ=os.environ, home=Path.home(), flags=launch.flags, trust=trust
    )


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
            hint="Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN (environment or .env), or try --demo.",
        )
    if not settings.model:
        raise ConfigError(
            "MODEL_ID",
            "there is a key but no model is chosen",
            hint="Set MODEL_ID or --model; pal doctor lists what the endpoint offers.",
        )


def _wanted_session(launch: Launch, settings: Settings) -> str | None:
    """Return the name of the session that the arguments ask for; None for a new one."""
    from app.adapters.session_list import find_session, fork_session, latest_session

    root = settings.transcripts
    if launch.resume:
        name: str | None = find_session(root, launch.resume)
    elif launch.go_on or launch.resume == "":
        name = latest_session(root)
    else:
        return None
    return fork_session(root, name) if launch.fork and name else name


def _probe(settings: Settings) -> Sandbox:
    from app.adapters import sandbox

    if settings.sandbox == "off":
        return sandbox.switched_off(settings.folder)
    found = sandbox.probe(
        settings.folder,
        protected=[settings.transcripts],
        hidden=[Path.home() / ".config" / "palimpsest"],
    )
    if settings.sandbox == "require" and not found.works:
        raise ConfigError(
            "sandbox", f"it is required, but there is none: {found.detail}",
            hint="Install bubblewrap, or set sandbox to auto.",
        )  # fmt: skip
    return found


def _check_mode(settings: Settings, sandbox: Sandbox) -> None:
    if settings.mode is Mode.AUTO and not sandbox.works:
        raise ConfigError(
            "mode",
            f"auto needs a working sandbox, and there is none: {sandbox.detail}",
            source=settings.source("mode"),
            hint="Install bubblewrap, or use --accept-edits.",
        )


def _display_root(settings: Settings) -> str:
    root = settings.transcripts
    if root.is_relative_to(settings.folder):
        return root.relative_to(settings.folder).as_posix()
    return str(root)


def _grant(workspace: Any, places: Any, arguments: Any) -> None:
    """Let a tool read an outside path that the rules or the user allowed."""
    path = arguments.get("path")
    place = places.look(path) if isinstance(path, str) else None
    if place is not None and not place.inside:
        workspace.grant(path)


def _save_setting(name: str, value: str) -> None:
    save_user_setting(Path.home(), name, value)


def _say(text: str) -> None:
    from app.core.visible_text import visible_text

    print(f"pal: {visible_text(text)}", file=sys.stderr)
