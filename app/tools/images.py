"""Pictures for the model: recognised by their first bytes, refused when the API would refuse them."""

from __future__ import annotations

import base64
import struct
import zlib

from app.core.messages import Image
from app.core.tokens import image_size
from app.errors import ToolError

MAX_ENCODED_BYTES = 5 * 1024 * 1024
"""The API counts a picture's base64 text."""
MAX_BYTES = MAX_ENCODED_BYTES // 4 * 3
MAX_PIXELS = 8_000
"""Per side."""
_PNG = b"\x89PNG\r\n\x1a\n"


def media_type(start: bytes) -> str | None:
    """Return the media type that a file's first 16 bytes show, or None when it is no picture the API takes."""
    if start.startswith(_PNG):
        return "image/png"
    if start.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if start.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    return None


def image_block(data: bytes, kind: str) -> tuple[Image, tuple[int, int]]:
    """Return the ``image`` block of a picture and its size in pixels.

    Raises:
        ToolError: It is damaged, or larger than the API takes.
    """
    if len(data) > MAX_BYTES:
        raise ToolError(
            f"the picture is too large: {len(data) / 1e6:.1f} MB, at most {MAX_BYTES / 1e6:.1f} MB"
        )
    encoded = base64.b64encode(data).decode("ascii")
    size = _webp_size(data) if kind == "image/webp" else image_size(encoded)
    if size is None:
        raise ToolError(f"the file begins like {kind} but its size cannot be read: it is damaged")
    width, height = size
    if not 0 < width <= MAX_PIXELS or not 0 < height <= MAX_PIXELS:
        raise ToolError(
            f"the picture is {width:,} x {height:,} pixels; at most {MAX_PIXELS:,} a side"
        )
    if not _is_whole(data, kind):
        raise ToolError(
            f"the picture is damaged or cut off: its {kind} data do not end as they should"
        )
    source = {"type": "base64", "media_type": kind, "data": encoded}
    return Image({"type": "image", "source": source}), size


def _is_whole(data: bytes, kind: str) -> bool:
    """Return whether a picture reaches its own end; the API refuses a cut one, and every request that carries it."""
    match kind:
        case "image/png":
            return _has_whole_chunks(data)
        case "image/jpeg":
            return b"\xff\xd9" in data[2:]
        case "image/gif":
            return data.rstrip(b"\0").endswith(b";")
        case _:
            return len(data) >= 8 + int.from_bytes(data[4:8], "little")


def _has_whole_chunks(data: bytes) -> bool:
    """Return whether every chunk of a PNG up to its last one is there and has its checksum."""
    at = len(_PNG)
    while at + 12 <= len(data):
        end = at + 12 + int.from_bytes(data[at : at + 4], "big")
        checksum = zlib.crc32(data[at + 4 : end - 4])
        if end > len(data) or checksum != int.from_bytes(data[end - 4 : end], "big"):
            return False
        if data[at + 4 : at + 8] == b"IEND":
            return True
        at = end
    return False


def _webp_size(data: bytes) -> tuple[int, int] | None:
    form = data[12:16]
    if form == b"VP8X" and len(data) >= 30:
        width = int.from_bytes(data[24:27], "little") + 1
        return width, int.from_bytes(data[27:30], "little") + 1
    if form == b"VP8L" and len(data) >= 25:
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if form == b"VP8 " and len(data) >= 30:
        width, height = struct.unpack("<HH", data[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None
