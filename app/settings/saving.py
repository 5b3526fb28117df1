"""One value written into the user's settings file; every other line stays as it is."""

from __future__ import annotations

import json
import re
from pathlib import Path

from app.errors import ConfigError
from app.settings.dotenv_file import read_small_text
from app.settings.load import bad_value
from app.settings.private_file import write_private
from app.settings.sources import USER_FILE, flat_names, user_file
from app.settings.spec import SettingSpec
from app.settings.specs import find_spec

_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?$")
_KEY = re.compile(r"\s*([A-Za-z0-9_.-]+)\s*=")


def save_user_setting(home: Path, name: str, value: str) -> Path:
    """Write a setting to the user's settings file and return that file's path.

    Args:
        home: The home folder.
        name: The setting.
        value: Its text, as after ``--set``.

    Raises:
        ConfigError: There is no such setting, the value is not allowed, or the file cannot be changed safely.
        OSError: The file cannot be written.
    """
    spec = find_spec(name)
    if spec is None:
        raise ConfigError(name, "there is no such setting")
    if spec.secret:
        raise ConfigError(
            spec.name,
            "a secret is not written into a settings file",
            hint=f"Set {spec.env[0]} in the environment or in .env.",
        )
    try:
        wanted = spec.parser.read(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise bad_value(spec, value, spec.name, USER_FILE, error) from error
    path = user_file(home)
    text, problem = read_small_text(path)
    if problem:
        raise ConfigError(spec.name, f"cannot be saved: the file {problem}", source=USER_FILE)
    changed = _with_value(text or "", spec, _toml(wanted, value))
    if not _only_changed(text or "", changed, spec, wanted):
        raise ConfigError(
            spec.name,
            "cannot be saved without changing something else in the file",
            source=USER_FILE,
            hint="Change the file by hand.",
        )
    write_private(path, changed)
    return path


def _toml(wanted: object, text: str) -> str:
    if isinstance(wanted, bool):
        return "true" if wanted else "false"
    if isinstance(wanted, int):
        return f"{wanted:_}"
    return json.dumps(text.strip(), ensure_ascii=False).replace("\x7f", "\\u007f")


def _with_value(text: str, spec: SettingSpec, value: str) -> str:
    """Return the text with the setting's statement replaced, or a new one above the first table."""
    lines = text.splitlines(keepends=True)
    table, first_table = "", len(lines)
    for at, line in enumerate(lines):
        header = _HEADER.match(line)
        if header:
            table, first_table = f"{header.group(1)}.", min(first_table, at)
            continue
        key = _KEY.match(line)
        if key and find_spec(table + key.group(1)) is spec:
            statement = f"{key.group(1)} = {value}\n"
            return "".join([*lines[:at], statement, *lines[at + _length(lines, at) :]])
    above = "".join(lines[:first_table])
    if above and not above.endswith("\n"):
        above += "\n"
    return f"{above}{spec.name} = {value}\n" + "".join(lines[first_table:])


def _length(lines: list[str], at: int) -> int:
    """Count the lines of the statement that begins at a line: a list or a text may go over several."""
    import tomllib

    for length in range(1, len(lines) - at + 1):
        try:
            tomllib.loads("".join(lines[at : at + length]))
        except tomllib.TOMLDecodeError:
            continue
        return length
    return 1


def _only_changed(before: str, after: str, spec: SettingSpec, wanted: object) -> bool:
    import tomllib

    try:
        old, new = (dict(flat_names(tomllib.loads(text))) for text in (before, after))
        mine = [written for written in new if find_spec(written) is spec]
        same = len(mine) == 1 and spec.parser.read(new[mine[0]]) == wanted
    except (tomllib.TOMLDecodeError, ValueError):
        return False
    others = {written: value for written, value in new.items() if written not in mine}
    kept = {written: value for written, value in old.items() if find_spec(written) is not spec}
    return same and others == kept
