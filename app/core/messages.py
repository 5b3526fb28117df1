"""Messages and content blocks of the Messages API as frozen values.

Blocks this program does not know survive unchanged as `Opaque`; keys it does not know survive in `extra`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["user", "assistant"]
JsonObject = Mapping[str, Any]
"""A JSON object that nobody changes."""


@dataclass(frozen=True, slots=True)
class Text:
    """A ``text`` block."""

    text: str
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Thinking:
    """A ``thinking`` or ``redacted_thinking`` block, kept exactly as it came."""

    raw: JsonObject

    @property
    def text(self) -> str:
        """The readable part; "" for redacted or omitted thinking."""
        value = self.raw.get("thinking", "")
        return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A ``tool_use`` block: the model asks for a tool."""

    id: str
    name: str
    input: JsonObject
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Image:
    """An ``image`` block; ``raw`` holds its source."""

    raw: JsonObject


@dataclass(frozen=True, slots=True)
class Opaque:
    """A block of a type that this program does not know."""

    raw: JsonObject


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A ``tool_result`` block; ``content`` is text or a list of blocks, as the API allows."""

    tool_use_id: str
    content: str | tuple[Text | Image | Opaque, ...]
    is_error: bool = False
    extra: JsonObject = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All text of the result, list parts joined by newlines."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if isinstance(part, Text))


Block = Text | Thinking | ToolUse | ToolResult | Image | Opaque


@dataclass(frozen=True, slots=True)
class Message:
    """One message: a role and its content blocks."""

    role: Role
    content: tuple[Block, ...]

    @property
    def text(self) -> str:
        """The text blocks, joined by newlines."""
        return "\n".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def tool_uses(self) -> tuple[ToolUse, ...]:
        """The tool calls in it, in order."""
        return tuple(block for block in self.content if isinstance(block, ToolUse))

    @property
    def tool_results(self) -> tuple[ToolResult, ...]:
        """The tool results in it, in order."""
        return tuple(block for block in self.content if isinstance(block, ToolResult))


def user(*texts: str) -> Message:
    """Return a user message with one text block per argument."""
    return Message("user", tuple(Text(text) for text in texts))


def block_from_json(raw: JsonObject) -> Block:
    """Return the block that a JSON object of the Messages API describes."""
    kind = raw.get("type")
    match kind:
        case "text" if isinstance(raw.get("text"), str):
            return Text(raw["text"], _rest(raw, "type", "text"))
        case "thinking" | "redacted_thinking":
            return Thinking(dict(raw))
        case "tool_use" if isinstance(raw.get("id"), str):
            arguments = raw.get("input")
            return ToolUse(
                raw["id"],
                str(raw.get("name", "")),
                arguments if isinstance(arguments, Mapping) else {},
                _rest(raw, "type", "id", "name", "input"),
            )
        case "tool_result" if isinstance(raw.get("tool_use_id"), str):
            return ToolResult(
                raw["tool_use_id"],
                _result_content(raw.get("content", "")),
                raw.get("is_error") is True,
                _rest(raw, "type", "tool_use_id", "content", "is_error"),
            )
        case "image":
            return Image(dict(raw))
        case _:
            return Opaque(dict(raw))


def block_to_json(block: Block) -> dict[str, Any]:
    """Return the JSON object of a block; the same block always gives the same key order."""
    match block:
        case Text(text, extra):
            return {"type": "text", "text": text, **extra}
        case ToolUse(id_, name, arguments, extra):
            return {"type": "tool_use", "id": id_, "name": name, "input": dict(arguments), **extra}
        case ToolResult(tool_use_id, content, is_error, extra):
            body = content if isinstance(content, str) else [block_to_json(b) for b in content]
            error = {"is_error": True} if is_error else {}
            return {
                "type": "tool_result",
                "tool_use_id": tool_use_id,
                "content": body,
                **error,
                **extra,
            }
        case Thinking(raw) | Image(raw) | Opaque(raw):
            return dict(raw)


def message_from_json(raw: JsonObject) -> Message:
    """Return the message that a JSON object describes; plain string content becomes one text block.

    Blocks that lack what their kind asks for are left out.

    Raises:
        ValueError: ``raw`` has no known role, or its content is neither text nor a list.
    """
    role, content = raw.get("role"), raw.get("content")
    if role not in ("user", "assistant"):
        raise ValueError(f"unknown role {role!r}")
    if isinstance(content, str):
        return Message(role, (Text(content),) if content else ())
    if not isinstance(content, list):
        raise ValueError("content is neither text nor a list")
    blocks = (block_from_json(b) for b in content if isinstance(b, Mapping))
    return Message(role, tuple(block for block in blocks if _can_be_sent(block)))


def _can_be_sent(block: Block) -> bool:
    """Whether a block is whole; one of an edited record may lack what its kind asks for."""
    if not isinstance(block, Opaque):
        return True
    kind = block.raw.get("type")
    return isinstance(kind, str) and kind not in ("", "text", "tool_use", "tool_result")


def message_to_json(message: Message) -> dict[str, Any]:
    """Return ``{"role": …, "content": [...]}``."""
    return {"role": message.role, "content": [block_to_json(b) for b in message.content]}


def without_thinking(message: Message) -> Message:
    """Return the message without its thinking and redacted thinking blocks."""
    if not any(isinstance(block, Thinking) for block in message.content):
        return message
    kept = tuple(block for block in message.content if not isinstance(block, Thinking))
    return Message(message.role, kept)


def ended(message: Message) -> Message:
    """Return an answer that was cut off while it thought without that thinking: no message may end with it."""
    end = len(message.content)
    while message.role == "assistant" and end and isinstance(message.content[end - 1], Thinking):
        end -= 1
    return message if end == len(message.content) else Message(message.role, message.content[:end])


def _result_content(content: object) -> str | tuple[Text | Image | Opaque, ...]:
    if isinstance(content, str):
        return content
    if not isinstance(content, Iterable):
        return ""
    parts = (block_from_json(part) for part in content if isinstance(part, Mapping))
    return tuple(p for p in parts if isinstance(p, Text | Image | Opaque) and _can_be_sent(p))


def _rest(raw: JsonObject, *known: str) -> JsonObject:
    return {key: value for key, value in raw.items() if key not in known}
