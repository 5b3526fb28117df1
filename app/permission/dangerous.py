"""What is refused in every mode: privilege change, power off, deleting everything, writing to devices, fork bombs."""

from __future__ import annotations

import posixpath

from app.permission.commands import Command, Script, Stdin
from app.permission.options import named
from app.permission.places import DEVICES_TO_WRITE, Places
from app.permission.script import parse_script
from app.permission.words import Word
from app.permission.wrappers import SHELLS, base_name, layers

_PRIVILEGE = frozenset({"sudo", "sudoedit", "doas", "su", "pkexec", "run0", "gosu", "runuser"})
_POWER = frozenset({"shutdown", "reboot", "halt", "poweroff", "telinit"})
_POWER_WORDS = frozenset(
    {"poweroff", "reboot", "halt", "suspend", "hibernate", "kexec", "soft-reboot"}
    | {"emergency", "rescue", "hybrid-sleep"}
)
_RECURSIVE = frozenset({"rm", "chmod", "chown", "chgrp", "srm", "shred"})
_SYSTEM = frozenset(
    f"/{name}"
    for name in named(
        "bin boot dev etc home lib lib32 lib64 opt proc root sbin sys usr var "
        "Users System Library Applications"
    )
)
_DEVICE_WRITERS = named(
    "tee truncate shred wipefs blkdiscard parted fdisk sfdisk sgdisk gdisk cfdisk mkswap "
    "hdparm badblocks cryptsetup pvcreate sponge"
)
_LAST_IS_TARGET = frozenset({"cp", "mv", "install", "ln", "rsync", "scp"})
_NESTED = 4
"""Levels of commands inside texts (``bash -c "…"``) that are looked into."""


def dangerous(script: Script, places: Places, depth: int = 0) -> str:
    """Return why a command line is refused whatever mode and rules say, "" when it is not."""
    if script.fork_bomb:
        return "a function that starts itself again and again (fork bomb)"
    for command in script.commands:
        for redirect in command.redirects:
            if redirect.writes:
                why = _device(redirect.target, command, places)
                if why:
                    return why
        for inner in layers(command):
            why = _one(inner, places) or _inside(inner, places, depth)
            if why:
                return why
    return ""


def _one(command: Command, places: Places) -> str:
    if not command.words or command.words[0].text is None:
        return ""
    name = base_name(command.words[0].text)
    arguments = command.words[1:]
    texts = [word.text or "" for word in arguments]
    if name in _PRIVILEGE:
        return f"{name} changes privileges"
    if name in _POWER or (name == "init" and texts[:1] in (["0"], ["6"])):
        return f"{name} stops the machine"
    if name in ("systemctl", "loginctl") and _POWER_WORDS & set(texts):
        return f"{name} would stop the machine"
    if name == "mkfs" or name.startswith("mkfs.") or name in ("mke2fs", "newfs"):
        return f"{name} formats a disk"
    if name in _RECURSIVE and _is_recursive(texts):
        return _everything(name, arguments, command, places)
    if name == "find":
        return _find(arguments, command, places)
    return _writes_device(name, arguments, command, places)


def _is_recursive(texts: list[str]) -> bool:
    return any(
        text.startswith("--r")
        if text.startswith("--")
        else text.startswith("-") and ("r" in text or "R" in text)
        for text in texts
    )


def _everything(name: str, arguments: tuple[Word, ...], command: Command, places: Places) -> str:
    for word in arguments:
        found = _vital(word, command, places)
        if found:
            return f"{name} of everything in {found}"
    return ""


def _vital(word: Word, command: Command, places: Places) -> str:
    """Return the root, home or system folder that a word means, with or without ``/*`` behind it; else ""."""
    text = word.text
    if text is None and word.variable == "HOME":
        text = "~" + word.rest
    if text is None or text.startswith("-") or not text:
        return ""
    stem = text
    while True:
        head, _, tail = stem.rpartition("/")
        if tail and set(tail) <= set("*.?[]!") and tail not in (".", "..") and "*" in tail:
            stem = head or "/"
            continue
        break
    vital = {"/", str(places.home), *map(str, places.home.parents)} | _SYSTEM
    for base in command.dirs:
        place = places.look(stem if stem != "*" else ".", base)
        if place is not None and (place.path.rstrip("/") or "/") in vital:
            return place.path
    return ""


def _find(arguments: tuple[Word, ...], command: Command, places: Places) -> str:
    texts = [word.text or "" for word in arguments]
    deletes = "-delete" in texts or any(base_name(text) in ("rm", "shred") for text in texts)
    narrowed = any(text in ("-name", "-iname", "-path", "-maxdepth", "-regex") for text in texts)
    if not deletes or narrowed:
        return ""
    for word in arguments:
        if (word.text or "").startswith("-"):
            break
        found = _vital(word, command, places)
        if found:
            return f"find deletes everything in {found}"
    return ""


def _writes_device(name: str, arguments: tuple[Word, ...], command: Command, places: Places) -> str:
    targets: list[Word] = []
    if name == "dd":
        targets = [
            Word(word.raw, text[3:])
            for word, text in ((word, word.text or "") for word in arguments)
            if text.startswith("of=")
        ]
    elif name in _DEVICE_WRITERS:
        targets = list(arguments)
    elif name in _LAST_IS_TARGET and arguments:
        targets = [arguments[-1]]
    for word in targets:
        why = _device(word, command, places)
        if why:
            return why
    return ""


def _device(word: Word, command: Command, places: Places) -> str:
    text = word.text
    if not text or text.startswith("-"):
        return ""
    for base in command.dirs:
        written = posixpath.normpath(posixpath.join(base, text))
        if written in DEVICES_TO_WRITE or written.startswith("/dev/fd/"):
            continue
        place = places.look(text, base)
        for path in (written, place.path if place else ""):
            if path.startswith("/dev/") and not path.startswith(
                ("/dev/shm/", "/dev/mqueue/", "/dev/tcp/", "/dev/udp/", "/dev/null")
            ):
                return f"it writes to the device {path}"
    return ""


def _inside(command: Command, places: Places, depth: int) -> str:
    """Look into commands that stand in a text: ``bash -c "…"``, ``eval "…"``, a here-document for a shell."""
    if depth >= _NESTED or not command.words or command.words[0].text is None:
        return ""
    name = base_name(command.words[0].text)
    texts = [word.text for word in command.words[1:]]
    scripts: list[str] = []
    if name in SHELLS:
        for at, text in enumerate(texts[:-1]):
            if text and text.startswith("-") and not text.startswith("--") and "c" in text:
                scripts += [t for t in texts[at + 1 : at + 2] if t]
        if command.stdin is Stdin.TEXT and command.text:
            scripts.append(command.text)
    elif name == "eval":
        scripts.append(" ".join(text for text in texts if text))
    elif name == "find":
        scripts += _executed(texts)
    folder = min(command.dirs)
    for script in scripts:
        why = dangerous(parse_script(script, folder), places, depth + 1)
        if why:
            return why
    return ""


def _executed(texts: list[str | None]) -> list[str]:
    """Return the commands after ``-exec`` and its kin, as texts that can be parsed again."""
    found = []
    for at, text in enumerate(texts):
        if text in ("-exec", "-execdir", "-ok", "-okdir"):
            end = next((i for i in range(at, len(texts)) if texts[i] in (";", "+")), len(texts))
            words = [word for word in texts[at + 1 : end] if word is not None]
            found.append(" ".join("'" + word.replace("'", "'\\''") + "'" for word in words))
    return found
