"""Recorded sessions from files: this program's transcripts, or one Messages API message a line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core.messages import Block, Message, Text, ToolResult, ToolUse, message_from_json
from app.errors import PalError

UNRECORDED = "[no result was recorded for this call]"


@dataclass(frozen=True, slots=True)
class Recording:
    """One session: messages as they were, and lines that could not be read."""

    name: str
    messages: tuple[Message, ...]
    bad_lines: int = 0


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """One answer of the model and the results its calls got."""

    answer: Message
    results: tuple[ToolResult, ...]
    said: str = ""
    """What the user wrote together with the results, if anything."""


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """What the user sent and the answers until the model was done."""

    said: Message
    steps: tuple[RecordedStep, ...]


def read_recording(path: Path) -> Recording:
    """Return the session in a file, or in a session folder with its segments in order.

    Raises:
        PalError: There is nothing to read, or it cannot be read.
    """
    if path.is_dir():
        files = sorted(path.glob("transcript_*.jsonl"))
        if not files:
            raise PalError(
                f"{path} holds no transcript_*.jsonl",
                hint="Name a session folder or a .jsonl file.",
            )
    elif path.is_file():
        files = [path]
    else:
        raise PalError(f"{path} does not exist")
    messages: list[Message] = []
    bad = 0
    for file in files:
        for line in _bytes(file).split(b"\n"):
            if not line.strip():
                continue
            message = _message(line)
            if message is None:
                bad += 0 if _is_mark(line) else 1
            else:
                messages.append(message)
    return Recording(_name(path), tuple(messages), bad)


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise PalError(f"{file} cannot be read: {error.strerror}") from error


def _name(path: Path) -> str:
    if path.is_dir():
        return path.resolve().name
    is_segment = path.match("transcript_*.jsonl")  # every session has such
    return f"{path.resolve().parent.name}.{path.stem}" if is_segment else path.stem


def turns(recording: Recording) -> tuple[RecordedTurn, ...]:
    """Return the session as turns; calls without a result get one that says so, stray results are dropped."""
    found: list[tuple[Message, list[RecordedStep]]] = []
    pending: Message | None = None
    for message in (*recording.messages, Message("user", ())):
        if message.role == "assistant":
            if pending is not None:
                _add_step(found, pending, ())
            pending = message if message.content else None
            continue
        results = message.tool_results
        rest = tuple(block for block in message.content if not isinstance(block, ToolResult))
        said = Message("user", rest) if rest else None
        if pending is not None:
            calls = pending.tool_uses
            _add_step(found, pending, results, _words(rest) if calls else "")
            said = None if calls else said
            pending = None
        if said is not None:
            found.append((said, []))
    return tuple(RecordedTurn(said, tuple(steps)) for said, steps in found if steps)


def _words(content: tuple[Block, ...]) -> str:
    return "\n".join(block.text for block in content if isinstance(block, Text)).strip()


def _add_step(
    found: list[tuple[Message, list[RecordedStep]]],
    answer: Message,
    results: tuple[ToolResult, ...],
    said: str = "",
) -> None:
    by_id = {result.tool_use_id: result for result in results}
    seen: set[str] = set()
    blocks = []
    for block in answer.content:  # an id used twice cannot be sent
        if isinstance(block, ToolUse):
            if block.id in seen:
                continue
            seen.add(block.id)
        blocks.append(block)
    answer = Message("assistant", tuple(blocks))
    ordered = tuple(
        by_id.get(call.id, ToolResult(call.id, UNRECORDED, is_error=True))
        for call in answer.tool_uses
    )
    if not found:
        found.append((Message("user", ()), []))
    found[-1][1].append(RecordedStep(answer, ordered, said))


def _message(line: bytes) -> Message | None:
    try:
        raw: Any = json.loads(line)
        return message_from_json(raw) if isinstance(raw, dict) else None
    except (ValueError, UnicodeDecodeError, RecursionError):
        return None


def _is_mark(line: bytes) -> bool:
    """Whether the line is one of this program's own that holds no message, such as a compaction."""
    try:
        raw = json.loads(line)
    except (ValueError, UnicodeDecodeError, RecursionError):
        return False
    return isinstance(raw, dict) and "v" in raw
