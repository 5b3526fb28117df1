"""Token estimates by character class; a session's factor turns them into the model's own tokens.

The ratios are for current Claude models: about 3.1 characters a token for prose, 2.4 for code and digits, 1.5 for
Chinese, Japanese and Korean. They are meant to be a little high rather than low.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import struct
from collections.abc import Mapping
from typing import Any

from app.core.messages import Block, Image, Message, Opaque, Text, Thinking, ToolResult, ToolUse

PROSE_CHARS = 3.6
"""Characters a token for Latin letters and blanks."""
CODE_CHARS = 1.6
"""Characters a token for digits, punctuation and line ends."""
ENCODED_CHARS = 1.5
"""Characters a token in base64, hashes and the like (o200k, measured: 1.46)."""
CJK_TOKENS = 0.8
"""Tokens a character for Chinese, Japanese and Korean."""
OTHER_TOKENS = 0.6
"""Tokens a character for other scripts; astral characters (emoji) count 2.5."""
ASTRAL_TOKENS = 2.5

MOST_CHARS = 4
"""More characters than any text has in a token."""
MESSAGE_TOKENS = 4
"""Overhead of one message, and of one block."""
IMAGE_MAX_TOKENS = 4_784
IMAGE_PATCH = 28
"""Pixels of an image patch that costs one token (source: the API's vision documentation)."""
UNKNOWN_IMAGE_TOKENS = 1_600

_PROSE_BYTES = bytes(range(65, 91)) + bytes(range(97, 123)) + b" "
_ASCII_BYTES = bytes(range(128))
_ENCODED = re.compile(r"[A-Za-z0-9+/]{64,}")
_RUNS = bytes(
    97 if chr(code).isascii() and (chr(code).isalnum() or code in b"+/") else 32
    for code in range(256)
)
_RUN = b"a" * 64
"""Seen through `_RUNS`, what `_ENCODED` looks for: searching for it takes a tenth of the time."""
_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]"
)
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


def estimate_text(text: str) -> float:
    """Return the estimated tokens of a text; linear, and fast for ASCII."""
    data = text.encode("utf-8", "replace")
    if _RUN not in data.translate(_RUNS):
        return _estimate_plain(data, text)
    plain = _ENCODED.sub("", text)
    encoded = len(text) - len(plain)
    return encoded / ENCODED_CHARS + _estimate_plain(plain.encode("utf-8", "replace"), plain)


def _estimate_plain(data: bytes, text: str) -> float:
    prose = len(data) - len(data.translate(None, _PROSE_BYTES))
    if len(data) == len(text):
        return prose / PROSE_CHARS + (len(data) - prose) / CODE_CHARS
    ascii_count = len(data) - len(data.translate(None, _ASCII_BYTES))
    cjk = sum(1 for _ in _CJK.finditer(text))
    astral = sum(1 for _ in _ASTRAL.finditer(text))
    other = max(0, len(text) - ascii_count - cjk - astral)
    return (
        prose / PROSE_CHARS
        + (ascii_count - prose) / CODE_CHARS
        + cjk * CJK_TOKENS
        + astral * ASTRAL_TOKENS
        + other * OTHER_TOKENS
    )


def estimate_json(value: Any) -> float:
    """Return the estimated tokens of a JSON value as it would be sent."""
    return estimate_text(json.dumps(value, ensure_ascii=False, default=str))


def estimate_block(block: Block) -> float:
    """Return the estimated tokens of one content block; images by their size, never by their base64."""
    match block:
        case Text(text):
            return MESSAGE_TOKENS + estimate_text(text)
        case ToolUse(_, name, arguments):
            return 3 * MESSAGE_TOKENS + estimate_text(name) + estimate_json(dict(arguments))
        case ToolResult():
            return 3 * MESSAGE_TOKENS + estimate_result(block)
        case Image(raw):
            return image_tokens(raw)
        case Thinking(raw):
            return MESSAGE_TOKENS + estimate_text(block.text) + _opaque_text(raw)
        case Opaque(raw):
            return MESSAGE_TOKENS + estimate_json(dict(raw))


def chars_that_fit(text: str, room: float) -> int:
    """Return how many characters of the text's beginning take at most ``room`` estimated tokens."""
    low, high = 0, min(len(text), max(0, int(room * MOST_CHARS)))
    while low < high:
        middle = (low + high + 1) // 2
        if estimate_text(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return low


def estimate_result(result: ToolResult) -> float:
    """Return the estimated tokens of a tool result's content."""
    if isinstance(result.content, str):
        return estimate_text(result.content)
    return sum(estimate_block(part) for part in result.content)


def estimate_message(message: Message) -> float:
    """Return the estimated tokens of a message."""
    return MESSAGE_TOKENS + sum(estimate_block(block) for block in message.content)


def image_tokens(raw: Mapping[str, Any]) -> float:
    """Return the tokens of an ``image`` block, from the pixel size in its first bytes."""
    source = raw.get("source")
    if not isinstance(source, Mapping) or not isinstance(source.get("data"), str):
        return UNKNOWN_IMAGE_TOKENS
    size = image_size(source["data"])
    if size is None:
        return UNKNOWN_IMAGE_TOKENS
    width, height = size
    return min(IMAGE_MAX_TOKENS, -(-width // IMAGE_PATCH) * -(-height // IMAGE_PATCH))


def image_size(encoded: str) -> tuple[int, int] | None:
    """Return (width, height) in pixels of a base64 PNG, GIF or JPEG, or None when it cannot be read."""
    head = encoded[:65_536]
    try:
        data = base64.b64decode(head[: len(head) // 4 * 4])
    except (binascii.Error, ValueError):
        return None
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        return struct.unpack(">II", data[16:24])
    if data[:4] == b"GIF8" and len(data) >= 10:
        return struct.unpack("<HH", data[6:10])
    if data[:2] == b"\xff\xd8":
        return _jpeg_size(data)
    return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if marker in range(0xC0, 0xD0) and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return None


def _opaque_text(raw: Mapping[str, Any]) -> float:
    """Signatures and redacted data stand for hidden thinking: about one token for four characters."""
    return sum(len(str(raw.get(key, ""))) for key in ("signature", "data")) / 4
