"""The way to the program above all commands of a session: asks it to start them, and hears how they ended."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from app.tools.supervisor_program import LENGTH, send

START_SECONDS = 30.0
"""How long a loaded machine may take to start a command."""
WAKE_SECONDS = 0.5
"""How long the program is waited for before it is woken: a command may have stopped it."""
CLOSE_SECONDS = 5.0
_PACKAGES = Path(__file__).parents[2]
_PROGRAM = (
    # Behind the standard library, so that nothing that lies beside the package can stand for a part of it.
    "import socket, sys; sys.path.append(sys.argv[2]); "
    "from app.tools.supervisor_program import serve; serve(socket.socket(fileno=int(sys.argv[1])))"
)


class Supervisor:
    """Starts commands as children of one small program, which ends them when this process dies in any way.

    Args:
        environment: The commands' environment, clean of secrets; the program itself has no other.
        ended: Hears the name and the exit code of each command that ended, negative for a signal.
        lost: Hears that the program itself was ended; what it had started may still run.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        ended: Callable[[str, int], None],
        lost: Callable[[], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._ended = ended
        self._lost = lost
        self._unread = bytearray()
        self._asked: dict[str, asyncio.Future[int]] = {}
        self._wire, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _PROGRAM, str(theirs.fileno()), str(_PACKAGES)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=dict(environment),
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        self.alive = True
        self._wire.settimeout(START_SECONDS)
        self._loop.add_reader(self._wire, self._hear)

    @property
    def pid(self) -> int:
        """Process id of the program."""
        return self._process.pid

    async def start(
        self, name: str, argv: Sequence[str], cwd: Path, env: Mapping[str, str], output: int
    ) -> int:
        """Start a command in a session of its own, with no input; return its process id.

        Args:
            name: What `ended` calls it.
            argv: What is executed.
            cwd: Where.
            env: Its environment.
            output: Descriptor for its output; may be closed afterwards, not before.

        Raises:
            OSError: It cannot be started.
        """
        program = shutil.which(argv[0], path=env.get("PATH"))
        if program is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), argv[0])
        asked = {"name": name, "argv": [program, *argv[1:]], "cwd": str(cwd), "env": dict(env)}
        if any("\0" in text for text in (*asked["argv"], str(cwd))):
            raise OSError(errno.EINVAL, "a NUL character in an argument")
        if not self.alive:
            raise _was_ended()
        started: asyncio.Future[int] = self._loop.create_future()
        self._asked[name] = started
        self._wake()
        try:
            send(self._wire, asked, output)
        except OSError:
            self._lose()
        try:
            async with asyncio.timeout(START_SECONDS):
                while not (await asyncio.wait({started}, timeout=WAKE_SECONDS))[0]:
                    self._wake()
                return started.result()
        except TimeoutError:
            self._lose()
            raise _was_ended() from None
        finally:
            del self._asked[name]

    async def close(self) -> None:
        """Let the program end what still runs, and itself."""
        self._leave()
        self._wake()
        try:
            await asyncio.to_thread(self._process.wait, CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)

    def _wake(self) -> None:
        """Let the program go on, should a command have stopped it."""
        self._process.send_signal(signal.SIGCONT)

    def _hear(self) -> None:
        """Take in what the program tells."""
        try:
            data = self._wire.recv(65_536)
        except OSError:
            data = b""
        if not data:
            self._lose()
            return
        self._unread += data
        while len(self._unread) >= LENGTH.size:
            end = LENGTH.size + LENGTH.unpack_from(self._unread)[0]
            if len(self._unread) < end:
                return
            told = json.loads(self._unread[LENGTH.size : end])
            del self._unread[:end]
            self._take(told)

    def _take(self, told: dict[str, Any]) -> None:
        match told:
            case {"started": name, "pid": pid}:
                self._asked[name].set_result(pid)
            case {"failed": name, "errno": number}:
                self._asked[name].set_exception(OSError(number, os.strerror(number)))
            case {"ended": name, "code": code}:
                self._ended(name, code)

    def _lose(self) -> None:
        if self.alive:
            self._leave()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(0.2)
            for asked in self._asked.values():
                if not asked.done():
                    asked.set_exception(_was_ended())
            self._lost()

    def _leave(self) -> None:
        if self.alive:
            self.alive = False
            self._loop.remove_reader(self._wire)
            self._wire.close()


def _was_ended() -> OSError:
    return ChildProcessError(errno.ECHILD, "the program that starts commands was ended")
