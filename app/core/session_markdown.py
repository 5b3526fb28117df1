"""A session as Markdown, for people: messages, calls with their results, and where the history was compacted.

Everything that came from a model, a tool or a file is shown as text: control characters become visible signs.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator

from app.core.fences import fenced
from app.core.history import Commit, Entry
from app.core.messages import Block, Image, Opaque, Text, Thinking, ToolResult, ToolUse
from app.core.rewinds import ALL, Live
from app.core.visible_text import visible_text


def session_markdown(
    name: str,
    items: Iterable[Commit | Entry],
    *,
    undone: Collection[int] = (),
    counting: Live = ALL,
    thinking: bool = False,
    result_lines: int | None = None,
) -> Iterator[str]:
    """Yield a session as Markdown, piece by piece.

    Args:
        name: The session's name.
        items: Its messages, and its compactions between them, oldest first.
        undone: Numbers of the compactions that were taken back.
        counting: What was not rewound; the rest is shown and marked.
        thinking: Whether the model's thinking is shown.
        result_lines: Most lines shown of one tool result; None for all.
    """
    yield title_markdown(name)
    for item in items:
        if isinstance(item, Commit):
            gone = item.number in undone or item.seq not in counting
            yield _compaction(item, undone=gone)
        else:
            mark = "" if item.seq in counting else " · rewound later"
            yield from message_markdown(item, mark, thinking=thinking, result_lines=result_lines)


def title_markdown(name: str) -> str:
    """Return the first line of a session."""
    return f"# Session {name}\n"


def _compaction(commit: Commit, *, undone: bool) -> str:
    first, last = commit.replaced
    taken_back = ", taken back later" if undone else ""
    summary = _said(commit.summary or commit.head.text)
    quoted = "\n".join(f"> {line}".rstrip() for line in summary.splitlines())
    title = f"Compaction {commit.number} ({commit.layer.value}{taken_back}): {first} to {last}"
    return f"\n---\n\n**{title}**\n\n{quoted}\n\n---\n"


def message_markdown(
    entry: Entry, mark: str = "", *, thinking: bool = False, result_lines: int | None = None
) -> Iterator[str]:
    """Yield one message; ``mark`` stands behind its heading, for the others see `session_markdown`."""
    shown = [
        (at, block)
        for at, block in enumerate(entry.message.content)
        if thinking or not isinstance(block, Thinking)
    ]
    if not shown:
        return
    yield f"\n## {_speaker(entry)} · {entry.id} · {entry.time}{mark}\n"
    result = entry.first_result
    for at, block in shown:
        if isinstance(block, Text) and entry.message.role == "user" and at not in entry.spoken:
            yield "\n" + _folded("Note of the program", _said(block.text))
        else:
            yield "\n" + _block(block, f"r{result}", result_lines)
        result += isinstance(block, ToolResult)


def _said(text: str) -> str:
    return visible_text(text, progress=False)


def _speaker(entry: Entry) -> str:
    if entry.message.role == "assistant":
        return "Assistant"
    if entry.spoken:
        return "You"
    return "Results" if entry.message.tool_results else "Program"


def _block(block: Block, result_id: str, result_lines: int | None) -> str:
    match block:
        case Text(text):
            return f"{_said(text)}\n"
        case Thinking():
            return _folded("Thinking", _said(block.text) or "(not readable)")
        case ToolUse(_, name, arguments):
            return f"**{visible_text(name)}**\n\n{fenced(_arguments(arguments), 'json')}\n"
        case ToolResult():
            failed = ", failed" if block.is_error else ""
            return f"**Result {result_id}{failed}**\n\n{fenced(_shortened(block, result_lines))}\n"
        case Image():
            return "*(an image)*\n"
        case Opaque(raw):
            return f"*({visible_text(str(raw.get('type', 'unknown')))} block)*\n"


def _arguments(arguments: object) -> str:
    return visible_text(json.dumps(arguments, ensure_ascii=False, indent=2, default=str))


def _shortened(result: ToolResult, limit: int | None) -> str:
    text = result.text
    if not isinstance(result.content, str):
        images = sum(isinstance(part, Image) for part in result.content)
        text += "\n(an image)" * images
    text = visible_text(text)
    lines = text.split("\n")
    if limit is None or len(lines) <= limit:
        return text
    return "\n".join(lines[:limit]) + f"\n… {len(lines) - limit:,} more lines"


def _folded(title: str, text: str) -> str:
    quoted = "\n".join(f"> {line}".rstrip() for line in text.splitlines())
    return f"> *{title}*\n>\n{quoted}\n"
