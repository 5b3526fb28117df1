from __future__ import annotations

import asyncio
import os
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.adapters import sandbox as sandboxes
from app.adapters.sandbox import Kind, Sandbox, probe
from app.tools import process
from app.tools.descendants import process_table
from app.tools.process import Processes
from tests.tools.conftest import until


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".git" / "hooks").mkdir(parents=True)
    (root / ".git" / "config").write_text("[core]\n")
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / ".transcripts").mkdir()
    (root / "palimpsest.toml").write_text("")
    return root


@pytest.fixture
def sandbox(project: Path) -> Iterator[Sandbox]:
    made = probe(project, hidden=(project.parent / "secrets",))
    yield made
    made.close()


def run(
    sandbox: Sandbox, script: str, *, network: bool = False
) -> subprocess.CompletedProcess[str]:
    if not sandbox.works:
        pytest.skip(sandbox.describe())
    argv = sandbox.wrap(("sh", "-c", script), sandbox.root, network=network)
    return subprocess.run(
        argv, capture_output=True, text=True, timeout=20, check=False, stdin=subprocess.DEVNULL
    )


def test_a_sandbox_that_is_closed_takes_no_protection_from_the_commands_of_another(
    tmp_path: Path,
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    first, second, third = probe(root), probe(root), probe(root)
    if first.kind is not Kind.BUBBLEWRAP:
        pytest.skip(first.describe())
    try:
        script = (
            "echo x > started; while [ ! -e go ]; do sleep 0.02; done; "
            "echo x > .git/config; echo x > palimpsest.toml"
        )
        command = subprocess.Popen(
            first.wrap(("sh", "-c", script), root),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        run(second, "true")
        while not (root / "started").exists():
            time.sleep(0.02)
        second.close()
        third.close()
        (root / "go").write_text("")
        command.wait(20)
        assert (root / "palimpsest.toml").read_bytes() == b""
        assert not any((root / ".git").rglob("config"))
    finally:
        first.close()
    assert {path.name for path in root.iterdir()} == {"started", "go"}, "the last one cleans up"


def test_commands_write_in_the_project_and_nowhere_else(sandbox: Sandbox, tmp_path: Path) -> None:
    run(
        sandbox,
        f"echo x > inside; echo x > {tmp_path}/outside; echo x > /etc/pal-probe; echo x > ~/pal-probe",
    )
    assert (sandbox.root / "inside").read_text() == "x\n"
    assert not (tmp_path / "outside").exists()
    assert not Path("/etc/pal-probe").exists()
    assert not (Path.home() / "pal-probe").exists()


@pytest.mark.parametrize(
    "path", [".git/hooks/pre-commit", ".git/config", ".transcripts/x", "palimpsest.toml"]
)
def test_files_that_run_later_or_belong_to_the_program_stay_as_they_are(
    sandbox: Sandbox, path: str
) -> None:
    before = sorted(sandbox.root.rglob("*"))
    assert run(sandbox, f"echo evil >> {path}").returncode != 0
    assert run(sandbox, "mv .git .old").returncode != 0
    sandbox.close()
    assert sorted(sandbox.root.rglob("*")) == before
    assert (sandbox.root / "palimpsest.toml").read_text() == ""


@pytest.mark.parametrize("repository", [True, False])
def test_what_is_protected_cannot_be_made_where_it_is_missing(
    tmp_path: Path, repository: bool
) -> None:
    root = tmp_path / "bare"
    root.mkdir()
    if repository:
        (root / ".git").mkdir()
        (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    before = sorted(root.rglob("*"))
    made = probe(root)
    assert sorted(root.rglob("*")) == before, "a probe leaves nothing"
    for script in (
        "mkdir -p .git/hooks && echo evil > .git/hooks/post-checkout",
        "echo evil > .git/config",
        "echo evil > .git/config.worktree",
        "mkdir -p .git/modules/m && echo evil > .git/modules/m/config",
        "echo evil > palimpsest.toml",
        "rm -f palimpsest.toml && echo evil > palimpsest.toml",
        "mkdir -p .transcripts/x",
        "rm -rf .git/hooks .git/config; mkdir .git/hooks && echo evil > .git/config",
        "mv .git .other",
    ):
        assert run(made, script).returncode != 0, script
    if not repository:
        assert run(made, "git init").returncode != 0
    (root / "palimpsest.toml").write_text("theme = 'x'\n")  # by the user, meanwhile
    made.close()
    left = {path.relative_to(root).as_posix() for path in root.rglob("*")}
    assert left == {"palimpsest.toml"} | ({".git", ".git/HEAD"} if repository else set())


def test_a_git_file_cannot_be_pointed_elsewhere(tmp_path: Path) -> None:
    root = tmp_path / "worktree"
    root.mkdir()
    (root / ".git").write_text("gitdir: /elsewhere\n")
    made = probe(root)
    assert run(made, "mkdir evil; echo 'gitdir: evil' > .git").returncode != 0
    made.close()
    assert (root / ".git").read_text() == "gitdir: /elsewhere\n"


def test_secrets_of_the_environment_are_nowhere_inside(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "my_db_password", "SSH_AUTH_SOCK")
    for name in names:
        monkeypatch.setenv(name, "probe-secret")
    monkeypatch.setenv("KEYBOARD", "us-probe")
    made = probe(project, environment=os.environ)
    seen = run(made, "env; cat /proc/*/environ | tr '\\0' '\\n'").stdout
    made.close()
    assert "us-probe" in seen
    assert "probe-secret" not in seen


def test_keys_in_the_home_are_hidden_from_what_has_no_network(project: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:  # /tmp is another one inside
        home = Path(folder)
        (home / ".ssh").mkdir()
        (home / ".ssh" / "id").write_text("probe-key")
        (home / ".netrc").write_text("probe-key")
        made = probe(project, home=home)
        script = f"cat {home}/.ssh/id {home}/.netrc"
        assert "probe-key" not in run(made, script).stdout
        assert run(made, script, network=True).stdout == "probe-key" * 2
        made.close()


def test_a_socket_of_the_machine_is_not_reached(sandbox: Sandbox) -> None:
    name = f"\0pal-probe-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as listener, socket.socket() as tcp:
        listener.bind(name)
        listener.listen()
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        script = (
            "import socket\n"
            f"for kind, place in ((socket.AF_UNIX, {name!r}), (socket.AF_INET, {tcp.getsockname()!r})):\n"
            "    try: socket.socket(kind).connect(place); print('reached')\n"
            "    except OSError: print('refused')\n"
        )
        python = Path(sys.executable).resolve()  # an environment below /tmp is not seen from inside
        done = run(sandbox, f"{shlex.quote(str(python))} -c {shlex.quote(script)}")
    assert done.stdout.split() == ["refused", "refused"]


AS_A_PLAIN_USER = """
import os, subprocess, sys
from pathlib import Path
from app.adapters.sandbox import probe
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
root = Path(sys.argv[1])
made = probe(root)
if not made.works:
    sys.exit(f"none: {made.detail}")
script = "id -u; echo x > inside; echo x > palimpsest.toml; echo x > ../outside; ls /proc | grep -c '^[0-9]'"
done = subprocess.run(made.wrap(("sh", "-c", script), root), capture_output=True, text=True)
made.close()
print(done.stdout.split()[0], int(done.stdout.split()[1]) < 8, sorted(p.name for p in root.iterdir()))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_it_confines_a_plain_user_too() -> None:
    packages = Path(sandboxes.__file__).parents[2]
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        root = Path(folder) / "project"
        root.mkdir()
        Path(folder).chmod(0o777)
        root.chmod(0o777)
        program = f"import sys; sys.path.append({str(packages)!r})\n{AS_A_PLAIN_USER}"
        done = subprocess.run(
            [sys.executable, "-c", program, str(root)],
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
            env={"PATH": os.defpath, "TMPDIR": folder},
        )
        if done.stderr.startswith("none: "):
            pytest.skip(done.stderr)
        assert done.stdout.strip() == "65534 True ['inside']", done.stderr
        assert not (Path(folder) / "outside").exists()


def test_the_rest_of_git_is_writable(sandbox: Sandbox) -> None:
    assert run(sandbox, "echo ref > .git/HEAD && cat .git/HEAD").stdout == "ref\n"


def test_a_command_that_may_only_look_changes_nothing_in_the_project(sandbox: Sandbox) -> None:
    script = "cat f; touch new; rm f; touch .git/x; touch /tmp/there && echo done"
    (sandbox.root / "f").write_text("text")
    argv = sandbox.wrap(("sh", "-c", script), sandbox.root, writable=False)
    ran = subprocess.run(argv, cwd=sandbox.root, capture_output=True, text=True, check=False)
    assert ran.stdout == "textdone\n"
    assert (sandbox.root / "f").read_text() == "text"
    assert not (sandbox.root / "new").exists()
    assert not (sandbox.root / ".git" / "x").exists()


def test_temporary_files_last_from_one_command_to_the_next_and_are_not_the_real_ones(
    sandbox: Sandbox,
) -> None:
    run(sandbox, 'echo kept > "$TMPDIR/pal-probe-file"')
    assert run(sandbox, "cat /tmp/pal-probe-file").stdout == "kept\n"
    assert not Path("/tmp/pal-probe-file").exists()


def test_other_processes_are_not_seen(sandbox: Sandbox) -> None:
    pids = run(sandbox, "ls /proc | grep -c '^[0-9]'").stdout
    assert int(pids) < 8


def test_there_is_no_network_unless_allowed(sandbox: Sandbox) -> None:
    interfaces = "cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' '"
    assert run(sandbox, interfaces).stdout.split() == ["lo"]
    assert run(sandbox, interfaces, network=True).stdout.split() == [
        line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]
    ]


def test_settings_of_the_kernel_stay_as_they_are_even_for_root(sandbox: Sandbox) -> None:
    path = "/proc/sys/kernel/domainname"
    before = Path(path).read_bytes()
    done = run(sandbox, f"cat {path} > kept; cat kept > {path}")  # the same text, if it got through
    assert done.returncode != 0
    assert Path(path).read_bytes() == before


def test_hidden_folders_look_empty(project: Path) -> None:
    secrets = project.parent / "secrets"
    secrets.mkdir()
    (secrets / "key").write_text("sk-ant-probe-0000")
    made = probe(project, hidden=(secrets,))
    assert "sk-ant" not in run(made, f"cat {secrets}/key; ls {secrets}").stdout
    made.close()


def test_exit_codes_pass_through(sandbox: Sandbox) -> None:
    assert run(sandbox, "exit 7").returncode == 7


async def test_nothing_of_a_command_survives_it(sandbox: Sandbox) -> None:
    if not sandbox.works:
        pytest.skip(sandbox.describe())
    processes = Processes(sandbox.root, {"PATH": os.defpath})
    script = "(setsid env -i sleep 377 >/dev/null 2>&1 &); touch up; sleep 377"
    argv = sandbox.wrap(("sh", "-c", script), sandbox.root)
    task = asyncio.create_task(process.run(processes, argv, script, lambda text: None, seconds=20))
    await until(lambda: (sandbox.root / "up").exists())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await processes.close()
    assert not [
        p
        for p in process_table()
        if p.name == "sleep" and b"377" in Path(f"/proc/{p.pid}/cmdline").read_bytes()
    ]


HIDING = """
import contextlib, ctypes, os, subprocess, sys
from app.adapters.own_environment import hide_environment
with contextlib.suppress(PermissionError):
    os.setuid(65534)  # root may read everything
assert hide_environment()
done = subprocess.run(["/bin/sh", "-c", "cat /proc/$PPID/environ"], env={}, capture_output=True)
sys.exit(1 if b"sk-ant-probe" in done.stdout else 0)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no /proc elsewhere")
def test_a_child_cannot_read_the_key_from_its_parents_first_environment() -> None:
    environment = {
        "ANTHROPIC_API_KEY": "sk-ant-probe-0000",
        "PYTHONPATH": str(Path(sandboxes.__file__).parents[2]),
    }
    done = subprocess.run(
        [sys.executable, "-c", HIDING],
        env=environment,
        capture_output=True,
        check=False,
        timeout=30,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_without_a_program_it_says_so_and_wraps_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    made = probe(project)
    assert made.kind is Kind.NONE
    assert not made.works
    assert "not installed" in made.describe()
    assert made.wrap(("a", "b"), project) == ("a", "b")
    made.close()


def test_a_program_that_does_not_confine_is_not_believed(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for script, why in (
        ('#!/bin/sh\necho "no namespaces" >&2; exit 1\n', "no namespaces"),
        ('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n', "write outside"),
    ):
        fake = tmp_path / "bin" / "bwrap"
        fake.parent.mkdir(exist_ok=True)
        fake.write_text(script)
        fake.chmod(0o755)
        monkeypatch.setenv("PATH", f"{fake.parent}:/usr/bin:/bin")
        monkeypatch.setattr(sandboxes, "_candidate", lambda: (Kind.BUBBLEWRAP, "bwrap"))
        made = probe(project)
        assert not made.works
        assert why in made.describe()
        assert made.scratch is None


def test_the_profile_for_macos_names_what_may_be_written(project: Path) -> None:
    made = Sandbox(
        Kind.SANDBOX_EXEC,
        project,
        Path("/scratch"),
        (project / ".git" / "hooks",),
        program="/usr/bin/sandbox-exec",
    )
    program, option, profile, *argv = made.wrap(("ls",), project)
    assert (program, option, argv) == ("/usr/bin/sandbox-exec", "-p", ["ls"])
    assert f'(allow file-write* (subpath "{project}"))' in profile
    assert profile.index("(allow file-write*") < profile.index(
        f'(deny file-write* (subpath "{project}/.git/hooks"))'
    )
    assert "(deny network*)" in profile
    assert "(deny network*)" not in made.wrap(("ls",), project, network=True)[2]
