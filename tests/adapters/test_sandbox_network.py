"""Without network: a probe that runs inside a real bubblewrap and tries every way out, and every way in."""

from __future__ import annotations

import json
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from app.adapters.sandbox import Kind, Sandbox, probe

PROBE = """
import json, pathlib, socket, sys
told = json.loads(sys.argv[1])
found = {}
def tried(name, act):
    try:
        act()
        found[name] = True
    except OSError:
        found[name] = False
def connect(family, kind, place):
    with socket.socket(family, kind) as client:
        client.settimeout(2)
        client.connect(tuple(place) if isinstance(place, list) else place)
        client.send(b"probe")
for name, family, kind, place in told["outside"]:
    tried(name, lambda: connect(family, kind, place))
tried("names", lambda: socket.getaddrinfo("probe.invalid", 80))
tried("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
tried("packets", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3))
lines = [
    line
    for name in ("tcp", "tcp6", "udp", "udp6", "unix")
    for line in pathlib.Path("/proc/net", name).read_text().splitlines()[1:]
]
server = socket.socket()
server.bind(("0.0.0.0", 0))
server.listen()
print(json.dumps({"found": found, "sockets": lines, "port": server.getsockname()[1]}), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    made = probe(tmp_path)
    if made.kind is not Kind.BUBBLEWRAP:
        pytest.skip(made.describe())
    yield made
    made.close()


def _inside(sandbox: Sandbox, told: dict[str, Any]) -> subprocess.Popen[str]:
    python = Path(sys.executable).resolve()  # an environment below /tmp is not seen from inside
    script = shlex.join([str(python), "-I", "-c", PROBE, json.dumps(told)])
    argv = sandbox.wrap(("sh", "-c", script), sandbox.root)
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_nothing_inside_reaches_the_machine_or_is_reached_from_it(sandbox: Sandbox) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
        servers = {
            "tcp": (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "udp": (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "abstract": (socket.AF_UNIX, socket.SOCK_STREAM, f"\0pal-probe-{folder.name}"),
            "in a folder": (socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "socket")),
            "in the project": (socket.AF_UNIX, socket.SOCK_STREAM, str(sandbox.root / "socket")),
        }
        outside, listening = [], {}
        for name, (family, kind, place) in servers.items():
            server = stack.enter_context(socket.socket(family, kind))
            server.bind(place)
            if kind == socket.SOCK_STREAM:
                server.listen()
            server.setblocking(False)
            listening[name] = server
            at = server.getsockname()
            outside.append((name, family, kind, place if family == socket.AF_UNIX else at))
        with _inside(sandbox, {"outside": outside}) as process:
            assert process.stdin is not None and process.stdout is not None
            said = json.loads(process.stdout.readline())
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", said["port"]), timeout=2)
            process.stdin.close()
        # Sending says nothing of who gets it; that is looked at below.
        said["found"].pop("udp")
        servers.pop("udp")
        assert said["found"] == dict.fromkeys([*servers, "names", "raw", "packets"], False)
        assert said["sockets"] == [], "nothing listens inside, and nothing of the machine is seen"
        for name, server in listening.items():
            with pytest.raises(BlockingIOError):  # nobody came
                server.recvfrom(100) if name == "udp" else server.accept()
