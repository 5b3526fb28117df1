"""What the layers cost and lose over whole sessions, replayed beside other policies and billed by a real tokenizer."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypeVar

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


_Way = TypeVar("_Way")
_Report = TypeVar("_Report")


@dataclass(frozen=True)
class Source:
    """Where a session comes from: a file or folder, or else the generator."""

    seed: int = 0
    steps: int = 0
    path: Path | None = None


@dataclass(frozen=True)
class Sum:
    """What one policy came to over all sessions and thresholds."""

    cost: float
    summaries: int
    edits_lost: int


def run(desk: Desk, *, short: bool) -> list[Figure]:
    sources = sources_of(desk, short=short)
    thresholds = THRESHOLDS[2:3] if short else THRESHOLDS
    reports = replayed(sources, OURS, thresholds)
    ours = sum_of(reports)
    none = sum_of(replayed(sources, NONE, thresholds[:1]))
    beside = {
        "none": Sum(none.cost * len(thresholds), 0, 0),
        "textbook": sum_of(_each(_textbook, sources, thresholds, True)),
        "textbook's layer 2": sum_of(_each(_textbook, sources, thresholds, False)),
        "layers 0 and 2": sum_of(replayed(sources, NO_LAYER_1, thresholds)),
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
            ("edit targets lost whose file the view does not name", "edits_unnamed"),
        )
    ]


def sum_of(found: Sequence[ReplayReport] | Sequence[textbook.Outcome]) -> Sum:
    return Sum(
        sum(one.cost for one in found),
        sum(one.summaries for one in found),
        sum(one.edits_lost for one in found),
    )


def sources_of(desk: Desk, *, short: bool) -> list[Source]:
    """The recorded sessions of a folder, or else generated ones.

    Raises:
        PalError: The folder holds none.
    """
    if desk.sessions is None:
        return [Source(seed, 60 if short else 400) for seed in range(1, 2 if short else 7)]
    found = sorted([*desk.sessions.glob("*.jsonl"), *desk.sessions.glob("*/transcript_0001.jsonl")])
    paths = [path.parent if path.name.startswith("transcript_") else path for path in found]
    if not paths:
        raise PalError(f"{desk.sessions} holds no sessions")
    return [Source(path=path) for path in paths]


def replayed(
    sources: Sequence[Source], policy: CompactionPolicy, thresholds: Sequence[int]
) -> list[ReplayReport]:
    """Replay all sessions at all thresholds."""
    return _each(_replayed, sources, thresholds, policy)


def _each(
    play: Callable[[Source, int, _Way], _Report],
    sources: Sequence[Source],
    thresholds: Sequence[int],
    way: _Way,
) -> list[_Report]:
    """Play all sessions at all thresholds, in as many processes as there are cores."""
    jobs = [(source, threshold, way) for source in sources for threshold in thresholds]
    if len(jobs) == 1:
        return [play(*jobs[0])]
    return list(_workers().map(play, *zip(*jobs, strict=True)))


@cache
def _workers() -> ProcessPoolExecutor:
    """The processes for all runs, as each takes seconds to start."""
    return ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn"))


def _replayed(source: Source, threshold: int, policy: CompactionPolicy) -> ReplayReport:
    tried = replace(policy, auto=replace(policy.auto, threshold=threshold))
    window = 200_000 if policy.auto.enabled else HUGE
    return asyncio.run(
        replay_recording(_recording(source), tried, window=window, tokens_of=tokens_of)
    )


def _textbook(source: Source, threshold: int, layer_1: bool) -> textbook.Outcome:
    return textbook.replay(_recording(source), threshold, tokens_of, layer_1=layer_1)


@cache
def _recording(source: Source) -> Recording:
    return read_recording(source.path) if source.path else generated(source.seed, source.steps)
