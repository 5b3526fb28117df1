"""What one tool call did, as seen by code and not by the model, and its form in the record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.core.messages import JsonObject


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of a file that a tool showed or changed; lines count from 1, both ends included."""

    path: str
    """Relative to the project folder where it lies inside, with forward slashes."""
    first: int
    last: int
    total: int | None = None
    """Lines of the whole file at that time, where known."""

    @property
    def is_whole(self) -> bool:
        """Whether these are all lines of the file, as far as is known."""
        return self.first <= 1 and (self.total is None or self.last >= self.total)


@dataclass(frozen=True, slots=True)
class Effects:
    """What one tool call did."""

    target: str = ""
    """What it was about, one line: a command, a path, a pattern."""
    outcome: str = ""
    """How it ended, one line, such as ``exit 1, 214 lines``."""
    read: tuple[Span, ...] = ()
    modified: tuple[str, ...] = ()
    """Files created, changed or deleted by it, also by a command."""
    edited: tuple[Span, ...] = ()
    """Where in those files an edit changed lines, as they are after it."""
    exit_code: int | None = None
    stored: str | None = None
    """File under ``outputs/`` with the full text, when the result was shortened on entry."""


def effects_to_json(effects: Effects) -> JsonObject:
    """Return only what is known, so that most lines stay short."""
    known = {
        "target": effects.target,
        "outcome": effects.outcome,
        "read": spans_to_json(effects.read),
        "modified": list(effects.modified),
        "edited": spans_to_json(effects.edited),
        "exit_code": effects.exit_code,
        "stored": effects.stored,
    }
    return {key: value for key, value in known.items() if value not in ("", None, [])}


def effects_from_json(raw: object) -> Effects:
    """Return what `effects_to_json` wrote.

    Raises:
        ValueError: A field has the wrong type.
    """
    if not isinstance(raw, dict):
        raise ValueError("effects are not an object")
    modified, code, stored = raw.get("modified", []), raw.get("exit_code"), raw.get("stored")
    if not isinstance(modified, list) or not all(isinstance(path, str) for path in modified):
        raise ValueError("modified is not a list of texts")
    return Effects(
        target=str(raw.get("target", "")),
        outcome=str(raw.get("outcome", "")),
        read=spans_from_json(raw.get("read", [])),
        modified=tuple(modified),
        edited=spans_from_json(raw.get("edited", [])),
        exit_code=code if isinstance(code, int) else None,
        stored=stored if isinstance(stored, str) else None,
    )


def spans_to_json(spans: tuple[Span, ...]) -> list[list[Any]]:
    """Return each span as ``[path, first, last, total]``."""
    return [[span.path, span.first, span.last, span.total] for span in spans]


def spans_from_json(raw: object) -> tuple[Span, ...]:
    """Return what `spans_to_json` wrote.

    Raises:
        ValueError: It is no list of spans.
    """
    if not isinstance(raw, list):
        raise ValueError("not a list of spans")
    return tuple(_span(one) for one in raw)


def _span(raw: object) -> Span:
    match raw:
        case [str(path), int(first), int(last), int() | None as total]:
            return Span(path, first, last, total)
    raise ValueError("not a span of lines")
