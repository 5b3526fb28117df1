"""What a recorded call did, guessed from its tool's name and arguments: recordings of other programs do not say."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, replace

from app.core.effects import Effects, Span
from app.core.messages import JsonObject, ToolResult, ToolUse
from app.tools.shown_lines import lines_shown

PATH_KEYS = ("path", "file_path", "filename", "file", "target_file", "notebook_path")
COMMAND_KEYS = ("command", "cmd", "script")
FOLDER_KEYS = ("workdir", "cwd", "working_directory")
PATCH = "*** Begin Patch"
FIRST_LINE_KEYS = ("offset", "start_line", "startLine", "line_start")
OLD_TEXT_KEYS = ("old_text", "old_string", "old_str", "search", "oldText")
_READS = re.compile(r"(?:^|_)(?:read|view|open|cat)(?:_|$)|^read", re.I)
_EDITS = re.compile(r"edit|replace|write|create|insert|patch|apply", re.I)
_EXIT = re.compile(r"(?:exit(?:ed with)?(?: code)?|returncode)[:= ]+(-?\d+)", re.I)
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.M)
_OUTPUT = re.compile(r"\A(?:(?!Output:)[A-Z][\w ]*:? .*\n){1,8}Output:\n")
"""Lines on the process that some programs put in front of its output."""
_NOT_SHOWN = re.compile(r"\n+\W*\d[\d,]* more lines?\b[^\n]*\s*\Z")
"""What some programs put behind a page of a file, such as ``... (157 more lines not shown)``."""
_NUMBERED = re.compile(r"^\s*(\d+)(?:→|\t|\|| {2}|: )", re.M)


def infer_effects(call: ToolUse, result: ToolResult) -> Effects:
    """Return the likely effects of a recorded call."""
    path = first_text(call.input, PATH_KEYS)
    command = command_of(call)
    lines = output_of(result).count("\n") + 1 if result.text else 0
    if is_read(call) and path:
        numbers = [int(n) for n in _NUMBERED.findall(result.text)]
        start = first_line(call)
        first, last = (min(numbers), max(numbers)) if numbers else (start, start + lines - 1)
        return Effects(path, f"lines {first}-{last}", read=(Span(path, first, last),))
    if command:
        found = _EXIT.search(result.text)
        code = int(found.group(1)) if found else None
        outcome = f"{lines} lines" if code is None else f"exit {code}, {lines} lines"
        modified = tuple(_PATCHED.findall(command))
        target = command.splitlines()[0][:200]
        shown = () if code or result.is_error else _shown(call, command, output_of(result))
        return Effects(target, outcome, read=shown, modified=modified, exit_code=code)
    if _EDITS.search(call.name):
        texts = [value for value in call.input.values() if isinstance(value, str)]
        changed = (path,) if path else tuple(p for text in texts for p in _PATCHED.findall(text))
        about = path or ", ".join(changed)
        return Effects(about, "edited", modified=() if result.is_error else changed)
    return Effects(path or first_text(call.input, tuple(call.input)), f"{lines} lines")


def output_of(result: ToolResult) -> str:
    """Return what a call showed, without what the program put in front of it and behind it."""
    return _NOT_SHOWN.sub("", _OUTPUT.sub("", result.text))


def _shown(call: ToolUse, command: str, output: str) -> tuple[Span, ...]:
    """Return the lines that a command showed; none while its output has not come."""
    if not output.strip():
        return ()
    folder = first_text(call.input, FOLDER_KEYS)
    spans = lines_shown(command, output.count("\n") + (not output.endswith("\n")))
    return tuple(replace(span, path=posixpath.join(folder, span.path)) for span in spans)


def is_read(call: ToolUse) -> bool:
    """Whether the tool shows a file."""
    action = call.input.get("command")
    viewing = action == "view" and bool(first_text(call.input, PATH_KEYS))
    return viewing or bool(_READS.search(call.name))


def first_line(call: ToolUse) -> int:
    """Return the line at which a read was asked to begin."""
    view_range = call.input.get("view_range")
    if isinstance(view_range, list) and view_range:
        asked: object = view_range[0]
    else:
        asked = next((call.input[key] for key in FIRST_LINE_KEYS if key in call.input), 1)
    return asked if isinstance(asked, int) and asked > 0 else 1


def edit_targets(call: ToolUse) -> tuple[str, ...]:
    """Return the texts that the call replaces; () when it is no edit."""
    found = first_text(call.input, OLD_TEXT_KEYS)
    targets = [found] if found else []
    edits = call.input.get("edits")
    if isinstance(edits, list):
        targets += [first_text(edit, OLD_TEXT_KEYS) for edit in edits if isinstance(edit, dict)]
    targets += [hunk.old for hunk in hunks(call)]
    return tuple(target for target in targets if target.strip())


def edited_files(call: ToolUse) -> tuple[str, ...]:
    """Return the names of the files that an edit changes, without their folders."""
    paths = (first_text(call.input, PATH_KEYS), *(hunk.path for hunk in hunks(call)))
    return tuple(posixpath.basename(path) for path in paths if path)


@dataclass(frozen=True, slots=True)
class Hunk:
    """One change of a patch."""

    path: str
    old: str
    """What it replaces, with the lines around it."""
    new: str


def hunks(call: ToolUse) -> tuple[Hunk, ...]:
    """Return the changes of a patch among the call's arguments; () when there is none."""
    texts = [value for value in call.input.values() if isinstance(value, str)]
    return tuple(
        hunk for text in texts if text.lstrip().startswith(PATCH) for hunk in _patched(text)
    )


def _patched(text: str) -> list[Hunk]:
    path, found = "", list[tuple[str, list[str], list[str]]]()
    for line in text.splitlines():
        if named := _PATCHED.match(line):
            path = named[1]
        if line.startswith(("@@", "***")):
            found.append((path, [], []))
        elif found and line[:1] in (" ", "-", "+"):
            _, old, new = found[-1]
            old += [line[1:]] * (line[0] != "+")
            new += [line[1:]] * (line[0] != "-")
    return [Hunk(path, "\n".join(old), "\n".join(new)) for path, old, new in found]


def command_of(call: ToolUse) -> str:
    """Return the shell command of a call, "" when it runs none."""
    for key in COMMAND_KEYS:
        value = call.input.get(key)
        if isinstance(value, list):
            value = " ".join(str(part) for part in value)
        if isinstance(value, str) and value and not first_text(call.input, PATH_KEYS):
            return value
    return ""


def first_text(arguments: JsonObject, keys: tuple[str, ...]) -> str:
    """Return the first text among these arguments, or ""."""
    for key in keys:
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return value
    return ""
