"""The body of a 200 response, told apart by its first byte: events, one JSON object, or no answer at all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from typing import Any

from app.adapters.endpoint_errors import Call, not_messages_api, openai_format, stream_error
from app.adapters.sse import EventSplitter, ServerEvent
from app.adapters.stream_reading import AnswerReader, StreamFault, finite
from app.core.requests import ModelEvent
from app.errors import StreamBroken

_BOM = b"\xef\xbb\xbf"
_PAGE_BYTES = 8_192
"""How much of a body that is no answer is read for the message."""


class AnswerBody:
    """Takes the bytes as they come; `end` gives the `Answer`.

    All methods raise `ModelError`: `StreamBroken` for what is damaged or unfinished, `NotMessagesApi` for another
    language, and what an ``error`` event stands for.
    """

    def __init__(self, call: Call, taken: Set[str] = frozenset()) -> None:
        """Read nothing yet; ``taken`` holds the ids of earlier calls, which no new one may have."""
        self._call = call
        self._reader = AnswerReader(taken)
        self._splitter = EventSplitter()
        self._whole: list[bytes] = []
        self._first = b""
        self._is_events: bool | None = None
        self._seen_event = False
        self.parts = 0
        """Events so far that are no pings."""

    @property
    def finished(self) -> bool:
        """Whether the answer's last event came."""
        return self._reader.stopped

    def feed(self, chunk: bytes) -> list[ModelEvent]:
        """Take bytes and return what they add to the answer."""
        if self._is_events is None:
            self._first = (self._first + chunk).removeprefix(_BOM).lstrip()
            if not self._first or _BOM.startswith(self._first):
                return []
            chunk, self._is_events = self._first, self._first[:1] not in (b"<", b"{", b"[")
        if self._is_events:
            self._first = self._first or chunk
            return self._events(self._split(chunk))
        self._whole.append(chunk)
        if self._first[:1] == b"<" and sum(map(len, self._whole)) > _PAGE_BYTES:
            raise not_messages_api(self._text(), self._call)
        return []

    def end(self) -> list[ModelEvent]:
        """Return what is left, the `Answer` last."""
        shown: list[ModelEvent] = []
        if self._is_events is False:
            shown = self._json()
        elif self._is_events and not self.finished:
            shown = self._events(self._split(None))
            if not self._seen_event and not self._first.startswith(b":"):
                raise not_messages_api(self._first.decode("utf-8", "replace"), self._call)
        if not self._reader.started and not self.finished:
            raise self._broken(
                "the answer is empty; the conversation may be too long for the server"
            )
        try:
            return [*shown, self._reader.answer()]
        except StreamFault as fault:
            raise self._broken(str(fault)) from fault

    def _split(self, chunk: bytes | None) -> list[ServerEvent]:
        try:
            return self._splitter.end() if chunk is None else self._splitter.feed(chunk)
        except UnicodeDecodeError as error:
            raise self._broken("a part of the answer is not UTF-8") from error

    def _events(self, events: list[ServerEvent]) -> list[ModelEvent]:
        shown: list[ModelEvent] = []
        for event in events:
            if self.finished:
                break
            self._seen_event = True
            self.parts += event.name != "ping"
            data = event.data.strip()
            if data and data != "[DONE]":
                shown += self._take(event.name, data)
        return shown

    def _take(self, name: str, data: str) -> list[ModelEvent]:
        try:
            value = json.loads(data, parse_float=finite)
        except (ValueError, RecursionError) as error:
            if name == "error":
                raise stream_error({"error": {"message": data}}, self._call) from error
            raise self._broken("an event of the answer is damaged") from error
        if not isinstance(value, dict):
            return []
        return self._object(value if "type" in value else {"type": name, **value})

    def _object(self, value: Mapping[str, Any]) -> list[ModelEvent]:
        kind = value.get("type")
        if kind == "error" or (kind in (None, "") and value.get("error")):
            raise stream_error(value, self._call)
        if "choices" in value:
            raise openai_format(self._call)
        try:
            return self._reader.feed(value)
        except StreamFault as fault:
            raise self._broken(str(fault)) from fault

    def _json(self) -> list[ModelEvent]:
        text = self._text()
        try:
            value = json.loads(text, parse_float=finite)
        except json.JSONDecodeError as error:
            torn = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
            if torn and text[:1] != "<":
                raise self._broken("the answer is cut off") from error
            raise not_messages_api(text, self._call) from error
        except RecursionError as error:
            raise not_messages_api(text, self._call) from error
        known = isinstance(value, dict) and (
            value.get("type") in ("message", "error") or "error" in value or "choices" in value
        )
        if not known:
            raise not_messages_api(text, self._call)
        return self._object(value)

    def _text(self) -> str:
        return b"".join(self._whole).decode("utf-8", "replace")

    def _broken(self, why: str) -> StreamBroken:
        return StreamBroken(
            f"{self._call.url} did not give a whole answer: {why}.",
            hint="Send the message again; if it happens often, look at the proxy or gateway in between.",
            status=200,
            url=self._call.url,
        )
