"""Programs that may be asked for their version or help, and what in a project would choose another program for that."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from app.permission.options import named

VERSIONED = named(
    "python python3 python3.11 python3.12 python3.13 python3.14 pip pip3 node npm npx yarn pnpm cargo "
    "rustc go java javac gcc g++ clang make cmake git uv ruff mypy black poetry docker ruby perl php "
    "bash zsh rg fd jq curl wget tsc deno bun ninja meson gh gdb swift kotlin dotnet pre-commit nox "
    "eslint prettier"
)
"""Programs that do nothing else when asked for their version; pytest and tox load what the project defines first."""
_VERSION_WORDS = frozenset({"--version", "-V", "-version"})
_SHORT = named("node npm npx pnpm yarn bun tsc ruby php make gcc g++ clang")
"""Programs for which ``-v`` asks for the version and nothing else."""
_NO_HELP = frozenset({"git", "nox"})
"""Programs whose help opens another program, or reads the project first."""
_CHOOSERS: dict[str, tuple[str, ...]] = {
    "cargo": ("rust-toolchain", "rust-toolchain.toml"),
    "rustc": ("rust-toolchain", "rust-toolchain.toml"),
    "yarn": (".yarnrc", ".yarnrc.yml", "package.json"),
    "pnpm": ("package.json", "pnpm-workspace.yaml"),
    "dotnet": ("global.json",),
    "go": ("go.mod", "go.work"),
}
"""Files by which a project, or a folder above it, names the program that really runs, or has it fetched."""


def asks_version(name: str, arguments: tuple[str | None, ...]) -> bool:
    """Whether a command only asks a known program for its version or help."""
    if name not in VERSIONED or len(arguments) != 1:
        return False
    if arguments[0] == "version":
        return name == "go"
    if arguments[0] == "-v":
        return name in _SHORT
    return arguments[0] in _VERSION_WORDS or (arguments[0] == "--help" and name not in _NO_HELP)


def chosen_by(name: str, folders: Iterable[Path]) -> str:
    """Return the file by which a project chooses what runs under this name; "" when there is none."""
    for folder in folders:
        for above in (folder, *folder.parents):
            for file in _CHOOSERS.get(name, ()):
                if (above / file).exists():
                    return file
    return ""
