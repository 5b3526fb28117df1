"""The program above all commands of a session: it starts them, and ends all below it when Palimpsest is gone.

A process of its own, because whoever is killed outright can end nothing any more: this one notices by the wire that
closes. On Linux it adopts every orphan below it, so that nothing that a command started can get away from it.

Each message on the wire is four bytes of length and a JSON object. Asked: ``{"name", "argv", "cwd", "env"}``, with the
descriptor for the output. Told: ``{"started": name, "pid"}`` or ``{"failed": name, "errno"}``, and later
``{"ended": name, "code"}``.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import socket
import struct
import sys
from typing import Any

from app.tools import descendants

LENGTH = struct.Struct("!I")
GRACE_SECONDS = 0.5
"""Between TERM and KILL when Palimpsest is gone."""
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_RESTORED = ("SIGPIPE", "SIGXFSZ", "SIGINT", "SIGTERM", "SIGHUP")
"""Signals that this program or Python ignores, and commands do not."""


def serve(wire: socket.socket) -> None:
    """Start commands as asked and tell how they end, until the wire closes; then end all that still runs."""
    wire.set_inheritable(False)  # commands must neither speak on it nor keep it open
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    woken, waker = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    names: dict[int, str] = {}
    with contextlib.suppress(OSError):  # whoever asked is gone
        while True:
            ready, _, _ = select.select([wire.fileno(), woken], [], [])
            if woken in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(woken, 4096)
                _take_leave(wire, names)
            if wire.fileno() in ready and not _answer(wire, names):
                break
    descendants.end_below(os.getpid(), groups=names, grace=GRACE_SECONDS)


def send(wire: socket.socket, message: dict[str, Any], descriptor: int | None = None) -> None:
    """Send a message, and a descriptor with it."""
    body = json.dumps(message).encode()
    head = LENGTH.pack(len(body))
    if descriptor is None:
        wire.sendall(head + body)
    else:
        socket.send_fds(wire, [head], [descriptor])
        wire.sendall(body)


def _answer(wire: socket.socket, names: dict[int, str]) -> bool:
    """Start what is asked for; return whether there was anything."""
    head, descriptors, _, _ = socket.recv_fds(wire, LENGTH.size, 1)
    if not head:
        return False
    output = descriptors[0]
    os.set_inheritable(output, False)
    asked = json.loads(_exactly(wire, LENGTH.unpack(head)[0]))
    try:
        pid = _start(asked["argv"], asked["cwd"], asked["env"], output)
    except OSError as error:
        send(wire, {"failed": asked["name"], "errno": error.errno})
        return True
    finally:
        os.close(output)
    names[pid] = asked["name"]
    send(wire, {"started": asked["name"], "pid": pid})
    return True


def _exactly(wire: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        piece = wire.recv(count - len(data))
        if not piece:
            raise ConnectionResetError
        data += piece
    return bytes(data)


def _take_leave(wire: socket.socket, names: dict[int, str]) -> None:
    """Reap the children that ended, and report the commands among them."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        name = names.pop(pid, None)
        if name is not None:
            send(wire, {"ended": name, "code": os.waitstatus_to_exitcode(status)})


def _start(argv: list[str], cwd: str, env: dict[str, str], output: int) -> int:
    """Start a program in a session of its own, with no input; return its process id.

    Raises:
        OSError: It cannot be started.
    """
    trouble, troubled = os.pipe()
    pid = os.fork()  # safe here: this program has one thread
    if pid == 0:
        try:
            _become(argv, cwd, env, output)
        except OSError as error:
            os.write(troubled, str(error.errno or 0).encode())
        finally:
            os._exit(127)
    os.close(troubled)
    with os.fdopen(trouble, "rb") as pipe:
        why = pipe.read()
    if why:
        os.waitpid(pid, 0)
        raise OSError(int(why), os.strerror(int(why)))
    return pid


def _become(argv: list[str], cwd: str, env: dict[str, str], output: int) -> None:
    os.setsid()
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.set_wakeup_fd(-1)
    for name in _RESTORED:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(cwd)
    os.execve(argv[0], argv, env)


def _prctl(option: int, value: int) -> None:
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
