"""What a compaction did to the view: message by message, what went, what came, what stayed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from app.core.messages import Block, Image, Message, Text, Thinking, ToolResult, ToolUse
from app.core.tokens import estimate_message
from app.core.visible_text import one_line, visible_text
from app.ui.format import plural, short_tokens

SHOWN = 14
"""Lines of a message that went or came; the rest is counted."""


def view_diff(before: Sequence[Message], after: Sequence[Message]) -> str:
    """Return the difference of two views as a unified diff's lines, whole messages at a time."""
    keys_before, keys_after = [repr(m) for m in before], [repr(m) for m in after]
    lines: list[str] = []
    matcher = SequenceMatcher(None, keys_before, keys_after, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            lines.append(f"@@ {plural(b - a, 'message')} unchanged @@")
            continue
        lines += [f"-{line}" for message in before[a:b] for line in message_lines(message)]
        lines += [f"+{line}" for message in after[c:d] for line in message_lines(message)]
    return "\n".join(lines)


def message_lines(message: Message) -> list[str]:
    """Return a message as lines: who, how large, and the beginning of each block."""
    head = f"[{message.role}, ~{short_tokens(round(estimate_message(message)))} tokens]"
    lines = [head]
    for block in message.content:
        shown = _block_lines(block)
        lines += shown[:SHOWN]
        if len(shown) > SHOWN:
            lines.append(f"… {plural(len(shown) - SHOWN, 'more line')}")
    return lines


def _block_lines(block: Block) -> list[str]:
    match block:
        case Text(text):
            return visible_text(text).split("\n")
        case ToolUse(_, name, arguments):
            return [f"→ {one_line(name, 60)} {one_line(str(dict(arguments)), 200)}"]
        case ToolResult():
            return [f"← {line}" for line in visible_text(block.text).split("\n")]
        case Thinking():
            return ["(thinking)"]
        case Image():
            return ["(image)"]
        case _:
            return ["(block of an unknown type)"]
