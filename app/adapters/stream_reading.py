"""One answer, put together from the raw events of a stream and tolerant of what compatible servers do differently.

An answer is finished when a stop reason came and then either ``message_stop`` or a clean end of the stream: some
servers leave ``message_stop`` out. A stream without a stop reason is never a finished answer.
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from collections.abc import Mapping, Set
from typing import Any

from app.core.budget import Usage
from app.core.messages import Block, Message, Text, ToolUse, block_from_json
from app.core.requests import (
    Answer,
    CallDelta,
    InputCounted,
    ModelEvent,
    StopReason,
    TextDelta,
    ThinkingDelta,
)
from app.core.surrogates import Repairer, repair

_DELTA_KINDS = {"text_delta": "text", "thinking_delta": "thinking"}
_CUT_STOPS = (StopReason.MAX_TOKENS, StopReason.WINDOW_EXCEEDED, StopReason.REFUSAL)
_FOREIGN_STOPS = {
    "stop": StopReason.END_TURN,
    "length": StopReason.MAX_TOKENS,
    "tool_calls": StopReason.TOOL_USE,
}
_INPUT_KEYS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_USAGE_KEYS = (*_INPUT_KEYS, "output_tokens")


_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")
"""What the API takes in no tool's name; such a call cannot be sent back, so it becomes one of an unknown tool."""


class StreamFault(Exception):
    """The events do not make an answer; the message says why."""


class _Growing:
    """A block that is still arriving; pieces are joined once, at its end."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = dict(raw)
        self.kind = str(raw.get("type", ""))
        self.pieces: dict[str, list[str]] = {}
        self.show = Repairer()
        self.chars = 0
        if self.kind == "tool_use":
            if not isinstance(raw.get("id"), str):
                self.raw["id"] = ""
            self.raw["name"] = _NO_NAME.sub("_", str(raw.get("name") or ""))[:128] or "unnamed"

    def add(self, key: str, piece: str) -> None:
        self.pieces.setdefault(key, []).append(piece)
        self.chars += len(piece)

    def finished(self) -> dict[str, Any]:
        """The block's JSON object.

        Raises:
            ValueError: Its input is not a JSON object.
        """
        raw = self.raw
        for key, pieces in self.pieces.items():
            if key == "input":
                continue
            start = raw.get(key)
            raw[key] = (start if isinstance(start, str) else "") + "".join(pieces)
        if self.kind not in ("thinking", "redacted_thinking"):
            raw = {key: value for key, value in raw.items() if value is not None}
            if self.kind == "text":
                raw["text"] = repair(str(raw.get("text", "")))
        if self.kind == "tool_use" or "input" in self.pieces:
            raw["input"] = self._input()
        return raw

    def _input(self) -> dict[str, Any]:
        text = "".join(self.pieces.get("input", ()))
        if not text.strip():
            start = self.raw.get("input")
            if isinstance(start, str) and start.strip():
                text = start
            else:
                return dict(start) if isinstance(start, Mapping) else {}
        value = json.loads(
            repair(text), strict=False, parse_constant=_no_constant, parse_float=finite
        )
        if "\\ud" in text.lower():
            value = json.loads(repair(json.dumps(value, ensure_ascii=False)))
        if not isinstance(value, dict):
            raise ValueError("it is not an object")
        return value


class AnswerReader:
    """Takes parsed events in order and gives out what a screen shows; `answer` is the whole at the end."""

    def __init__(self, taken: Set[str] = frozenset()) -> None:
        """Begin an answer; ``taken`` holds the ids of earlier calls, which no new one may have."""
        self._ids = set(taken)
        self.stopped = False
        """Whether ``message_stop`` came."""
        self._blocks: list[_Growing] = []
        self._by_index: dict[int | str | None, _Growing] = {}
        self._usage: dict[str, int] = {}
        self._stop: str | None = None
        self._details: Mapping[str, Any] = {}
        self._model = ""

    @property
    def started(self) -> bool:
        """Whether any part of an answer came."""
        return bool(self._blocks) or self._stop is not None

    def feed(self, event: Mapping[str, Any]) -> list[ModelEvent]:
        """Take one event and return what it adds. Unknown events and deltas are ignored.

        Raises:
            StreamFault: The event cannot belong to an answer.
        """
        match event.get("type"):
            case "message_start":
                message = _object(event.get("message"))
                self._model = str(message.get("model") or "")
                self._read_usage(message.get("usage"))
                return self._counted()
            case "content_block_start":
                return self._start(_place(event), _object(event.get("content_block")))
            case "content_block_delta":
                return self._delta(_place(event), _object(event.get("delta")))
            case "message_delta":
                delta = _object(event.get("delta"))
                self._read_stop(delta)
                self._read_usage(event.get("usage"))
            case "message_stop":
                self.stopped = True
            case "message":
                return self._whole(event)
        return []

    def answer(self) -> Answer:
        """Return the finished answer.

        Raises:
            StreamFault: The stop reason never came, or a call's input did not arrive whole.
        """
        if self._stop is None:
            raise StreamFault("the answer ended without a stop reason")
        stop = _stop_reason(self._stop)
        blocks = tuple(
            block
            for block in (self._finish(growing, stop) for growing in self._blocks)
            if not (isinstance(block, Text) and not block.text)
        )
        calls = any(isinstance(block, ToolUse) for block in blocks)
        if stop is StopReason.END_TURN and calls:
            stop = StopReason.TOOL_USE
        elif stop is StopReason.TOOL_USE and not calls:
            stop = StopReason.END_TURN
        return Answer(
            Message("assistant", blocks), self._billed(), stop, self._stop_text(), self._model
        )

    def _start(self, index: int | str | None, raw: Mapping[str, Any]) -> list[ModelEvent]:
        block = _Growing(raw)
        self._blocks.append(block)
        self._by_index[index] = block
        if block.kind == "tool_use":
            if not block.raw["id"] or block.raw["id"] in self._ids:
                block.raw["id"] = f"toolu_{uuid.uuid4().hex[:24]}"
            self._ids.add(block.raw["id"])
            return [CallDelta(block.raw["id"], block.raw["name"], 0)]
        first = raw.get("text") if block.kind == "text" else raw.get("thinking")
        return _shown(block, first) if isinstance(first, str) and first else []

    def _delta(self, index: int | str | None, delta: Mapping[str, Any]) -> list[ModelEvent]:
        kind = delta.get("type")
        block = self._by_index.get(index)
        if block is None and index is None and self._blocks:
            block = self._blocks[-1]
        match kind:
            case "text_delta" | "thinking_delta":
                key = _DELTA_KINDS[kind]
                piece = delta.get(key)
                if not isinstance(piece, str) or not piece:
                    return []
                if block is None or block.kind != key:
                    self._start(index, {"type": key})
                    block = self._blocks[-1]
                block.add(key, piece)
                return _shown(block, piece)
            case "input_json_delta":
                return self._input_delta(block, delta.get("partial_json"))
            case "signature_delta" if block is not None:
                block.raw["signature"] = delta.get("signature", "")
            case "citations_delta" if block is not None:
                given = block.raw.get("citations")
                earlier = given if isinstance(given, list) else ()
                block.raw["citations"] = [*earlier, delta.get("citation")]
        return []

    def _input_delta(self, block: _Growing | None, piece: Any) -> list[ModelEvent]:
        if block is None or block.kind in ("text", "thinking"):
            raise StreamFault("the input of a call came without the call's name")
        if not isinstance(piece, str):
            return []
        block.add("input", piece)
        if block.kind != "tool_use":
            return []
        return [CallDelta(block.raw["id"], str(block.raw.get("name", "")), block.chars)]

    def _whole(self, message: Mapping[str, Any]) -> list[ModelEvent]:
        """Take an answer that was sent as one JSON object although a stream was asked for."""
        self._model = str(message.get("model") or "")
        self._read_usage(message.get("usage"))
        self._read_stop(message)
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        shown: list[ModelEvent] = []
        for index, raw in enumerate(content if isinstance(content, list) else ()):
            if isinstance(raw, Mapping):
                shown += self._start(index, raw)
        return shown

    def _finish(self, growing: _Growing, stop: StopReason) -> Block:
        try:
            raw = growing.finished()
        except (ValueError, RecursionError) as error:
            if stop not in _CUT_STOPS:
                name = growing.raw.get("name", "")
                raise StreamFault(f"the input of the call {name!r} is damaged: {error}") from error
            raw = {**growing.raw, "input": {}}
        return block_from_json(raw)

    def _read_stop(self, source: Mapping[str, Any]) -> None:
        reason = source.get("stop_reason")
        if isinstance(reason, str) and reason:
            self._stop = reason
        self._details = _object(source.get("stop_details")) or self._details

    def _read_usage(self, usage: Any) -> None:
        """Keep the largest figure of each kind: they are running totals, and some servers send 0 first."""
        for key in _USAGE_KEYS:
            value = _object(usage).get(key)
            if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
                self._usage[key] = max(value, self._usage.get(key, 0))

    def _billed(self) -> Usage | None:
        counts = [self._usage.get(key, 0) for key in _USAGE_KEYS]
        return Usage(*counts) if any(counts) else None

    def _counted(self) -> list[ModelEvent]:
        counts = [self._usage.get(key, 0) for key in _INPUT_KEYS]
        return [InputCounted(Usage(*counts))] if any(counts) else []

    def _stop_text(self) -> str:
        explanation = self._details.get("explanation")
        return explanation if isinstance(explanation, str) and explanation else self._stop or ""


def _shown(block: _Growing, piece: str) -> list[ModelEvent]:
    text = block.show.feed(piece)
    if not text:
        return []
    return [TextDelta(text) if block.kind == "text" else ThinkingDelta(text)]


def _stop_reason(word: str) -> StopReason:
    try:
        return StopReason(word)
    except ValueError:
        return _FOREIGN_STOPS.get(word, StopReason.OTHER)


def _place(event: Mapping[str, Any]) -> int | str | None:
    """Return which block an event belongs to; None for what is no number or name of one."""
    index = event.get("index")
    return index if isinstance(index, int | str) else None


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def finite(digits: str) -> float:
    """Return a JSON number; one beyond what can be sent back, such as ``1e400``, becomes the largest that can."""
    return max(-sys.float_info.max, min(float(digits), sys.float_info.max))


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")
