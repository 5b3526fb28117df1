"""What the layers cost and lose over whole sessions, replayed beside other policies and billed by a real tokenizer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.core.policy import AutoPolicy, CompactionPolicy, EntryPolicy, MicroPolicy, MicroRule
from app.errors import PalError
from app.replay.driver import ReplayReport, replay_recording
from app.replay.recordings import Recording, read_recording
from tests.benchmarks import textbook
from tests.benchmarks.desk import Desk
from tests.benchmarks.figures import Figure
from tests.benchmarks.sessions import generated
from tests.benchmarks.tokenizer import tokens_of

NAME = "layers"
HUGE = 50_000_000
"""A window in which nothing has to be compacted."""
THRESHOLDS = (44_000, 46_000, 48_000, 50_000, 52_000)
"""Where a summary falls is luck, so several are averaged."""
OURS = CompactionPolicy()
NO_LAYER_1 = CompactionPolicy(micro=MicroPolicy(rule=MicroRule.OFF))
NONE = CompactionPolicy(
    entry=EntryPolicy(enabled=False),
    micro=MicroPolicy(rule=MicroRule.OFF),
    auto=AutoPolicy(enabled=False),
)


@dataclass(frozen=True)
class Sum:
    """What one policy came to over all sessions and thresholds."""

    cost: float
    summaries: int
    edits_lost: int


def run(desk: Desk, *, short: bool) -> list[Figure]:
    recordings = _recordings(desk, short=short)
    thresholds = THRESHOLDS[2:3] if short else THRESHOLDS
    reports = asyncio.run(_all(recordings, OURS, thresholds))
    ours = _sum(reports)
    none = _sum(asyncio.run(_all(recordings, NONE, thresholds[:1])))
    beside = {
        "none": Sum(none.cost * len(thresholds), 0, 0),
        "textbook": _textbook(recordings, thresholds, layer_1=True),
        "textbook's layer 2": _textbook(recordings, thresholds, layer_1=False),
        "layers 0 and 2": _sum(asyncio.run(_all(recordings, NO_LAYER_1, thresholds))),
    }
    figures = [
        Figure(NAME, f"cost, beside {name}", ours.cost, "tokens", other.cost, name)
        for name, other in beside.items()
    ]
    figures += [
        Figure(
            NAME, f"{what}, beside {name}", getattr(ours, field), "", getattr(other, field), name
        )
        for what, field in (("summaries", "summaries"), ("edit targets lost", "edits_lost"))
        for name, other in beside.items()
        if name != "none"
    ]
    return [*figures, *_losses(reports), *_never(reports)]


def _losses(reports: Sequence[ReplayReport]) -> list[Figure]:
    """One session may hold most edits, so they stand by session."""
    figures = []
    for session in dict.fromkeys(report.session for report in reports):
        own = [report for report in reports if report.session == session]
        edits = sum(report.edits for report in own)
        if edits:
            lost = sum(report.edits_lost for report in own)
            figures.append(Figure(NAME, f"edit targets lost, {session}", lost, "", edits, "edits"))
    return figures


def _never(reports: Sequence[ReplayReport]) -> list[Figure]:
    return [
        Figure(NAME, what, sum(getattr(report, field) for report in reports), "")
        for what, field in (
            ("requests over the threshold", "over_threshold"),
            ("results cleared unseen", "unseen_cleared"),
        )
    ]


def _textbook(recordings: Sequence[Recording], thresholds: Sequence[int], *, layer_1: bool) -> Sum:
    found = [
        textbook.replay(recording, threshold, tokens_of, layer_1=layer_1)
        for threshold in thresholds
        for recording in recordings
    ]
    return _sum(found)


def _sum(found: Sequence[ReplayReport] | Sequence[textbook.Outcome]) -> Sum:
    return Sum(
        sum(one.cost for one in found),
        sum(one.summaries for one in found),
        sum(one.edits_lost for one in found),
    )


def _recordings(desk: Desk, *, short: bool) -> list[Recording]:
    if desk.sessions is None:
        return [generated(seed, 60 if short else 400) for seed in range(1, 2 if short else 7)]
    found = sorted([*desk.sessions.glob("*.jsonl"), *desk.sessions.glob("*/transcript_0001.jsonl")])
    paths = [path.parent if path.name.startswith("transcript_") else path for path in found]
    if not paths:
        raise PalError(f"{desk.sessions} holds no sessions")
    return [read_recording(path) for path in paths]


async def _all(
    recordings: Sequence[Recording], policy: CompactionPolicy, thresholds: Sequence[int]
) -> list[ReplayReport]:
    reports = []
    for threshold in thresholds:
        tried = replace(policy, auto=replace(policy.auto, threshold=threshold))
        window = 200_000 if policy.auto.enabled else HUGE
        for recording in recordings:
            reports.append(
                await replay_recording(recording, tried, window=window, tokens_of=tokens_of)
            )
    return reports
