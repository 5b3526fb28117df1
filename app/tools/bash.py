"""bash: runs a command in the project folder and tells truthfully how it ended."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from app.core.conversation import NO_OUTPUT
from app.core.effects import Effects, Span
from app.core.finishing import to_its_end
from app.core.messages import JsonObject
from app.core.ports import Emit, Proposal, ToolOutcome
from app.core.requests import ToolSpec
from app.core.search_path import outside_of
from app.errors import ToolError
from app.tools.changes import Scan
from app.tools.checkpoints import Checkpoints, Effect
from app.tools.output import Collected
from app.tools.process import Finished, Job, Processes, run
from app.tools.shown_lines import lines_shown

Wrap = Callable[[Sequence[str], Path], Sequence[str]]
"""Puts a command line and its folder into a sandbox; returns the command line as it came when there is none."""

DEFAULT_SECONDS = 120
TARGET_CHARS = 200
CLOSED_INPUT = (
    "standard input is closed and there is no terminal, so a program that asks gets no answer"
)


@dataclass(frozen=True, slots=True)
class BashTool:
    """Runs commands."""

    folder: Path
    processes: Processes
    wrap: Wrap
    checkpoints: Checkpoints
    changes_nothing: Callable[[str], bool]
    """Whether a command is known to change no file."""
    remark: Callable[[], str] = lambda: ""
    """What must be known of where the last command ran, asked after it; "" for nothing."""
    default_seconds: int = DEFAULT_SECONDS
    max_seconds: int = 600
    shell: str | None = None
    """The shell's path; None looks for bash, then sh."""

    read_only: ClassVar[bool] = False

    @property
    def spec(self) -> ToolSpec:
        """Name, description and input schema."""
        return ToolSpec(
            "bash",
            "Run a command with bash in the project folder. Returns stdout and stderr together and the exit code. "
            "Each call is a new shell: cd and variables do not carry over. "
            "Standard input is closed, so pass flags that make programs not ask. "
            "Everything a call started is ended when the call ends; for a server or a long job set background=true, "
            "then read its new output with job, and end it with job and stop=true. "
            "Prefer read_file, search, list_files and edit_file over cat, grep, find and sed.",
            {
                "type": "object",
                "properties": {
                    "command": {"type": "string", "description": "The command line"},
                    "timeout": {
                        "type": "number",
                        "description": f"Seconds before it is ended, default {self.default_seconds}, "
                        f"at most {self.max_seconds}",
                    },
                    "background": {
                        "type": "boolean",
                        "description": "Start it and return at once with a job name",
                    },
                    "job": {
                        "type": "string",
                        "description": "Instead of a command: name of a background job to read from",
                    },
                    "stop": {"type": "boolean", "description": "With job: end it"},
                },
                "required": [],
            },
        )

    def target(self, arguments: JsonObject) -> str:
        """Return the first line of the command."""
        command = arguments.get("command")
        if isinstance(command, str) and command.strip():
            return _first_line(command)
        verb = "stop" if arguments.get("stop") is True else "output of"
        return f"{verb} job {arguments.get('job', '?')}"

    async def propose(self, arguments: JsonObject) -> Proposal:
        """Return the command, exactly as it would be executed."""
        command = _command(arguments)
        if command is None:
            return Proposal(self.target(arguments), self.target(arguments))
        return Proposal(f"run {self.target(arguments)}", command)

    async def run(self, arguments: JsonObject, emit: Emit) -> ToolOutcome:
        """Run the command, or read from or end a background job."""
        command = _command(arguments)
        if command is None:
            return await self._follow(str(arguments["job"]), stop=arguments.get("stop") is True)
        argv = await asyncio.to_thread(self.wrap, (self._shell(), "-c", command), self.folder)
        self.processes.prepare()
        keep = not self.changes_nothing(command)
        if arguments.get("background") is True:
            before = await self.checkpoints.before_command(keep=True)
            job = await self.processes.start(argv, command, None, background=True)
            job.before = before
            return ToolOutcome(
                f"started job {job.name}; read its output with job={job.name}",
                Effects(target=self.target(arguments), outcome=f"started job {job.name}"),
            )
        before = await self.checkpoints.before_command(keep=keep)
        seconds = self._seconds(arguments)
        try:
            finished = await run(self.processes, argv, command, emit, seconds=seconds)
        finally:
            said, told = await to_its_end(self._after(before, keep=keep))
        how, ok = _ending(finished, seconds)
        effects = Effects(
            target=self.target(arguments),
            outcome=f"{how}, {_lines(finished.collected)}",
            read=self._shown(command, finished.collected) if finished.code == 0 else (),
            modified=told.modified,
            exit_code=finished.code,
        )
        report = _report(finished, how) + (f"\n[{said}]" if said else "")
        return ToolOutcome(report, effects, ok=ok, full=finished.collected.full)

    async def _after(self, before: Scan, *, keep: bool) -> tuple[str, Effect]:
        said = await asyncio.to_thread(self.remark)
        return said, await self.checkpoints.after_command(before, kept=keep)

    def _shown(self, command: str, collected: Collected) -> tuple[Span, ...]:
        """Return what the command showed of files in the project."""
        shown = lines_shown(command, collected.lines)
        return tuple(span for span in shown if not span.path.startswith(("/", "../")))

    async def _follow(self, name: str, *, stop: bool) -> ToolOutcome:
        job = self.processes.find(name)
        was_running = job.is_running
        job.read_now()
        if stop or not was_running:
            await self.processes.end(job)
        said = await asyncio.to_thread(self.remark)
        modified: tuple[str, ...] = ()
        if job.before is not None:
            told = await self.checkpoints.after_command(job.before, kept=True, meanwhile=True)
            job.before, modified = told.after, told.modified
        collected = await asyncio.to_thread(job.output.collect)
        if was_running:
            state = f"job {name} stopped" if stop else f"job {name} still runs"
        else:
            state = f"job {name} ended: {_code_text(job)}"
        code = job.code.result() if not was_running else None
        return ToolOutcome(
            f"{_body(collected)}\n[{state}]" + (f"\n[{said}]" if said else ""),
            Effects(
                target=f"job {name}: {_first_line(job.command)}",
                outcome=f"{state}, {_lines(collected)}",
                modified=modified,
                exit_code=code,
            ),
            full=collected.full,
        )

    def _shell(self) -> str:
        path = outside_of(self.folder, os.environ.get("PATH", os.defpath))
        shell = self.shell or shutil.which("bash", path=path) or shutil.which("sh", path=path)
        if shell is None:
            raise ToolError("neither bash nor sh was found")
        return shell

    def _seconds(self, arguments: JsonObject) -> float:
        wanted = arguments.get("timeout", self.default_seconds)
        return float(min(max(wanted, 1), max(self.max_seconds, self.default_seconds)))


def _command(arguments: JsonObject) -> str | None:
    """The command, or None when the call is about a job."""
    command, job = arguments.get("command"), arguments.get("job")
    if job is not None and command is not None:
        raise ToolError("give either command or job, not both")
    if job is not None:
        return None
    if command is None:
        raise ToolError("missing argument 'command'")
    if not command.strip():
        raise ToolError("the command is empty")
    if "\0" in command:
        raise ToolError("the command has a NUL character")
    return str(command)


def _first_line(command: str) -> str:
    first, *rest = command.strip().split("\n")
    if len(first) > TARGET_CHARS:
        return f"{first[:TARGET_CHARS]} …"
    return f"{first} …" if rest else first


def _ending(finished: Finished, seconds: float) -> tuple[str, bool]:
    code = finished.code
    if code is None:
        return f"timed out after {seconds:g} s", False
    if code < 0:
        return f"killed by {_signal(-code)}", False
    return f"exit {code}", True


def _report(finished: Finished, how: str) -> str:
    """The result as the model reads it: the output, then notes in brackets."""
    notes: list[str] = []
    code = finished.code
    if code is None:
        notes.append(f"{how} and ended with everything it started; {CLOSED_INPUT}")
    elif code > 128 and (name := _signal(code - 128)).startswith("SIG"):
        notes.append(f"{how}, which usually means {name}")
    elif code != 0:
        notes.append(how)
    if finished.survivors:
        names = ", ".join(sorted(set(finished.survivors)))
        notes.append(f"still ran in the background and was ended with the call: {names}")
    if finished.collected.replaced:
        notes.append(f"bytes that are no UTF-8 and were replaced: {finished.collected.replaced:,}")
    return "\n".join((_body(finished.collected), *(f"[{note}]" for note in notes)))


def _body(collected: Collected) -> str:
    text = collected.text.rstrip("\n")
    return text if text.strip() else NO_OUTPUT


def _lines(collected: Collected) -> str:
    count = collected.lines
    return "no output" if not count else "1 line" if count == 1 else f"{count:,} lines"


def _code_text(job: Job) -> str:
    code = job.code.result()
    return f"killed by {_signal(-code)}" if code < 0 else f"exit {code}"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
