"""Runs of the program as forks of one process that has it loaded: a start takes milliseconds, so a thousand are cheap.

`Spawner` is the side of the tests. The other side is this file run as a module: it reads one request a line, forks,
and in the child goes through the program's own `main` with its arguments, environment, folder and terminal.
"""

from __future__ import annotations

import fcntl
import gc
import itertools
import json
import os
import random
import resource
import subprocess
import sys
import termios
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any

from app.adapters.clock import SystemClock
from app.adapters.demo.transport import DemoTransport
from tests.crash.faults import Layer, Plan

ROOT = Path(__file__).resolve().parents[2]


class Run:
    """One run of the program; has what the tests use of `subprocess.Popen`."""

    def __init__(self, spawner: Spawner, pid: int) -> None:
        self._spawner = spawner
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        if self.returncode is None:
            self.returncode = self._spawner.ask(op="poll", pid=self.pid)["code"]
        return self.returncode

    def wait(self, timeout: float = 120.0) -> int:
        """Wait until it has ended; return the exit code."""
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                self.kill()
                raise TimeoutError(f"the program still ran after {timeout} s")
            time.sleep(0.002)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:  # an ended one is reaped by its parent: the number may be another's
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(9)

    def terminate(self) -> None:
        self.send_signal(15)


class Spawner:
    """The process that forks. Use as a context manager."""

    def __enter__(self) -> Spawner:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.spawner"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.ask(op="ready")
        return self

    def __exit__(self, *_: object) -> None:
        with self._process as process:
            assert process.stdin is not None
            process.stdin.close()

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send one request and return the answer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            print(json.dumps(request), file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        assert line, f"the process that starts runs has ended with {self._process.wait(10)}"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def start(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        out: Path | str,
        err: Path | str | None = None,
        tty: str = "",
        world: World,
    ) -> Run:
        """Start the program.

        Args:
            arguments: What stands behind `pal`.
            cwd: Its folder.
            env: Its environment.
            out: File for its standard output.
            err: File for its standard error.
            tty: A terminal for all three instead.
            world: What is different in the world around it.
        """
        answer = self.ask(
            op="start",
            arguments=list(arguments),
            cwd=str(cwd),
            env=dict(env),
            out=str(out),
            err=str(err or os.devnull),
            tty=tty,
            world=asdict(world),
        )
        return Run(self, answer["pid"])


@dataclass(frozen=True)
class World:
    """What is different around one run."""

    plan: Mapping[str, Any] | None = None
    """Fields of a `faults.Plan`."""
    delay: float = 0.0005
    """Seconds between two pieces of the embedded model's answers."""
    bodies: str = ""
    """File that gets the body of each request before it is answered, a line each."""
    clock: float | None = None
    """Seconds by which the clock moves at each look, from now on; None for the real clock."""
    file_size: int = 0
    """Limit on the size of files in bytes; 0 for none."""


PLAIN = World()


def _serve(requests: IO[str], answers: IO[str]) -> None:
    codes: dict[int, int] = {}
    for line in requests:
        match json.loads(line):
            case {"op": "start", **request}:
                pid = os.fork()
                if pid == 0:
                    _be_the_program(request)
                codes.pop(pid, None)  # the number may have been another run's before
                answer: dict[str, Any] = {"pid": pid}
            case {"op": "poll", "pid": pid}:
                if pid not in codes:
                    ended, status = os.waitpid(pid, os.WNOHANG)
                    if ended:
                        codes[pid] = os.waitstatus_to_exitcode(status)
                answer = {"code": codes.get(pid)}
            case _:
                answer = {}
        print(json.dumps(answer), file=answers, flush=True)


def _be_the_program(request: Mapping[str, Any]) -> None:
    """Take over the process; never returns."""
    code = 1
    try:
        os.setsid()
        _take_streams(request)
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        random.seed(os.urandom(8))
        gc.unfreeze()
        _change_world(World(**request["world"]))
        from app.cli import main

        code = main(request["arguments"])
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _take_streams(request: Mapping[str, Any]) -> None:
    if request["tty"]:
        handle = os.open(request["tty"], os.O_RDWR)
        fcntl.ioctl(handle, termios.TIOCSCTTY, 0)
        streams = (handle, handle, handle)
    else:
        create = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        streams = (
            os.open(os.devnull, os.O_RDONLY),
            os.open(request["out"], create, 0o600),
            os.open(request["err"], create, 0o600),
        )
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    new = [os.fdopen(n, mode, encoding="utf-8", closefd=False) for n, mode in enumerate("rww")]
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__ = new  # type: ignore[misc]


def _change_world(world: World) -> None:
    DemoTransport.__init__.__kwdefaults__["delay"] = world.delay
    if world.bodies:
        handle = os.open(world.bodies, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        answered = DemoTransport._answer

        def keep(self: Any, body: Mapping[str, Any], id_: str) -> Any:
            os.write(handle, json.dumps(body).encode() + b"\n")
            return answered(self, body, id_)

        DemoTransport._answer = keep  # type: ignore[method-assign]
    if world.clock is not None:
        _bend_clock(world.clock)
    if world.file_size:
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (world.file_size, hard))
    if world.plan is not None:
        Layer(Plan(**world.plan)).lay()


def _bend_clock(step: float) -> None:
    """Let each look at the clock see a moment that lies ``step`` seconds from the last one."""
    begun, looks = datetime.now(UTC), itertools.count(1)

    def now(self: SystemClock) -> str:
        moment = begun + timedelta(seconds=step * next(looks))
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    SystemClock.now = now  # type: ignore[method-assign]


def _load() -> None:
    """Import all that a run needs, and start no thread."""
    import anthropic
    import anthropic.resources.messages

    import app.headless
    import app.launch.graph
    import app.ui.app
    import app.ui.screens.pair

    assert anthropic and app


if __name__ == "__main__":
    _load()
    gc.collect()
    gc.freeze()
    _serve(sys.stdin, sys.stdout)
