"""From a record back to a dialogue: the view, the meter, the totals and what was left open."""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Iterable
from operator import attrgetter

from app.agent.dialogue import Dialogue, floor_of
from app.agent.queue import TypedAhead
from app.core import remarks
from app.core.budget import Usage
from app.core.effects import Effects, effects_from_json
from app.core.events import TodoItem
from app.core.history import Commit, Entry, HistoryItem, Remark, Undone
from app.core.messages import JsonObject, ToolResult, block_from_json
from app.core.reports import CompactionReport, Layer, Outcome
from app.core.requests import Purpose, ToolSpec

RESTORED = frozenset(
    {
        remarks.USAGE,
        remarks.PROMPT,
        remarks.REPORT,
        remarks.QUEUED,
        remarks.UNQUEUED,
        remarks.RESULT,
        remarks.TODO,
        remarks.MUTED,
        remarks.NOTE,
    }
)

Finished = dict[str, tuple[ToolResult, Effects]]
"""Results of calls that had ended before an interruption, by ``tool_use_id``."""


async def restore(dialogue: Dialogue, queue: TypedAhead) -> Finished:
    """Fill a fresh dialogue and queue from the record; return finished results that no message holds yet."""
    history = await dialogue.record.history()
    kept = await dialogue.record.remarks(RESTORED)
    undone = {item.commit for item in history if isinstance(item, Undone)}
    finished: Finished = {}
    queued: dict[str, Remark] = {}
    said: list[Entry] = []
    for item in _in_order(history, kept):
        if isinstance(item, Commit) and item.number in undone:
            continue
        dialogue.conversation = dialogue.conversation.apply(item)
        match item:
            case Commit():
                dialogue.replaced_view()
                dialogue.muted_until = 0
            case Undone():
                dialogue.replaced_view()
            case Entry() if item.spoken:
                said.append(item)
            case Remark(kind=remarks.USAGE, data=data):
                _count(dialogue, data)
            case Remark(kind=remarks.PROMPT, data=data):
                tools = [ToolSpec(**spec) for spec in data["tools"]]
                # The usages that follow were billed with this floor.
                floor = floor_of(data["system"], tools)
                dialogue.meter = dataclasses.replace(dialogue.meter, floor=floor)
                dialogue.prompt_in_record = (data["system"], data["tools"])
            case Remark(kind=remarks.REPORT, data=data):
                dialogue.reports.append(report_from_json(data, item.time))
            case Remark(kind=remarks.TODO, data=data):
                dialogue.todo = tuple(TodoItem(i["text"], i["state"]) for i in data["items"])
            case Remark(kind=remarks.MUTED, data=data):
                dialogue.muted_until = int(data["until"])
            case Remark(kind=remarks.NOTE, data=data):
                dialogue.noted = float(data["mark"])
            case Remark(kind=remarks.QUEUED, data=data):
                queued[data["id"]] = item
            case Remark(kind=remarks.UNQUEUED, data=data):
                queued.pop(data["id"], None)
            case Remark(kind=remarks.RESULT, data=data):
                block = block_from_json(data["result"])
                if isinstance(block, ToolResult):
                    finished[block.tool_use_id] = (block, effects_from_json(data["effects"]))
            case _:
                pass
    queue.waiting.update(_undelivered(queued.values(), said))
    return finished


def report_from_json(data: JsonObject, time: str) -> CompactionReport:
    """Return the report that a remark holds; fields of later versions are left out."""
    known = {k: v for k, v in data.items() if k in CompactionReport.__dataclass_fields__}
    known |= {
        "layer": Layer(data["layer"]),
        "outcome": Outcome(data["outcome"]),
        "results": tuple(data.get("results", ())),
        "time": time,
    }
    return CompactionReport(**known)


def _in_order(history: Iterable[HistoryItem], kept: Iterable[Remark]) -> Iterable[HistoryItem]:
    plain = (item for item in history if not isinstance(item, Remark))
    return heapq.merge(plain, kept, key=attrgetter("seq"))


def _count(dialogue: Dialogue, data: JsonObject) -> None:
    usage = Usage(data["input"], data["cache_read"], data["cache_write"], data["output"])
    dialogue.count(usage, data.get("cost"))
    if data.get("purpose") == Purpose.TURN:
        dialogue.contexts.append(usage.prompt)
        now = dialogue.conversation.sizes.total
        dialogue.meter = dialogue.meter.measure(usage, sent=float(data["sent"]), now=now)


def _undelivered(queued: Iterable[Remark], said: Iterable[Entry]) -> dict[str, str]:
    """Leave out texts that were written to the conversation right before a crash."""
    words = [(entry.seq, entry.words) for entry in said]
    return {
        remark.data["id"]: remark.data["text"]
        for remark in queued
        if not any(seq > remark.seq and text == remark.data["text"] for seq, text in words)
    }
