"""The rules of the Messages API that a request must keep, checked as strictly as the API does.

One rule is stricter: two neighbouring messages of one role are refused although the API would join them, because
other servers refuse them too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.adapters.demo import DEMO_MAX_OUTPUT, DEMO_MODEL_ID

MAX_BREAKPOINTS = 4
_FIELD_NAMES = (
    "model messages max_tokens system tools tool_choice stream metadata stop_sequences thinking output_config "
    "cache_control service_tier container inference_geo"
)
FIELDS = frozenset(_FIELD_NAMES.split())
MESSAGE_FIELDS = frozenset({"role", "content"})
BLOCK_FIELDS: Mapping[str, frozenset[str]] = {
    "text": frozenset({"text", "cache_control", "citations"}),
    "image": frozenset({"source", "cache_control"}),
    "document": frozenset({"source", "cache_control", "title", "context", "citations"}),
    "tool_use": frozenset({"id", "name", "input", "cache_control", "caller"}),
    "tool_result": frozenset({"tool_use_id", "content", "is_error", "cache_control"}),
    "thinking": frozenset({"thinking", "signature"}),
    "redacted_thinking": frozenset({"data"}),
}
_ID = re.compile(r"[a-zA-Z0-9_-]+\Z")
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}\Z")


class InvalidRequest(Exception):
    """The API's "no" to a request.

    Attributes:
        status: HTTP status.
        kind: The error's ``type`` in the body.
    """

    def __init__(
        self, message: str, *, status: int = 400, kind: str = "invalid_request_error"
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


def check_request(body: Mapping[str, Any], *, counting: bool = False) -> None:
    """Check a request body.

    Args:
        body: The parsed JSON object.
        counting: Whether it is a request to count tokens, which has no ``max_tokens``.

    Raises:
        InvalidRequest: The API would refuse it.
    """
    for name in body:
        if name not in FIELDS:
            raise InvalidRequest(f"{name}: Extra inputs are not permitted")
    if not isinstance(body.get("model"), str):
        raise InvalidRequest("model: Field required")
    if body["model"] != DEMO_MODEL_ID:
        raise InvalidRequest(f"model: {body['model']}", status=404, kind="not_found_error")
    if not counting:
        _check_max_tokens(body.get("max_tokens"))
    _check_system(body.get("system"))
    _check_tools(body.get("tools", []))
    _check_messages(body.get("messages"))
    _check_breakpoints(body)


def content_blocks(content: Any) -> list[Any]:
    """Return a message's content, or a system prompt, as a list of blocks; plain text is one block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def _check_max_tokens(value: Any) -> None:
    if value is None:
        raise InvalidRequest("max_tokens: Field required")
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidRequest("max_tokens: Input should be a valid integer")
    if value < 1:
        raise InvalidRequest("max_tokens: Input should be greater than or equal to 1")
    if value > DEMO_MAX_OUTPUT:
        raise InvalidRequest(
            f"max_tokens: {value} > {DEMO_MAX_OUTPUT}, which is the maximum allowed number of output tokens "
            f"for {DEMO_MODEL_ID}"
        )


def _check_system(system: Any) -> None:
    if system is None or isinstance(system, str):
        return
    if not isinstance(system, list):
        raise InvalidRequest("system: Input should be a valid list")
    for at, block in enumerate(system):
        if not isinstance(block, Mapping) or block.get("type") != "text":
            raise InvalidRequest(f"system.{at}: Input should be a text block")
        if not str(block.get("text", "")):
            raise InvalidRequest("system: text content blocks must be non-empty")


def _check_tools(tools: Any) -> None:
    if not isinstance(tools, list):
        raise InvalidRequest("tools: Input should be a valid list")
    names: set[str] = set()
    for at, tool in enumerate(tools):
        name = tool.get("name") if isinstance(tool, Mapping) else None
        if not isinstance(name, str) or not _TOOL_NAME.match(name):
            raise InvalidRequest(
                f"tools.{at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            )
        schema = tool.get("input_schema")
        if not isinstance(schema, Mapping) or schema.get("type") != "object":
            raise InvalidRequest(f"tools.{at}.custom.input_schema.type: Input should be 'object'")
        if name in names:
            raise InvalidRequest("tools: Tool names must be unique.")
        names.add(name)


def _check_messages(messages: Any) -> None:
    if not isinstance(messages, list):
        raise InvalidRequest("messages: Field required")
    if not messages:
        raise InvalidRequest("messages: at least one message is required")
    used: set[str] = set()
    before: Sequence[Any] = ()
    role_before = ""
    for at, message in enumerate(messages):
        blocks = _check_message(at, message)
        role = message["role"]
        if at == 0 and role != "user":
            raise InvalidRequest('messages: first message must use the "user" role')
        if role == role_before:
            raise InvalidRequest(
                f'messages: roles must alternate between "user" and "assistant", but found multiple "{role}" '
                "roles in a row"
            )
        if role == "user":
            _check_answers(at, before, blocks)
        _check_ids(at, blocks, used)
        before, role_before = blocks, role
    if role_before != "user":
        raise InvalidRequest(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )


def _check_message(at: int, message: Any) -> list[Any]:
    if not isinstance(message, Mapping):
        raise InvalidRequest(f"messages.{at}: Input should be a valid dictionary")
    for name in message:
        if name not in MESSAGE_FIELDS:
            raise InvalidRequest(f"messages.{at}.{name}: Extra inputs are not permitted")
    role = message.get("role")
    if role not in ("user", "assistant"):
        raise InvalidRequest(f"messages.{at}.role: Input should be 'user' or 'assistant'")
    if not isinstance(message.get("content"), str | list):
        raise InvalidRequest(f"messages.{at}.content: Input should be a valid list")
    blocks = content_blocks(message["content"])
    if not blocks or message["content"] == "":
        raise InvalidRequest(
            f"messages.{at}: all messages must have non-empty content except for the optional final assistant message"
        )
    for place, block in enumerate(blocks):
        _check_block(f"messages.{at}.content.{place}", role, block)
    return blocks


def _check_block(where: str, role: str, block: Any) -> None:
    kind = str(block.get("type")) if isinstance(block, Mapping) else "None"
    if kind not in BLOCK_FIELDS:
        raise InvalidRequest(
            f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags: "
            + ", ".join(repr(name) for name in BLOCK_FIELDS)
        )
    for name in block:
        if name != "type" and name not in BLOCK_FIELDS[kind]:
            raise InvalidRequest(f"{where}.{kind}.{name}: Extra inputs are not permitted")
    if kind == "text":
        _check_text(str(block.get("text", "")))
    elif kind in ("thinking", "redacted_thinking"):
        if role != "assistant":
            raise InvalidRequest(
                f"{where}: `{kind}` blocks are only permitted in assistant messages"
            )
        if kind == "thinking" and not block.get("signature"):
            raise InvalidRequest(f"{where}.thinking.signature: Field required")
    elif kind == "tool_use":
        if role != "assistant":
            raise InvalidRequest(f"{where}: `tool_use` blocks can only be in `assistant` messages")
        if not _ID.match(str(block.get("id", ""))):
            raise InvalidRequest(
                f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
            )
        if not isinstance(block.get("input"), Mapping):
            raise InvalidRequest(f"{where}.tool_use.input: Input should be a valid dictionary")
    elif kind == "tool_result":
        if role != "user":
            raise InvalidRequest(f"{where}: `tool_result` blocks can only be in `user` messages")
        for part in content_blocks(block.get("content")) if block.get("content") else []:
            if isinstance(part, Mapping) and part.get("type") == "text":
                _check_text(str(part.get("text", "")))
    elif kind == "document" and role != "user":
        raise InvalidRequest(f"{where}: `document` blocks can only be in `user` messages")


def _check_text(text: str) -> None:
    if not text:
        raise InvalidRequest("messages: text content blocks must be non-empty")
    if not text.strip():
        raise InvalidRequest("messages: text content blocks must contain non-whitespace text")


def _check_answers(at: int, before: Sequence[Any], blocks: Sequence[Any]) -> None:
    asked = [b["id"] for b in before if b["type"] == "tool_use"]
    leading: list[str] = []
    for block in blocks:
        if block["type"] != "tool_result":
            break
        leading.append(block["tool_use_id"])
    for place, block in enumerate(blocks):
        if block["type"] == "tool_result" and block.get("tool_use_id") not in asked:
            raise InvalidRequest(
                f"messages.{at}.content.{place}: unexpected `tool_use_id` found in `tool_result` blocks: "
                f"{block.get('tool_use_id')}. Each `tool_result` block must have a corresponding `tool_use` block "
                "in the previous message."
            )
    missing = [id_ for id_ in asked if id_ not in leading]
    if missing:
        raise InvalidRequest(
            f"messages.{at - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message."
        )
    if len(set(leading)) < len(leading) or len(leading) < sum(
        b["type"] == "tool_result" for b in blocks
    ):
        twice = max(leading, key=leading.count)
        raise InvalidRequest(
            f"messages.{at}: each tool_use must have a single result, before any other content. Found multiple or "
            f"late `tool_result` blocks with id: {twice}"
        )


def _check_ids(at: int, blocks: Sequence[Any], used: set[str]) -> None:
    for place, block in enumerate(blocks):
        if block["type"] != "tool_use":
            continue
        if block["id"] in used:
            raise InvalidRequest(f"messages.{at}.content.{place}: `tool_use` ids must be unique")
        used.add(block["id"])


def _check_breakpoints(body: Mapping[str, Any]) -> None:
    marked = [b for b in _all_blocks(body) if isinstance(b, Mapping) and b.get("cache_control")]
    count = len(marked) + bool(body.get("cache_control"))
    if count > MAX_BREAKPOINTS:
        raise InvalidRequest(
            f"A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided. Found {count}."
        )
    for block in marked:
        control = block["cache_control"]
        if not isinstance(control, Mapping) or control.get("type") != "ephemeral":
            raise InvalidRequest("cache_control.type: Input should be 'ephemeral'")
        if control.get("ttl", "5m") not in ("5m", "1h"):
            raise InvalidRequest("cache_control.ttl: Input should be '5m' or '1h'")


def _all_blocks(body: Mapping[str, Any]) -> list[Any]:
    blocks = [*body.get("tools", [])]
    if isinstance(body.get("system"), list):
        blocks += body["system"]
    for message in body["messages"]:
        blocks += content_blocks(message["content"])
    return blocks
