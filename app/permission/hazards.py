"""Options that turn a known program into another one: an allow rule covers them only if it spells them."""

from __future__ import annotations

from app.permission.commands import Command
from app.permission.read_only_find import ACTIONS
from app.permission.read_only_git import subcommand_at
from app.permission.text_programs import awk_only_prints, sed_only_edits_the_stream
from app.permission.wrappers import base_name

_LONG: dict[str, tuple[str, ...]] = {
    "rg": ("--pre", "--hostname-bin", "--search-zip", "-z"),
    "fd": ("--exec", "--exec-batch", "-x", "-X"),
    "sort": ("--output", "--compress-program", "-o"),
    "tar": ("--to-command", "--checkpoint-action", "--use-compress-program", "-I", "--rsh-command"),
    "go": ("-exec", "-toolexec", "-vettool"),
    "tree": ("-o",),
    "date": ("-s", "--set"),
    "diff": ("--output",),
    "make": ("-f", "--file", "--makefile", "-C", "--directory", "--eval", "-E", "SHELL"),
    "curl": ("-o", "-O", "--output", "--remote-name", "-K", "--config", "-T", "--upload-file"),
    "less": ("-o", "-O", "--log-file"),
    "man": ("-P", "--pager", "-H", "--html"),
    "pytest": ("-p", "-c", "--rootdir", "-o", "--override-ini", "--confcutdir", "--import-mode"),
}
_GIT = (
    *("-c", "-C", "--git-dir", "--work-tree", "--exec-path", "--namespace", "--config-env"),
    *("-p", "--paginate", "--super-prefix"),
)
_GIT_AFTER = (
    *("--output", "-O", "--open-files-in-pager", "--ext-diff", "--textconv", "--upload-pack"),
    *("--receive-pack", "--exec", "-x", "--no-index", "--template", "--config"),
    "--separate-git-dir",
)


def hazards(command: Command) -> tuple[str, ...]:
    """Return the words of a literal command that make it do more than its name says."""
    texts = [word.text or "" for word in command.words]
    if not texts:
        return ()
    name, rest = base_name(texts[0]), texts[1:]
    match name:
        case "find":
            return tuple(text for text in rest if text in ACTIONS)
        case "sed":
            return _sed(rest)
        case "awk" | "gawk" | "mawk":
            programs = [t for t in rest if not t.startswith("-")][:1]
            options = [t for t in rest if t.startswith(("-f", "-i", "-l", "-E", "--"))]
            return tuple(options) + tuple(p for p in programs if not awk_only_prints(p))
        case "git":
            at = subcommand_at(command.words) or len(texts)
            before = [text for text in texts[1:at] if _names(text, _GIT)]
            after = [text for text in texts[at + 1 :] if _names(text, _GIT_AFTER)]
            return tuple(_option(text) for text in (*before, *after))
        case _:
            listed = _LONG.get(name, ())
            return tuple(_option(text) for text in rest if _names(text, listed))


def _sed(rest: list[str]) -> tuple[str, ...]:
    found = [t for t in rest if _names(t, ("-i", "--in-place", "-f", "--file"))]
    grouped = [t for t in rest if t.startswith("-") and not t.startswith("--") and "i" in t[2:]]
    scripts = [rest[at + 1] for at, t in enumerate(rest[:-1]) if t in ("-e", "--expression")]
    scripts += [t.partition("=")[2] for t in rest if t.startswith("--expression=")]
    if not scripts:
        scripts = [t for t in rest if not t.startswith("-")][:1]
    return (*found, *grouped, *(s for s in scripts if not sed_only_edits_the_stream(s)))


def _names(text: str, options: tuple[str, ...]) -> bool:
    if not text.startswith("-"):
        return text.partition("=")[0] in options and "=" in text
    name = text.partition("=")[0]
    for option in options:
        if name == option:
            return True
        long = option.startswith("--")
        if long and name.startswith("--") and len(name) > 2 and option.startswith(name):
            return True
        if not long and len(option) == 2 and text.startswith(option) and not text.startswith("--"):
            return True
    return False


def _option(text: str) -> str:
    return text.partition("=")[0]
