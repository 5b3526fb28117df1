"""The body of a refusal, read: message and type from JSON of several shapes, a web page or plain text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from typing import Any


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error body, read."""

    message: str
    type: str = ""
    raw: Mapping[str, Any] | None = None

    @property
    def openai(self) -> bool:
        """Whether it has the shape of OpenAI's errors."""
        error = (self.raw or {}).get("error")
        return isinstance(error, Mapping) and "param" in error and "code" in error


def read_refusal(body: Any) -> Refusal:
    """Return the message and type in an error body: JSON of several shapes, HTML or text."""
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        try:
            parsed = json.loads(body)
        except (ValueError, RecursionError):
            return Refusal(html_title(body) if looks_like_html(body) else body.strip())
        body = parsed
    if not isinstance(body, Mapping):
        return Refusal(str(body) if body else "")
    inner = body.get("error")
    source = inner if isinstance(inner, Mapping) else body
    message = source.get("message") or source.get("msg") or body.get("detail") or inner or ""
    if isinstance(message, list):
        message = "; ".join(_detail(part) for part in message)
    kind = source.get("type")
    return Refusal(str(message), kind if isinstance(kind, str) else "", body)


def looks_like_html(text: str) -> bool:
    """Whether a body is a web page."""
    return text.lstrip("\ufeff \t\r\n").startswith("<")


def html_title(text: str) -> str:
    """Return the title of a web page, or "" ."""
    match = re.search(r"<title[^>]*>(.{0,500}?)</title", text, re.IGNORECASE | re.DOTALL)
    return unescape(match[1]).strip() if match else ""


def _detail(part: Any) -> str:
    if not isinstance(part, Mapping):
        return str(part)
    where = part.get("loc")
    place = ".".join(str(step) for step in where) if isinstance(where, list) else ""
    return f"{place}: {part.get('msg', '')}" if place else str(part.get("msg", part))
