"""What the layers cost and lose over whole sessions, replayed under several policies."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from app.core.policy import CompactionPolicy
from app.errors import PalError
from app.replay.driver import ReplayReport, replay_recording
from app.replay.recordings import Recording, read_recording
from tests.benchmarks.desk import Desk
from tests.benchmarks.figures import Figure
from tests.benchmarks.sessions import generated
from tests.benchmarks.textbook import NO_LAYER_1, NONE, TEXTBOOK

NAME = "layers"
HUGE = 50_000_000
"""A window in which nothing has to be compacted."""
THRESHOLDS = (44_000, 48_000, 52_000)
"""Where a summary falls is luck, so several are averaged."""


def run(desk: Desk, *, short: bool) -> list[Figure]:
    recordings = _recordings(desk, short=short)
    thresholds = THRESHOLDS[1:2] if short else THRESHOLDS
    ours = asyncio.run(_all(recordings, CompactionPolicy(), thresholds))
    figures = [
        _figure("requests", ours, ours, "requests", ""),
        _figure("edit targets lost", ours, ours, "edits_lost", "edits"),
    ]
    for name, policy in (("none", NONE), ("textbook", TEXTBOOK), ("layers 0 and 2", NO_LAYER_1)):
        other = asyncio.run(_all(recordings, policy, thresholds))
        figures += [
            Figure(
                NAME,
                f"cost, beside {name}",
                _sum(ours, "cost"),
                "tokens",
                _sum(other, "cost"),
                name,
            ),
            Figure(
                NAME,
                f"summaries, beside {name}",
                _sum(ours, "summaries"),
                "",
                _sum(other, "summaries"),
                name,
            ),
            Figure(
                NAME,
                f"edit targets lost, beside {name}",
                _sum(ours, "edits_lost"),
                "",
                _sum(other, "edits_lost"),
                name,
            ),
        ]
    figures += [
        Figure(NAME, "requests over the threshold", _sum(ours, "over_threshold"), ""),
        Figure(NAME, "results cleared unseen", _sum(ours, "unseen_cleared"), ""),
    ]
    return figures


def _figure(
    what: str, ours: Sequence[ReplayReport], of: Sequence[ReplayReport], field: str, whole: str
) -> Figure:
    other = _sum(of, whole) if whole else None
    return Figure(NAME, what, _sum(ours, field), "", other, whole)


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
            reports.append(await replay_recording(recording, tried, window=window))
    return reports


def _sum(reports: Sequence[ReplayReport], field: str) -> float:
    return float(sum(getattr(report, field) for report in reports))
