"""A session for people and for other programs: as Markdown, and as one Messages-API message a line.

Everything that came from a model, a tool or a file is shown as text: control characters become visible signs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from app.adapters.journal_reading import SessionReader
from app.core.history import Commit, Entry
from app.core.messages import (
    Block,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    message_to_json,
)

_ODD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_TICKS = re.compile("`{3,}")


def as_jsonl(reader: SessionReader) -> Iterator[str]:
    """Yield each message of the record as a line of JSON with ``role`` and ``content``, oldest first."""
    for item in reader.walk():
        if isinstance(item, Entry):
            yield json.dumps(message_to_json(item.message)) + "\n"


def as_markdown(
    reader: SessionReader, *, thinking: bool = False, result_lines: int | None = None
) -> Iterator[str]:
    """Yield the whole record as Markdown, piece by piece, oldest message first.

    Args:
        reader: The session.
        thinking: Whether the model's thinking is shown.
        result_lines: Most lines shown of one tool result; None for all.
    """
    yield f"# Session {reader.folder.name}\n"
    undone = reader.undone()
    for item in reader.walk():
        if isinstance(item, Commit):
            yield _compaction(item, undone=item.number in undone)
        else:
            yield from _message(item, thinking=thinking, result_lines=result_lines)


def visible(text: str) -> str:
    """Return the text with control and direction characters as signs, so that a terminal obeys none of them."""
    return _ODD.sub(_sign, text.replace("\r\n", "\n"))


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


def _compaction(commit: Commit, *, undone: bool) -> str:
    first, last = commit.replaced
    taken_back = ", taken back later" if undone else ""
    summary = visible(commit.summary or commit.head.text)
    quoted = "\n".join(f"> {line}".rstrip() for line in summary.splitlines())
    title = f"Compaction {commit.number} ({commit.layer.value}{taken_back}): {first} to {last}"
    return f"\n---\n\n**{title}**\n\n{quoted}\n\n---\n"


def _message(entry: Entry, *, thinking: bool, result_lines: int | None) -> Iterator[str]:
    shown = [
        (at, block)
        for at, block in enumerate(entry.message.content)
        if thinking or not isinstance(block, Thinking)
    ]
    if not shown:
        return
    yield f"\n## {_speaker(entry)} · {entry.id} · {entry.time}\n"
    result = entry.first_result
    for at, block in shown:
        if isinstance(block, Text) and entry.message.role == "user" and at not in entry.spoken:
            yield "\n" + _folded("Note of the program", visible(block.text))
        else:
            yield "\n" + _block(block, f"r{result}", result_lines)
        result += isinstance(block, ToolResult)


def _speaker(entry: Entry) -> str:
    if entry.message.role == "assistant":
        return "Assistant"
    if entry.spoken:
        return "You"
    return "Results" if entry.message.tool_results else "Program"


def _block(block: Block, result_id: str, result_lines: int | None) -> str:
    match block:
        case Text(text):
            return f"{visible(text)}\n"
        case Thinking():
            return _folded("Thinking", visible(block.text) or "(not readable)")
        case ToolUse(_, name, arguments):
            return f"**{visible(name)}**\n\n{_fenced(_arguments(arguments), 'json')}"
        case ToolResult():
            failed = ", failed" if block.is_error else ""
            return f"**Result {result_id}{failed}**\n\n{_fenced(_shortened(block, result_lines))}"
        case Image():
            return "*(an image)*\n"
        case Opaque(raw):
            return f"*({visible(str(raw.get('type', 'unknown')))} block)*\n"


def _arguments(arguments: object) -> str:
    return json.dumps(arguments, ensure_ascii=False, indent=2, default=str)


def _shortened(result: ToolResult, limit: int | None) -> str:
    text = result.text
    if not isinstance(result.content, str):
        images = sum(isinstance(part, Image) for part in result.content)
        text += "\n(an image)" * images
    lines = text.split("\n")
    if limit is None or len(lines) <= limit:
        return text
    return "\n".join(lines[:limit]) + f"\n… {len(lines) - limit:,} more lines"


def _fenced(text: str, language: str = "") -> str:
    """Fence a text with more backticks than it holds."""
    text = visible(text)
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def _folded(title: str, text: str) -> str:
    quoted = "\n".join(f"> {line}".rstrip() for line in text.splitlines())
    return f"> *{title}*\n>\n{quoted}\n"
