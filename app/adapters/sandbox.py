"""The sandbox for commands: bubblewrap on Linux, sandbox-exec on macOS, or none; tried once, then wrapped around."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from app.core.permission import OWN_NAMES
from app.core.search_path import outside_of

PROBE_SECONDS = 5.0
_PR_SET_DUMPABLE = 4


class Kind(StrEnum):
    """What confines commands."""

    BUBBLEWRAP = "bubblewrap"
    SANDBOX_EXEC = "sandbox-exec"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Confines commands to one project: they write only there and in a temporary folder, without network."""

    kind: Kind
    root: Path
    """The project folder, links followed."""
    scratch: Path | None = None
    """Folder that stands for /tmp inside; None without a sandbox."""
    protected: tuple[Path, ...] = ()
    """Files and folders of the project that stay read-only."""
    hidden: tuple[Path, ...] = ()
    """Folders that look empty inside."""
    program: str = ""
    detail: str = ""
    """Version of the program, or why there is none."""

    @property
    def works(self) -> bool:
        """Whether commands are confined."""
        return self.kind is not Kind.NONE

    def describe(self) -> str:
        """Return one line on how commands run, for the model."""
        if not self.works:
            return f"no sandbox: {self.detail}"
        where = "the project and a temporary folder of its own"
        return f"{self.detail or self.kind.value}: commands write only in {where}; no network unless allowed"

    def wrap(
        self, argv: Sequence[str], cwd: Path, *, network: bool = False, writable: bool = True
    ) -> tuple[str, ...]:
        """Return the command line that runs ``argv`` confined; ``argv`` itself when there is no sandbox.

        Args:
            argv: The command line.
            cwd: Where it runs.
            network: Whether it may use the network.
            writable: Whether it may write in the project.
        """
        match self.kind:
            case Kind.BUBBLEWRAP:
                return (*self._bubblewrap(cwd, network=network, writable=writable), "--", *argv)
            case Kind.SANDBOX_EXEC:
                return (
                    self.program,
                    "-p",
                    self._profile(network=network, writable=writable),
                    *argv,
                )
            case Kind.NONE:
                return tuple(argv)

    def close(self) -> None:
        """Delete the temporary folder."""
        if self.scratch is not None:
            shutil.rmtree(self.scratch, ignore_errors=True)

    def _bubblewrap(self, cwd: Path, *, network: bool, writable: bool) -> tuple[str, ...]:
        root = str(self.root)
        options = [
            self.program,
            "--die-with-parent",
            "--unshare-pid",
            "--unshare-ipc",
            "--cap-drop",
            "ALL",
        ]
        if not network:
            options.append("--unshare-net")
        options += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        # Sockets of other programs live here, and a read-only mount does not keep anyone from talking to them.
        options += ["--tmpfs", "/run", "--bind", str(self.scratch), "/tmp"]
        if network:
            for resolver in ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"):
                options += ["--ro-bind-try", resolver, resolver]
        for folder in self.hidden:
            if folder.is_dir():
                options += ["--tmpfs", str(folder)]
        options += ["--bind" if writable else "--ro-bind", root, root]
        git = self.root / ".git"
        if git.is_dir() and writable:
            # A mount of its own, so that it cannot be moved away together with the read-only parts in it.
            options += ["--bind", str(git), str(git)]
        for path in self.protected:
            if path.exists():
                options += ["--ro-bind", str(path), str(path)]
        return (*options, "--setenv", "TMPDIR", "/tmp", "--chdir", str(cwd))

    def _profile(self, *, network: bool, writable: bool) -> str:
        folders = [Path("/private/tmp"), Path("/private/var/folders")]
        folders += [self.root] if writable else []
        lines = ["(version 1)", "(allow default)", "(deny file-write*)"]
        lines += [f"(allow file-write* (subpath {_quoted(path)}))" for path in folders]
        lines += [
            f'(allow file-write* (literal "/dev/{name}"))'
            for name in ("null", "tty", "stdout", "stderr")
        ]
        lines += [f"(deny file-write* (subpath {_quoted(path)}))" for path in self.protected]
        lines += [f"(deny file-read* (subpath {_quoted(path)}))" for path in self.hidden]
        if not network:
            lines.append("(deny network*)")
        return "".join(lines)


def probe(root: Path, *, protected: Sequence[Path] = (), hidden: Sequence[Path] = ()) -> Sandbox:
    """Return the sandbox that works on this machine; each candidate is really run. Blocks for up to some seconds.

    Args:
        root: The project folder.
        protected: What stays read-only besides this program's own names, .git/hooks and .git/config.
        hidden: Folders with secrets, such as the one of the user's settings.
    """
    real = Path(os.path.realpath(root))
    own = (".git/hooks", ".git/config", *OWN_NAMES)
    guarded = (*(real / name for name in own), *(Path(os.path.realpath(p)) for p in protected))
    kind, name = _candidate()
    path = outside_of(real, os.environ.get("PATH", os.defpath))
    program = shutil.which(name, path=path) if name else None
    if kind is Kind.NONE or program is None:
        why = f"{name} is not installed" if name else "none is known for this system"
        return Sandbox(Kind.NONE, real, detail=why)
    scratch = Path(os.path.realpath(tempfile.mkdtemp(prefix="pal-tmp-")))
    sandbox = Sandbox(kind, real, scratch, guarded, tuple(hidden), program, _version(program, kind))
    problem = _problem(sandbox)
    if problem:
        sandbox.close()
        return Sandbox(Kind.NONE, real, detail=f"{name} does not work here: {problem}")
    return sandbox


def switched_off(root: Path) -> Sandbox:
    """Return the sandbox that confines nothing, because the user wants none."""
    return Sandbox(Kind.NONE, Path(os.path.realpath(root)), detail="switched off")


def hide_environment() -> bool:
    """Keep the user's other processes from reading this one's environment and memory (Linux); say if it worked.

    The environment it was started with stays in /proc even after a variable is deleted.
    """
    if not sys.platform.startswith("linux"):
        return False
    with suppress(OSError, AttributeError):
        return bool(ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
    return False


def _candidate() -> tuple[Kind, str]:
    if sys.platform.startswith("linux"):
        return Kind.BUBBLEWRAP, "bwrap"
    if sys.platform == "darwin":
        return Kind.SANDBOX_EXEC, "sandbox-exec"
    return Kind.NONE, ""


def _version(program: str, kind: Kind) -> str:
    if kind is not Kind.BUBBLEWRAP:
        return kind.value
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            [program, "--version"],
            capture_output=True,
            encoding="utf-8",
            timeout=PROBE_SECONDS,
            check=False,
        )
        return done.stdout.strip() or kind.value
    return kind.value


def _problem(sandbox: Sandbox) -> str:
    """Why the sandbox does not confine: "" when a trial command ran and could not write outside."""
    outside = sandbox.root.parent / f".pal-probe-{os.getpid()}"
    script = f'echo runs; : 2>/dev/null >"{outside}" || echo confined'
    argv = sandbox.wrap(("/bin/sh", "-c", script), sandbox.root)
    try:
        done = subprocess.run(
            argv,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=PROBE_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
            env={"PATH": os.environ.get("PATH", os.defpath)},
        )
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    wrote = outside.exists()
    with suppress(OSError):
        outside.unlink()
    if "runs" not in done.stdout:
        return (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[0]
    return "a command could write outside the project" if wrote else ""


def _quoted(path: Path) -> str:
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
