"""The sandbox for commands: bubblewrap on Linux, sandbox-exec on macOS, or none; tried once, then wrapped around."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from app.adapters import git_stores, placeholders, unix_sockets
from app.adapters.git_stores import Kept, Store
from app.core.permission import OWN_NAMES
from app.core.search_path import outside_of

PROBE_SECONDS = 5.0
CREDENTIALS = (
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".config/gcloud",
    ".config/gh",
    ".config/op",
    ".password-store",
    ".local/share/keyrings",
    ".netrc",
    ".git-credentials",
    ".pgpass",
    ".npmrc",
    ".pypirc",
)
"""Folders and files of a home that hold keys."""
_FILES = frozenset({"palimpsest.toml"})
"""Protected names that are files; the others are folders."""
_SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY",
    re.IGNORECASE,
)
_SOCKETS = frozenset({"SSH_AUTH_SOCK", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST"})


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
    """Files and folders of the project that stay read-only, also when they are missing."""
    hidden: tuple[Path, ...] = ()
    """Folders that look empty inside."""
    credentials: tuple[Path, ...] = ()
    """Folders and files with the user's keys, which look empty to what has no network."""
    dropped: tuple[str, ...] = ()
    """Variables of the environment that nothing inside gets."""
    program: str = ""
    detail: str = ""
    """Version of the program, or why there is none."""
    _made: set[Path] = field(default_factory=set, repr=False)
    """Stand-ins that were made for what is missing."""
    _users: placeholders.Users = field(
        default_factory=placeholders.Users, repr=False, compare=False
    )

    @property
    def works(self) -> bool:
        """Whether commands are confined."""
        return self.kind is not Kind.NONE

    def describe(self) -> str:
        """Return one line on how commands run, for the model."""
        if not self.works:
            return f"no sandbox: {self.detail}"
        where = "the project and a /tmp of their own, which file tools do not see"
        return f"{self.detail or self.kind.value}: commands write only in {where}; no network unless allowed"

    def wrap(
        self,
        argv: Sequence[str],
        cwd: Path,
        *,
        network: bool = False,
        writable: bool = True,
        stores: Sequence[Store] | None = None,
    ) -> tuple[str, ...]:
        """Return the command line that runs ``argv`` confined; ``argv`` itself when there is no sandbox.

        Args:
            argv: The command line.
            cwd: Where it runs.
            network: Whether it may use the network.
            writable: Whether it may write in the project.
            stores: The project's repositories, where they were just looked for.
        """
        if stores is None:
            stores = git_stores.find(self.root) if self.works and writable else ()
        if self.kind is Kind.BUBBLEWRAP and writable:
            self._place_missing(stores)
        return self._line(argv, cwd, network=network, stores=stores if writable else None)

    def _line(
        self,
        argv: Sequence[str],
        cwd: Path,
        *,
        network: bool,
        stores: Sequence[Store] | None,
    ) -> tuple[str, ...]:
        """Return the whole command line; nothing in the project may be written when ``stores`` is None."""
        # The launcher itself must not have them: what runs inside can read its environment.
        scrubbed = [word for name in self.dropped for word in ("-u", name)]
        clean = ("/usr/bin/env", *scrubbed) if scrubbed else ()
        match self.kind:
            case Kind.BUBBLEWRAP:
                options = self._bubblewrap(cwd, network=network, stores=stores)
                return (*clean, *options, "--", *argv)
            case Kind.SANDBOX_EXEC:
                profile = self._profile(network=network, stores=stores)
                return (*clean, self.program, "-p", profile, *argv)
            case Kind.NONE:
                return tuple(argv)

    @property
    def scratch_in_use(self) -> bool:
        """Whether commands have put something into the /tmp of their own."""
        try:
            found = {path.name for path in self.scratch.iterdir()} if self.scratch else set()
        except OSError:
            return False
        if self.root.is_relative_to("/tmp"):  # the way to the project is there by itself
            found -= {self.root.relative_to("/tmp").parts[0]}
        return bool(found)

    def close(self) -> None:
        """Delete the temporary folder and the stand-ins of protected files."""
        if self.scratch is not None:
            stand_ins = {*self._made, self.root / ".git", *self.protected}
            self._users.leave(self.root, stand_ins)
            shutil.rmtree(self.scratch, ignore_errors=True)

    def _bubblewrap(
        self, cwd: Path, *, network: bool, stores: Sequence[Store] | None
    ) -> tuple[str, ...]:
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
        # Settings of the kernel belong to root, and so to a user who is root: they hold for the whole machine.
        options += ["--ro-bind-try", "/proc/sys", "/proc/sys"]
        # Sockets of other programs live here, and a read-only mount does not keep anyone from talking to them.
        options += ["--tmpfs", "/run", "--bind", str(self.scratch), "/tmp"]
        if network:
            for resolver in ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"):
                options += ["--ro-bind-try", resolver, resolver]
        options += ["--ro-bind" if stores is None else "--bind", root, root]
        if stores is not None:
            # Mounts of their own, so that nothing can be moved away together with the read-only parts in it.
            movable = git_stores.above(stores, self.root) | {s.entry for s in stores if s.writable}
            for path in sorted(movable - {self.root}, key=_depth):
                options += ["--bind-try", str(path), str(path)]
            kept_paths = {kept.path for kept in self._kept(stores)}
            for path in sorted(map(self._holding, kept_paths), key=_depth):
                options += ["--ro-bind-try", str(path), str(path)]
        if not network:
            # A read-only mount keeps nobody from talking to a program through its socket.
            for path in unix_sockets.named(self.root):
                options += ["--ro-bind-try", "/dev/null", str(path)]
        for path in (*self.hidden, *(() if network else self.credentials)):
            if path.is_dir():
                options += ["--tmpfs", str(path)]
            elif path.is_file():
                options += ["--ro-bind", "/dev/null", str(path)]
        return (*options, "--setenv", "TMPDIR", "/tmp", "--chdir", str(cwd))

    def _kept(self, stores: Iterable[Store]) -> set[Kept]:
        """Return what stays as it is, also when missing."""
        own = {Kept(path, path.name not in _FILES) for path in self.protected}
        return own.union(*(store.kept(self.root) for store in stores))

    def _holding(self, path: Path) -> Path:
        """Return what to make read-only so that a path stays: a link can be replaced, but not in such a folder."""
        below = [path, *(folder for folder in path.parents if self.root in folder.parents)]
        links = [one.parent for one in below if one.is_symlink()]
        return links[-1] if links else path

    def _place_missing(self, stores: Iterable[Store]) -> None:
        """Make stand-ins for what is protected and missing."""
        self._users.join(self.root)
        for kept in sorted(self._kept(stores), key=lambda kept: _depth(kept.path)):
            if placeholders.place(kept.path, folder=kept.is_folder, content=kept.content):
                self._made.add(kept.path)

    def _profile(self, *, network: bool, stores: Sequence[Store] | None) -> str:
        folders = [Path("/private/tmp"), Path("/private/var/folders")]
        folders += [self.root] if stores is not None else []
        lines = ["(version 1)", "(allow default)", "(deny file-write*)"]
        lines += [f"(allow file-write* (subpath {_quoted(path)}))" for path in folders]
        lines += [
            f'(allow file-write* (literal "/dev/{name}"))'
            for name in ("null", "tty", "stdout", "stderr")
        ]
        kept = sorted(kept.path for kept in self._kept(stores or ()))
        lines += [f"(deny file-write* (subpath {_quoted(path)}))" for path in kept]
        fixed = git_stores.above(stores or (), self.root) | {s.entry for s in stores or ()}
        lines += [f"(deny file-write-unlink (literal {_quoted(path)}))" for path in sorted(fixed)]
        unseen = self.hidden if network else (*self.hidden, *self.credentials)
        lines += [f"(deny file-read* (subpath {_quoted(path)}))" for path in unseen]
        if not network:
            lines.append("(deny network*)")
        return "".join(lines)


def probe(
    root: Path,
    *,
    protected: Sequence[Path] = (),
    hidden: Sequence[Path] = (),
    home: Path | None = None,
    environment: Iterable[str] = (),
) -> Sandbox:
    """Return the sandbox that works on this machine; each candidate is really run. Blocks for up to some seconds.

    Args:
        root: The project folder.
        protected: What stays read-only besides this program's own names and what git would run.
        hidden: Folders with secrets, such as the one of the user's settings.
        home: The user's home; keys in it are hidden from what has no network.
        environment: Names of variables; those that look like secrets are dropped.
    """
    real = Path(os.path.realpath(root))
    guarded = (
        *(real / name for name in OWN_NAMES),
        *(Path(os.path.realpath(p)) for p in protected),
    )
    kind, name = _candidate()
    path = outside_of(real, os.environ.get("PATH", os.defpath))
    program = shutil.which(name, path=path) if name else None
    if kind is Kind.NONE or program is None:
        why = f"{name} is not installed" if name else "none is known for this system"
        return Sandbox(Kind.NONE, real, detail=why)
    link = next((one for one in (".git", *OWN_NAMES) if (real / one).is_symlink()), "")
    if link:
        return Sandbox(Kind.NONE, real, detail=f"{link} is a link here, which nothing can protect")
    if home is not None and Path(os.path.realpath(home)).is_relative_to(real):
        return Sandbox(
            Kind.NONE, real, detail="the project holds your home, where much runs by itself"
        )
    scratch = Path(os.path.realpath(tempfile.mkdtemp(prefix="pal-tmp-")))
    sandbox = Sandbox(
        kind,
        real,
        scratch,
        guarded,
        tuple(hidden),
        tuple(home / name for name in CREDENTIALS) if home else (),
        tuple(name for name in environment if is_secret(name)),
        program,
        _version(program, kind),
    )
    problem = _problem(sandbox)
    if problem:
        sandbox.close()
        return Sandbox(Kind.NONE, real, detail=f"{name} does not work here: {problem}")
    return sandbox


def is_secret(name: str) -> bool:
    """Whether a variable of this name holds a secret, or leads to a program that holds some."""
    return bool(_SECRET_NAME.search(name)) or name in _SOCKETS


def switched_off(root: Path) -> Sandbox:
    """Return the sandbox that confines nothing, because the user wants none."""
    return Sandbox(Kind.NONE, Path(os.path.realpath(root)), detail="switched off")


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
    argv = sandbox._line(("/bin/sh", "-c", script), sandbox.root, network=False, stores=())
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


def _depth(path: Path) -> int:
    return len(path.parts)


def _quoted(path: Path) -> str:
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
