"""The lines of a session's files: what a message, a compaction, a mark and a remark look like as JSON.

Every line is ASCII (odd characters are escaped), ends with byte 0x0A, and begins with its format version and ``seq``,
so that a reader finds its way by the first bytes of each line without parsing the rest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from jiter import from_json

from app.core.effects import effects_from_json, effects_to_json
from app.core.history import Bared, Cleared, Commit, Entry, Mark, Pinned, Remark, Rewound, Undone
from app.core.messages import JsonObject, Text, message_from_json, message_to_json
from app.core.reports import Layer
from app.errors import FormatTooNew, RecordUnwritable

VERSION: Final = 1

_COUNT = rb"(\d{1,18})"
_TOO_LARGE = 10**18
"""More than any record counts; what is beyond it was written by nobody."""

MESSAGE_HEAD: Final = re.compile(
    rb'\{"v":1,"seq":%b,"number":%b,"first_result":%b,"results":%b,' % ((_COUNT,) * 4)
)
COMMIT_HEAD: Final = re.compile(
    rb'\{"v":1,"seq":%b,"commit":%b,"first_number":%b,"first_result":%b,' % ((_COUNT,) * 4)
)
EVENT_HEAD: Final = re.compile(rb'\{"v":1,"seq":%b,"(mark|kind)":"([^"\\]*)",' % _COUNT)


@dataclass(frozen=True, slots=True)
class CommitLine:
    """First line of a segment: the compaction, and where the record's numbers go on."""

    commit: Commit
    first_number: int
    """Number of the first message after it."""
    first_result: int
    """Number of the first tool result after it."""


Stored = Entry | CommitLine | Mark | Remark

MARK_NAMES: Final[Mapping[type[Mark], str]] = {
    Cleared: "cleared",
    Undone: "undone",
    Pinned: "pinned",
    Bared: "bared",
    Rewound: "rewound",
}


def seq_of(stored: Stored) -> int:
    """Return the ``seq`` of a record."""
    return stored.commit.seq if isinstance(stored, CommitLine) else stored.seq


def encode_entry(entry: Entry) -> bytes:
    """Return the line of a message."""
    return _line(
        {
            "v": VERSION,
            "seq": entry.seq,
            "number": entry.number,
            "first_result": entry.first_result,
            "results": len(entry.message.tool_results),
            "id": entry.id,
            "time": entry.time,
            **message_to_json(entry.message),
            "spoken": entry.spoken,
            "effects": {key: effects_to_json(value) for key, value in entry.effects.items()},
        }
    )


def encode_commit(line: CommitLine) -> bytes:
    """Return the first line of a segment."""
    commit = line.commit
    return _line(
        {
            "v": VERSION,
            "seq": commit.seq,
            "commit": commit.number,
            "first_number": line.first_number,
            "first_result": line.first_result,
            "time": commit.time,
            "layer": commit.layer.value,
            **message_to_json(commit.head),
            "replaced": commit.replaced,
            "kept": commit.kept,
            "stubs": commit.stubs,
            "bare": commit.bare,
            "summary": commit.summary,
            "facts": commit.facts,
        }
    )


def encode_mark(mark: Mark, time: str) -> bytes:
    """Return the line of a mark."""
    return _event(mark.seq, "mark", MARK_NAMES[type(mark)], time, _mark_fields(mark))


def encode_remark(remark: Remark) -> bytes:
    """Return the line of a remark."""
    return _event(remark.seq, "kind", remark.kind, remark.time, {"data": remark.data})


def decode(raw: JsonObject) -> Stored:
    """Return what a parsed line stands for.

    Raises:
        ValueError: It is no record of ours, or a field has the wrong type.
        FormatTooNew: A newer version wrote it.
    """
    version = raw.get("v")
    if not isinstance(version, int):
        raise ValueError("no format version")
    if version > VERSION:
        raise FormatTooNew(
            f"the session was written in format {version}; this version reads up to {VERSION}",
            hint="Update the program, or start a new session.",
        )
    if "mark" in raw:
        return _mark(raw)
    if "kind" in raw:
        data = raw.get("data")
        return Remark(
            _number(raw, "seq"),
            _text(raw, "time"),
            _text(raw, "kind"),
            data if isinstance(data, dict) else {},
        )
    if "commit" in raw:
        return _commit_line(raw)
    return _entry(raw)


def decode_line(line: bytes) -> Stored:
    """Return what one undamaged line stands for; raises as `decode` does."""
    return decode(parse(line))


def parse(body: bytes) -> dict[str, Any]:
    """Return the JSON object in these bytes.

    Raises:
        ValueError: There is none, or more than it.
    """
    try:
        value = from_json(body, cache_mode="keys")
    except ValueError:
        value = _odd(body)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _odd(body: bytes) -> object:
    """Return what JSON holds that the fast parser refuses, such as half of a surrogate pair."""
    try:
        return json.loads(body.decode("utf-8"))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _line(value: dict[str, Any]) -> bytes:
    try:
        text = json.dumps(value, separators=(",", ":"), default=_plain)
    except (RecursionError, ValueError, TypeError) as error:
        raise RecordUnwritable(f"this message cannot be written as JSON: {error}") from None
    return text.encode("ascii") + b"\n"


def _plain(value: object) -> object:
    """Turn what JSON does not know into what it knows."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return list(value)
    return str(value)


def _event(seq: int, what: str, name: str, time: str, fields: dict[str, Any]) -> bytes:
    return _line({"v": VERSION, "seq": seq, what: name, "time": time, **fields})


def _entry(raw: JsonObject) -> Entry:
    message = message_from_json(raw)
    number = _number(raw, "number")
    effects = raw.get("effects", {})
    if not isinstance(effects, dict) or number < 1:
        raise ValueError("not a message of the record")
    spoken = tuple(
        at
        for at in _list(raw.get("spoken", []))
        if isinstance(at, int)
        and 0 <= at < len(message.content)
        and isinstance(message.content[at], Text)
    )
    return Entry(
        seq=_number(raw, "seq"),
        number=number,
        time=_text(raw, "time"),
        message=message,
        spoken=spoken,
        effects={key: effects_from_json(value) for key, value in effects.items()},
        first_result=_number(raw, "first_result"),
    )


def _commit_line(raw: JsonObject) -> CommitLine:
    facts = raw.get("facts", {})
    replaced = _strings(raw.get("replaced", []))
    if not isinstance(facts, dict) or len(replaced) != 2:
        raise ValueError("not a compaction")
    commit = Commit(
        seq=_number(raw, "seq"),
        number=_number(raw, "commit"),
        time=_text(raw, "time"),
        layer=Layer(_text(raw, "layer")),
        head=message_from_json(raw),
        replaced=(replaced[0], replaced[1]),
        kept=_strings(raw.get("kept", [])),
        stubs=_lines_by_id(raw.get("stubs", {})),
        bare=_strings(raw.get("bare", [])),
        summary=_text(raw, "summary"),
        facts=facts,
    )
    return CommitLine(commit, _number(raw, "first_number"), _number(raw, "first_result"))


def _mark_fields(mark: Mark) -> dict[str, Any]:
    match mark:
        case Cleared(_, stubs, bare):
            return {"stubs": stubs, "bare": bare}
        case Undone(_, commit, bare):
            return {"commit": commit, "bare": bare}
        case Rewound(_, before, message, files, _):
            return {"before": before, "message": message, "files": files}
        case Pinned(_, results, on):
            return {"results": results, "on": on}
        case Bared(_, messages):
            return {"messages": messages}


def _mark(raw: JsonObject) -> Mark:
    seq = _number(raw, "seq")
    match raw["mark"]:
        case "cleared":
            return Cleared(seq, _lines_by_id(raw.get("stubs", {})), _strings(raw.get("bare", [])))
        case "undone":
            return Undone(seq, _number(raw, "commit"), _strings(raw.get("bare", [])))
        case "rewound":
            return Rewound(
                seq,
                _number(raw, "before"),
                _text(raw, "message"),
                raw.get("files") is True,
                _text(raw, "time"),
            )
        case "pinned":
            return Pinned(seq, _strings(raw.get("results", [])), raw.get("on") is not False)
        case "bared":
            return Bared(seq, _strings(raw.get("messages", [])))
    raise ValueError("unknown mark")


def _number(raw: JsonObject, key: str) -> int:
    value = raw.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _TOO_LARGE:
        raise ValueError(f"{key} is not a number that counts anything")
    return value


def _text(raw: JsonObject, key: str) -> str:
    value = raw.get(key, "")
    if not isinstance(value, str):
        raise ValueError(f"{key} is not text")
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("not a list")
    return value


def _strings(value: object) -> tuple[str, ...]:
    items = _list(value)
    if not all(isinstance(item, str) for item in items):
        raise ValueError("not a list of texts")
    return tuple(items)


def _lines_by_id(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(line, str) for line in value.values()):
        raise ValueError("not lines by id")
    return value
