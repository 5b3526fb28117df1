"""From a record back to a dialogue: the view, the meter, the totals and what was left open."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import AsyncGenerator, Iterable
from contextlib import suppress

from app.agent.dialogue import Dialogue, floor_of
from app.agent.queue import TypedAhead
from app.core import remarks
from app.core.budget import Usage
from app.core.conversation import folded, in_force
from app.core.effects import Effects, effects_from_json
from app.core.events import TodoItem
from app.core.folding import Fold
from app.core.history import Commit, Entry, HistoryItem, Remark, Rewound, Undone
from app.core.messages import JsonObject, ToolResult, block_from_json
from app.core.ports import Record
from app.core.reports import CompactionReport, Layer, Outcome
from app.core.requests import Purpose, ToolSpec

RESTORED = frozenset(
    {
        remarks.USAGE,
        remarks.PROMPT,
        remarks.REPORT,
        remarks.QUEUED,
        remarks.DELIVERING,
        remarks.UNQUEUED,
        remarks.TODO,
        remarks.WINDOW,
        remarks.MUTED,
        remarks.NOTE,
        remarks.RUN,
    }
)

UNREADABLE = (KeyError, TypeError, ValueError, AttributeError)
"""What reading the data of a remark raises when it is not of the shape that its kind has here."""

BATCH = 1_000
"""Remarks that are taken at once; between them the screen takes keys."""
Finished = dict[str, tuple[ToolResult, Effects]]
"""Results of calls that had ended before an interruption, by ``tool_use_id``."""


async def restore(dialogue: Dialogue, queue: TypedAhead) -> Finished:
    """Fill a fresh dialogue and queue from the record; return finished results that no message holds yet."""
    history = deque(
        i for i in in_force(await dialogue.record.history()) if not isinstance(i, Remark)
    )
    fold = Fold()
    delivered: list[str] = []
    async for remark in _kept(dialogue.record):
        while history and history[0].seq < remark.seq:
            delivered += _fold(dialogue, queue, fold, history.popleft())
        with suppress(*UNREADABLE):
            _take(dialogue, queue, remark, now=fold.sizes.total)
    for item in history:
        delivered += _fold(dialogue, queue, fold, item)
    dialogue.conversation = folded(fold)
    for key in delivered:
        await dialogue.record.remark(remarks.UNQUEUED, {"id": key})
    return await _finished(dialogue)


async def _kept(record: Record) -> AsyncGenerator[Remark, None]:
    """Yield what is taken up again, oldest first; a long session has a remark for each of its requests."""
    since = 0
    while batch := await record.remarks(RESTORED, since=since, limit=BATCH):
        for remark in batch:
            yield remark
        since = max(remark.seq for remark in batch)


def _fold(dialogue: Dialogue, queue: TypedAhead, fold: Fold, item: HistoryItem) -> Iterable[str]:
    """Take one item of the view's history; return the queued message that it delivers."""
    fold.apply(item)
    match item:
        case Commit():
            dialogue.replaced_view()
            dialogue.muted_until = 0
        case Undone():
            dialogue.replaced_view()
        case Rewound(seq, before):
            dialogue.replaced_view()
            dialogue.ledger.went_back(seq, before)
        case Entry(spoken=spoken) if spoken:
            dialogue.ledger.spoken()
            key = queue.restore_said(item.words)
            return (key,) if key else ()
        case _:
            pass
    return ()


def _take(dialogue: Dialogue, queue: TypedAhead, remark: Remark, *, now: float) -> None:
    """Take one remark of the record; ``now`` is the raw estimate of the view at that moment."""
    data = remark.data
    match remark.kind:
        case remarks.USAGE:
            _count(dialogue, data, now=now)
        case remarks.PROMPT:
            tools = [ToolSpec(**spec) for spec in data["tools"]]
            # The usages that follow were billed with this floor.
            floor = floor_of(data["system"], tools)
            dialogue.meter = dataclasses.replace(dialogue.meter, floor=floor)
            dialogue.prompt_in_record = (data["system"], data["tools"])
        case remarks.REPORT:
            report = report_from_json(data, remark.time)
            report = dataclasses.replace(report, requests=len(dialogue.ledger.contexts))
            dialogue.take_report(report, remark.seq)
        case remarks.RUN:
            dialogue.ledger.begin_run(remark.time)
        case remarks.TODO:
            dialogue.todo = tuple(TodoItem(i["text"], i["state"]) for i in data["items"])
        case remarks.WINDOW:
            dialogue.learned[data["model"]] = int(data["window"])
        case remarks.MUTED:
            dialogue.muted_until = dialogue.wait_of(data)
        case remarks.NOTE:
            dialogue.noted = float(data["mark"])
        case remarks.QUEUED | remarks.DELIVERING | remarks.UNQUEUED:
            queue.restore(remark.kind, data)
        case _:
            pass


async def _finished(dialogue: Dialogue) -> Finished:
    """Return the results that came since the newest message, if that one has calls."""
    if not dialogue.conversation.open_calls:
        return {}
    since = dialogue.conversation.entries[-1].seq
    found: Finished = {}
    for remark in await dialogue.record.remarks(frozenset({remarks.RESULT}), since=since):
        with suppress(*UNREADABLE):
            block = block_from_json(remark.data["result"])
            if isinstance(block, ToolResult):
                found[block.tool_use_id] = (block, effects_from_json(remark.data["effects"]))
    return found


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


def _count(dialogue: Dialogue, data: JsonObject, *, now: float) -> None:
    usage = Usage(data["input"], data["cache_read"], data["cache_write"], data["output"])
    purpose, model = Purpose(data.get("purpose", Purpose.TURN)), str(data.get("model", ""))
    price = dialogue.model.price(model)
    dialogue.ledger.bill(usage, purpose, model, data.get("cost"), price)
    if purpose is Purpose.TURN and data.get("estimated") is not True:
        dialogue.meter = dialogue.meter.measure(usage, sent=float(data["sent"]), now=now)
